"""Examples of logs for TensorBoard (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tests.utils.events import events

from .serialization import new_folder as new_folder

_HERE = f"__import__('importlib').import_module('{__name__}')"
_FOLDER = f"{_HERE}.new_folder()"
_WRITER = f"t.utils.tensorboard.SummaryWriter(log_dir={_FOLDER}, max_queue=5)"
_SUMMARY = "t.utils.tensorboard.summary"
_FIGURE = "__import__('matplotlib.figure').figure.Figure(figsize=(1, 1))"


def tags(folder: str, inner: str = ".") -> list[Any]:
    """The step of each event of a folder, and the tags of its values."""
    return [
        [event.step, [value.tag for value in event.summary.value]]
        for event in events(Path(folder) / inner)
        if event.HasField("summary")
    ]


def logged(*calls: str, inner: str = ".") -> str:
    """The tags that calls of the writer `w` log."""
    made = f"{', '.join(calls)}, w.close(), {_HERE}.tags(w.log_dir, {inner!r})"
    return f"(lambda w: ({made})[-1])({_WRITER})"


TENSORBOARD: dict[str, list[str]] = {
    "SummaryWriter": [
        f"(lambda w: w.close())(t.utils.tensorboard.SummaryWriter(log_dir={_FOLDER}))",
        (
            f"(lambda w: w.close())(t.utils.tensorboard.SummaryWriter({_FOLDER}, comment='_x',"
            " max_queue=3))"
        ),
    ],
    "SummaryWriter.add_scalar": [
        logged(
            "w.add_scalar('a', x.sum(), global_step=3, walltime=5.0)",
            "w.add_scalar('b', 0.5, 4, new_style=True)",
        ),
    ],
    "SummaryWriter.add_scalars": [
        logged(
            "w.add_scalars(main_tag='a', tag_scalar_dict={'b': 1, 'c': 2}, global_step=3)",
            inner="a_b",
        ),
    ],
    "SummaryWriter.add_image": [
        logged(
            "w.add_image(tag='a', img_tensor=image[0], global_step=3, dataformats='CHW')",
            "w.add_image('b', x, dataformats='HW')",
        ),
    ],
    "SummaryWriter.add_images": [
        logged("w.add_images('a', image, global_step=3, dataformats='NCHW')"),
    ],
    "SummaryWriter.add_figure": [
        (
            f"(lambda w: (w.add_figure('a', figure={_FIGURE}, global_step=3, close=True),"
            f" w.close(), {_HERE}.tags(w.log_dir))[-1])({_WRITER})"
        ),
    ],
    "SummaryWriter.add_histogram": [
        logged("w.add_histogram(tag='a', values=x, global_step=3)", "w.add_histogram('b', v)"),
    ],
    "SummaryWriter.add_text": [logged("w.add_text('a', 'text', 3)")],
    "SummaryWriter.add_graph": [
        logged("w.add_graph(model=nn.Linear(3, 2), input_to_model=x)"),
        logged("w.add_graph(nn.Linear(3, 2), (x,))"),
    ],
    "SummaryWriter.add_embedding": [
        logged("w.add_embedding(v[:, None], metadata=['a', 'b', 'c', 'd'], global_step=3)"),
        logged("w.add_embedding(v[:1, None], label_img=image)"),
    ],
    "SummaryWriter.add_hparams": [
        logged("w.add_hparams({'lr': 0.1}, {'loss': 0.5}, run_name='r')", inner="r"),
    ],
    "SummaryWriter.flush": [logged("w.add_scalar('a', 1)", "w.flush()")],
    "SummaryWriter.close": [logged("w.add_scalar('a', 1)")],
    "SummaryWriter.log_dir": [
        f"(lambda w: (w.close(), str(w.log_dir) == str(w.get_logdir())))({_WRITER})[1]"
    ],
    "summary.hparams": [
        f"[s.value[0].tag for s in {_SUMMARY}.hparams({{'lr': 0.1}}, metric_dict={{'loss': 1}})]",
    ],
}
