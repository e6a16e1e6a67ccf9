"""`SummaryWriter`: event files of what a program logs."""

from __future__ import annotations

import datetime
import os
import socket
import time
import warnings
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

from flambeau.utils.tensorboard import summary as summaries
from flambeau.utils.tensorboard._convert_np import make_np
from flambeau.utils.tensorboard._embedding import write_embedding, write_pbtxt
from flambeau.utils.tensorboard._event_file import EventFile
from flambeau.utils.tensorboard._messages import (
    Event,
    GraphDef,
    RunMetadata,
    SessionLog,
    Summary,
    TaggedRunMetadata,
)
from flambeau.utils.tensorboard._numbers import default_bins
from flambeau.utils.tensorboard._utils import figure_to_image

if TYPE_CHECKING:
    from flambeau import Tensor
    from flambeau.nn import Module

__all__ = ["FileWriter", "SummaryWriter"]


class FileWriter:
    """Writes summaries into one event file.

    `max_queue` events or `flush_secs` seconds are kept in memory at most.
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str],
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        self._log_dir = os.fspath(log_dir)
        self._options = (max_queue, flush_secs, filename_suffix)
        self.event_writer: EventFile = EventFile(self._log_dir, *self._options)

    def get_logdir(self) -> str:
        """The directory of the file."""
        return self._log_dir

    def add_event(self, event: Any, step: int | None = None, walltime: float | None = None) -> None:
        """Add an event; it happened now, unless `walltime` says otherwise."""
        event.wall_time = time.time() if walltime is None else walltime
        if step is not None:
            event.step = int(step)
        self.event_writer.add(event)

    def add_summary(
        self, summary: Any, global_step: int | None = None, walltime: float | None = None
    ) -> None:
        """Add a summary made by a function of `summary`."""
        self.add_event(Event(summary=summary), global_step, walltime)

    def add_graph(
        self, graph_profile: tuple[GraphDef, RunMetadata], walltime: float | None = None
    ) -> None:
        """Add the graph of a network and the metadata of its run."""
        drawn, run = graph_profile
        self.add_event(Event(graph_def=drawn.SerializeToString()), None, walltime)
        tagged = TaggedRunMetadata(tag="step1", run_metadata=run.SerializeToString())
        self.add_event(Event(tagged_run_metadata=tagged), None, walltime)

    def add_onnx_graph(self, graph: Any, walltime: float | None = None) -> NoReturn:
        """Refused: see `SummaryWriter.add_onnx_graph`."""
        _refuse_onnx()

    def flush(self) -> None:
        """Write what is kept in memory."""
        self.event_writer.flush()

    def close(self) -> None:
        """Write what is kept in memory and close the file."""
        self.event_writer.close()

    def reopen(self) -> None:
        """Begin another file in the same directory."""
        self.event_writer.close()
        self.event_writer = EventFile(self._log_dir, *self._options)


class SummaryWriter:
    """Write event files that TensorBoard shows.

    Events are on the disk after `max_queue` of them, after `flush_secs` seconds, after `flush`, and
    at the end. Any thread may log.

    Args:
        log_dir: Directory of the files. Default: `runs/<date>_<host><comment>`.
        comment: End of the default directory. Default: empty.
        purge_step: Step from which events of earlier files are hidden. Default: None.
        max_queue: Number of events to keep in memory. Default: 10.
        flush_secs: Seconds to keep them. Default: 120.
        filename_suffix: End of the files' names. Default: empty.

    Example:
        >>> from flambeau.utils.tensorboard import SummaryWriter
        >>> with SummaryWriter("runs/first") as writer:
        ...     for step in range(3):
        ...         writer.add_scalar("loss", 1 / (step + 1), step)
        >>> import os
        >>> len(os.listdir("runs/first"))
        1
    """

    def __init__(
        self,
        log_dir: str | os.PathLike[str] | None = None,
        comment: str = "",
        purge_step: int | None = None,
        max_queue: int = 10,
        flush_secs: float = 120,
        filename_suffix: str = "",
    ) -> None:
        if not log_dir:
            started = datetime.datetime.now().strftime("%b%d_%H-%M-%S")
            log_dir = os.path.join("runs", f"{started}_{socket.gethostname()}{comment}")
        self.log_dir: str = os.fspath(log_dir)
        self.purge_step = purge_step
        self.max_queue = max_queue
        self.flush_secs = flush_secs
        self.filename_suffix = filename_suffix
        self.file_writer: FileWriter | None = None
        self.all_writers: dict[str, FileWriter] | None = None
        self.default_bins = default_bins()
        self._projector = ""  # entries of the projector's list
        self._get_file_writer()

    def _get_file_writer(self) -> FileWriter:
        """The main file, opened again after `close`."""
        if self.file_writer is None or self.all_writers is None:
            self.file_writer = self._new_writer(self.log_dir)
            self.all_writers = {self.log_dir: self.file_writer}
            if self.purge_step is not None:
                step, self.purge_step = self.purge_step, None
                self.file_writer.add_event(Event(file_version="brain.Event:2"), step)
                session = SessionLog(status=SessionLog.START)
                self.file_writer.add_event(Event(session_log=session), step)
        return self.file_writer

    def _new_writer(self, log_dir: str) -> FileWriter:
        return FileWriter(log_dir, self.max_queue, self.flush_secs, self.filename_suffix)

    def get_logdir(self) -> str:
        """The directory that event files are written to."""
        return self.log_dir

    def _add(self, summary: Summary, step: int | None, walltime: float | None) -> None:
        self._get_file_writer().add_summary(summary, step, walltime)

    def add_scalar(
        self,
        tag: str,
        scalar_value: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        new_style: bool = False,
        double_precision: bool = False,
    ) -> None:
        """Log a number.

        Args:
            tag: Name of the series.
            scalar_value: The number.
            global_step: Step to show it at. Default: None.
            walltime: Time of the event, in seconds since 1970. Default: now.
            new_style: Whether to write it as a tensor. Default: False.
            double_precision: Whether that keeps 64 bits. Default: False.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/scalar") as writer:
            ...     writer.add_scalar("train/loss", 0.5, global_step=1)
        """
        made = summaries.scalar(
            tag, scalar_value, new_style=new_style, double_precision=double_precision
        )
        self._add(made, global_step, walltime)

    def add_scalars(
        self,
        main_tag: str,
        tag_scalar_dict: Mapping[str, Any],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log several numbers that TensorBoard draws in one chart, each in a file of its own."""
        writer = self._get_file_writer()
        walltime = time.time() if walltime is None else walltime
        assert self.all_writers is not None
        for tag, value in tag_scalar_dict.items():
            folder = f"{writer.get_logdir()}/{main_tag.replace('/', '_')}_{tag}"
            if folder not in self.all_writers:
                self.all_writers[folder] = self._new_writer(folder)
            made = summaries.scalar(main_tag, value)
            self.all_writers[folder].add_summary(made, global_step, walltime)

    def add_tensor(
        self,
        tag: str,
        tensor: Tensor,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log a whole tensor."""
        self._add(summaries.tensor_proto(tag, tensor), global_step, walltime)

    def add_histogram(
        self,
        tag: str,
        values: Any,
        global_step: int | None = None,
        bins: Any = "tensorflow",
        walltime: float | None = None,
        max_bins: int | None = None,
    ) -> None:
        """Log the distribution of values.

        Args:
            tag: Name of the series.
            values: Tensor or array.
            global_step: Step to show it at. Default: None.
            bins: Limits, a number of bins, a method of NumPy's, or `"tensorflow"` (the default) for
                bins that grow with the distance from 0.
            walltime: Time of the event, in seconds since 1970. Default: now.
            max_bins: Largest number of bins. Default: None.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/histogram") as writer:
            ...     writer.add_histogram("weights", torch.randn(100), global_step=1)
        """
        if isinstance(bins, str) and bins == "tensorflow":
            bins = self.default_bins
        self._add(summaries.histogram(tag, values, bins, max_bins=max_bins), global_step, walltime)

    def add_histogram_raw(
        self,
        tag: str,
        min: float,
        max: float,
        num: float,
        sum: float,
        sum_squares: float,
        bucket_limits: Sequence[float],
        bucket_counts: Sequence[float],
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log a precomputed histogram; `bucket_limits` are the upper ends of the bins."""
        if len(bucket_limits) != len(bucket_counts):
            raise ValueError("len(bucket_limits) != len(bucket_counts), see the document.")
        made = summaries.histogram_raw(
            tag, min, max, num, sum, sum_squares, bucket_limits, bucket_counts
        )
        self._add(made, global_step, walltime)

    def add_image(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "CHW",
    ) -> None:
        """Log an image.

        Args:
            tag: Name of the image.
            img_tensor: Tensor or array: numbers between 0 and 1, or bytes.
            global_step: Step to show it at. Default: None.
            walltime: Time of the event, in seconds since 1970. Default: now.
            dataformats: Order of the dimensions. Default: `"CHW"`.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/image") as writer:
            ...     writer.add_image("noise", torch.rand(3, 8, 8))
        """
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_images(
        self,
        tag: str,
        img_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        dataformats: str = "NCHW",
    ) -> None:
        """Log several images in a grid.

        Args:
            tag: Name of the picture.
            img_tensor: Images, of floats between 0 and 1 or of bytes.
            global_step: Number of the step.
            walltime: Time in seconds since 1970. Default: now.
            dataformats: Order of the dimensions: images, channels, height, width. Default: 'NCHW'.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs") as writer:
            ...     writer.add_images("batch", torch.rand(4, 3, 8, 8), global_step=1)

        See also:
            `utils.tensorboard.SummaryWriter.add_image`, `vision.utils.make_grid`.
        """
        self._add(summaries.image(tag, img_tensor, dataformats=dataformats), global_step, walltime)

    def add_image_with_boxes(
        self,
        tag: str,
        img_tensor: Any,
        box_tensor: Any,
        global_step: int | None = None,
        walltime: float | None = None,
        rescale: float = 1,
        dataformats: str = "CHW",
        labels: str | Sequence[str] | None = None,
    ) -> None:
        """Log an image with boxes ``(left, top, right, bottom)``; labels need Pillow."""
        names = [labels] if isinstance(labels, str) else labels
        if names is not None and len(names) != len(box_tensor):
            names = None
        made = summaries.image_boxes(tag, img_tensor, box_tensor, rescale, dataformats, names)
        self._add(made, global_step, walltime)

    def add_figure(
        self,
        tag: str,
        figure: Any,
        global_step: int | None = None,
        close: bool = True,
        walltime: float | None = None,
    ) -> None:
        """Log a matplotlib figure, or a list of figures in a grid."""
        pixels = figure_to_image(figure, close)
        formats = "NCHW" if isinstance(figure, list) else "CHW"
        self._add(summaries.image(tag, pixels, dataformats=formats), global_step, walltime)

    def add_video(
        self,
        tag: str,
        vid_tensor: Any,
        global_step: int | None = None,
        fps: float = 4,
        walltime: float | None = None,
    ) -> None:
        """Log videos ``(N, T, C, H, W)`` as a GIF, which needs Pillow."""
        self._add(summaries.video(tag, vid_tensor, fps), global_step, walltime)

    def add_audio(
        self,
        tag: str,
        snd_tensor: Any,
        global_step: int | None = None,
        sample_rate: int = 44100,
        walltime: float | None = None,
    ) -> None:
        """Log audio: one channel, amplitudes between -1 and 1."""
        self._add(summaries.audio(tag, snd_tensor, sample_rate), global_step, walltime)

    def add_text(
        self,
        tag: str,
        text_string: str,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log a text, which may be Markdown.

        Args:
            tag: Name of the text.
            text_string: The text.
            global_step: Step to show it at. Default: None.
            walltime: Time of the event, in seconds since 1970. Default: now.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/text") as writer:
            ...     writer.add_text("notes", "**first** run")
        """
        self._add(summaries.text(tag, text_string), global_step, walltime)

    def add_onnx_graph(self, prototxt: str) -> NoReturn:
        """Refused: ONNX files are not read."""
        _refuse_onnx()

    def add_graph(
        self,
        model: Module,
        input_to_model: Any = None,
        verbose: bool = False,
        use_strict_trace: bool = True,
    ) -> None:
        """Log the graph of a network.

        Args:
            model: The network.
            input_to_model: What it is called with. Default: nothing.
            verbose: Whether to print the graph. Default: False.
            use_strict_trace: Whether containers among the results are an error. Default: True.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> with SummaryWriter("runs/graph") as writer:
            ...     writer.add_graph(nn.Linear(2, 1), torch.ones(1, 2))
        """
        from flambeau.utils.tensorboard._graph import graph

        drawn = graph(model, input_to_model, verbose, use_strict_trace)
        self._get_file_writer().add_graph(drawn)

    def add_embedding(
        self,
        mat: Any,
        metadata: Sequence[Any] | None = None,
        label_img: Any = None,
        global_step: int | None = None,
        tag: str = "default",
        metadata_header: Sequence[str] | None = None,
    ) -> None:
        """Log vectors ``(N, D)`` for the projector, with labels and images ``(N, C, H, W)``."""
        folder = self._get_file_writer().get_logdir()
        entry = write_embedding(folder, mat, metadata, label_img, global_step, tag, metadata_header)
        if entry in self._projector:
            warnings.warn(
                f"the embedding {tag!r} of step {global_step} was replaced: "
                "give add_embedding a global_step to keep several",
                stacklevel=2,
            )
        else:
            self._projector += entry
        write_pbtxt(folder, self._projector)

    def add_pr_curve(
        self,
        tag: str,
        labels: Any,
        predictions: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log precision and recall of predictions between 0 and 1, over all thresholds."""
        labels, predictions = make_np(labels), make_np(predictions)
        made = summaries.pr_curve(tag, labels, predictions, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_pr_curve_raw(
        self,
        tag: str,
        true_positive_counts: Any,
        false_positive_counts: Any,
        true_negative_counts: Any,
        false_negative_counts: Any,
        precision: Any,
        recall: Any,
        global_step: int | None = None,
        num_thresholds: int = 127,
        weights: Any = None,
        walltime: float | None = None,
    ) -> None:
        """Log precomputed precision and recall."""
        rows = (
            true_positive_counts,
            false_positive_counts,
            true_negative_counts,
            false_negative_counts,
            precision,
            recall,
        )
        made = summaries.pr_curve_raw(tag, *rows, num_thresholds, weights)
        self._add(made, global_step, walltime)

    def add_custom_scalars_multilinechart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Draw several scalars in one chart."""
        self.add_custom_scalars({category: {title: ["Multiline", tags]}})

    def add_custom_scalars_marginchart(
        self, tags: Sequence[str], category: str = "default", title: str = "untitled"
    ) -> None:
        """Draw a scalar between two others: `tags` are value, lower and upper limit."""
        if len(tags) != 3:
            raise AssertionError(f"a margin chart needs three tags; got {len(tags)}")
        self.add_custom_scalars({category: {title: ["Margin", tags]}})

    def add_custom_scalars(self, layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> None:
        """Set which scalars share a chart; the last layout of a writer counts."""
        self._add(summaries.custom_scalars(layout), None, None)

    def add_mesh(
        self,
        tag: str,
        vertices: Any,
        colors: Any = None,
        faces: Any = None,
        config_dict: Mapping[str, Any] | None = None,
        global_step: int | None = None,
        walltime: float | None = None,
    ) -> None:
        """Log points or meshes in space, each an array ``(batch, count, 3)``."""
        made = summaries.mesh(tag, vertices, colors, faces, config_dict)
        self._add(made, global_step, walltime)

    def add_hparams(
        self,
        hparam_dict: Mapping[str, Any],
        metric_dict: Mapping[str, Any],
        hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
        run_name: str | None = None,
        global_step: int | None = None,
    ) -> None:
        """Log the hyperparameters of a run and the resulting metrics, in a run of its own."""
        made = summaries.hparams(hparam_dict, metric_dict, hparam_domain_discrete)
        folder = os.path.join(self._get_file_writer().get_logdir(), run_name or str(time.time()))
        with SummaryWriter(folder) as writer:
            for each in made:
                writer._add(each, global_step, None)
            for name, value in metric_dict.items():
                writer.add_scalar(name, value, global_step)

    def flush(self) -> None:
        """Write what is kept in memory."""
        for writer in (self.all_writers or {}).values():
            writer.flush()

    def close(self) -> None:
        """Write what is kept in memory, and close the files. Logging again opens new ones.

        Example:
            >>> from flambeau.utils.tensorboard import SummaryWriter
            >>> writer = SummaryWriter("runs/close")
            >>> writer.add_scalar("loss", 0.5)
            >>> writer.close()
        """
        for writer in (self.all_writers or {}).values():
            writer.close()
        self.file_writer = self.all_writers = None

    def __enter__(self) -> SummaryWriter:
        return self

    def __exit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        self.close()


def _refuse_onnx() -> NoReturn:
    raise NotImplementedError(
        "add_onnx_graph: ONNX files cannot be read; add_graph draws the network itself"
    )
