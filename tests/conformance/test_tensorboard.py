"""Event files read by TensorBoard itself, beside those that PyTorch writes for the same calls."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import Any

import matplotlib.figure
import numpy as np
import PIL.Image
import pytest
import torch
import torch.utils.tensorboard
from google.protobuf import struct_pb2, text_format
from google.protobuf.descriptor import FieldDescriptor
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator
from tensorboard.backend.event_processing.event_file_loader import RawEventFileLoader
from tensorboard.compat.proto import (
    attr_value_pb2,
    config_pb2,
    event_pb2,
    graph_pb2,
    node_def_pb2,
    step_stats_pb2,
    summary_pb2,
    tensor_pb2,
    tensor_shape_pb2,
    types_pb2,
    versions_pb2,
)
from tensorboard.plugins.custom_scalar import layout_pb2
from tensorboard.plugins.hparams import api_pb2, plugin_data_pb2
from tensorboard.plugins.mesh import plugin_data_pb2 as mesh_pb2
from tensorboard.plugins.pr_curve import plugin_data_pb2 as curve_pb2
from tensorboard.plugins.projector import projector_config_pb2
from tensorboard.plugins.text import plugin_data_pb2 as text_pb2

import flambeau as fb
import flambeau.utils.tensorboard
from flambeau.utils.tensorboard import _messages
from flambeau.utils.tensorboard._wire import BOOL, BYTES, DOUBLE, FLOAT, INT, STRING, Message

SOURCES = (
    attr_value_pb2,
    config_pb2,
    event_pb2,
    graph_pb2,
    node_def_pb2,
    step_stats_pb2,
    summary_pb2,
    summary_pb2.SummaryMetadata,
    tensor_pb2,
    tensor_shape_pb2,
    versions_pb2,
    layout_pb2,
    api_pb2,
    plugin_data_pb2,
    mesh_pb2,
    curve_pb2,
    text_pb2,
    struct_pb2,
)
KINDS = {
    FieldDescriptor.TYPE_BOOL: BOOL,
    FieldDescriptor.TYPE_BYTES: BYTES,
    FieldDescriptor.TYPE_DOUBLE: DOUBLE,
    FieldDescriptor.TYPE_ENUM: INT,
    FieldDescriptor.TYPE_FLOAT: FLOAT,
    FieldDescriptor.TYPE_INT32: INT,
    FieldDescriptor.TYPE_INT64: INT,
    FieldDescriptor.TYPE_STRING: STRING,
    FieldDescriptor.TYPE_UINT32: INT,
}
MESSAGES = [name for name in _messages.__all__ if isinstance(getattr(_messages, name), type)]


@pytest.mark.parametrize("name", MESSAGES)
def test_layout(name):
    """The fields of our messages have the numbers and types of TensorBoard's."""
    theirs = next(getattr(source, name) for source in SOURCES if hasattr(source, name))
    assert_same_layout(getattr(_messages, name), theirs.DESCRIPTOR)


def assert_same_layout(ours: type[Message], theirs: Any) -> None:
    for field in ours.fields:
        expected = theirs.fields_by_name[field.name]
        assert field.number == expected.number
        assert field.is_many == expected.is_repeated
        if isinstance(field.kind, type):
            nested = expected.message_type
            if nested.GetOptions().map_entry:
                nested = nested.fields_by_name["value"].message_type
            assert_same_layout(field.kind, nested)
        else:
            assert field.kind == KINDS[expected.type]


def test_element_types():
    names = {"float32": "FLOAT", "float64": "DOUBLE", "float16": "HALF"}
    for name, number in _messages.ELEMENT_TYPES.items():
        assert number == types_pb2.DataType.Value(f"DT_{names.get(name, name.upper())}")


def figure() -> Any:
    drawing = matplotlib.figure.Figure(figsize=(2, 1), dpi=50)
    drawing.add_subplot().plot([1, 3, 2])
    return drawing


CALLS: dict[str, Any] = {
    "scalar": lambda t, w: [
        w.add_scalar("a", 1.5, 1),
        w.add_scalar("b", t.tensor(2.5), 2),
        w.add_scalar("c", 3, new_style=True),
        w.add_scalar("d", t.tensor([4.0]), 4, new_style=True, double_precision=True),
        w.add_scalar("e", float("nan"), 5),
        w.add_scalar("e", 1e300, 6),
    ],
    "scalars": lambda t, w: w.add_scalars("main/x", {"a": 1, "b": t.tensor(2.0)}, 7),
    "histogram": lambda t, w: [
        w.add_histogram("a", t.arange(-30, 70) ** 3 / 64, 1),
        w.add_histogram("b", t.arange(-30, 70) / 8, bins="auto", max_bins=5),
        w.add_histogram("c", np.array([1, 2, 3]), bins=[0, 1, 2, 3, 4]),
        w.add_histogram("d", t.zeros(5)),
        w.add_histogram("e", t.arange(50), bins=10, max_bins=3),
        w.add_histogram_raw("f", 0, 3, 4, 5, 6.0, [1, 2], [1, 3], 1),
    ],
    "text": lambda t, w: w.add_text("note", "größer", 1),
    "curves": lambda t, w: [
        w.add_pr_curve("a", t.arange(40) % 3 % 2, t.linspace(0, 1, 40) ** 2, 1, num_thresholds=9),
        w.add_pr_curve("b", np.arange(40) % 2, np.linspace(0, 1, 40), weights=np.arange(40.0)),
        w.add_pr_curve_raw("c", *(np.arange(12.0).reshape(6, 2)), num_thresholds=2),
    ],
    "mesh": lambda t, w: w.add_mesh(
        "m",
        t.arange(12.0).reshape(1, 4, 3),
        colors=t.arange(12).reshape(1, 4, 3),
        faces=t.tensor([[[0, 1, 2]]]),
        config_dict={"camera": {"fov": 75}},
    ),
    "layouts": lambda t, w: [
        w.add_custom_scalars({"c": {"l": ["Multiline", ["a"]], "m": ["Margin", ["a", "b", "c"]]}}),
        w.add_custom_scalars_multilinechart(["a", "b"]),
        w.add_custom_scalars_marginchart(["a", "b", "c"], "x", "y"),
    ],
    "tensor": lambda t, w: [
        w.add_tensor("a", t.arange(4.0).reshape(2, 2), 1),
        w.add_tensor("b", t.arange(4, dtype=t.int8)),
        w.add_tensor("c", t.tensor([True, False])),
        w.add_tensor("d", t.tensor([1 + 2j])),
        w.add_tensor("e", t.tensor(1.5, dtype=t.float64)),
        w.add_tensor("f", t.tensor([-7, 1 << 40])),
    ],
    "audio": lambda t, w: w.add_audio("a", t.linspace(-1, 1, 50)[None], 3, sample_rate=8000),
    "images": lambda t, w: [
        w.add_image("a", t.arange(60.0).reshape(3, 4, 5) / 60),
        w.add_image("b", t.arange(20.0).reshape(4, 5) / 19, dataformats="HW"),
        w.add_image("c", t.arange(80, dtype=t.uint8).reshape(4, 5, 4), dataformats="HWC"),
        w.add_images("d", t.linspace(-0.5, 1.5, 360).reshape(10, 3, 4, 3)),
        w.add_images("e", t.linspace(0, 1, 36).reshape(3, 4, 3, 1), dataformats="NHWC"),
        w.add_figure("f", figure(), close=False),
        w.add_figure("g", [figure(), figure()], close=False),
    ],
    "hparams": lambda t, w: w.add_hparams(
        {"lr": 0.1, "n": 2, "name": "x", "flag": True, "none": None},
        {"acc": 0.5, "loss": t.tensor(1.0)},
        {"n": [1, 2], "name": ["x", "y"]},
        run_name="r",
    ),
    "embedding": lambda t, w: [
        w.add_embedding(t.linspace(0, 1, 10).reshape(5, 2), list("abcde"), t.rand(5, 3, 4, 6), 1),
        w.add_embedding(np.eye(2), [["a", 1], ["b", 2]], tag="x/y", metadata_header=["n", "v"]),
    ],
}


def written(t: Any, folder: Path, log: Any, **options: Any) -> None:
    t.manual_seed(0)
    with t.utils.tensorboard.SummaryWriter(str(folder), **options) as writer:
        log(t, writer)


def contents(folder: Path) -> dict[str, Any]:
    """What a folder holds: events, pictures, and other files as text."""
    found: dict[str, Any] = {}
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        place = str(path.relative_to(folder))
        if "tfevents" in path.name:
            events = found.setdefault(os.path.dirname(place), [])
            events += [plain(record) for record in RawEventFileLoader(str(path)).Load()]
        elif path.suffix == ".png":
            found[place] = pixels(path.read_bytes())
        else:
            found[place] = path.read_text()
    return found


def plain(record: bytes) -> Any:
    """An event without what differs from run to run, its pictures as lists of pixels."""
    event = event_pb2.Event.FromString(record)
    event.wall_time = 0
    event.ClearField("source_metadata")
    pictures = []
    for value in event.summary.value:
        if value.HasField("image"):
            pictures.append(pixels(value.image.encoded_image_string))
            value.image.encoded_image_string = b""
        if value.metadata.plugin_data.plugin_name == "hparams":
            # The order of what stands in a mapping is not the same in all files.
            content = value.metadata.plugin_data.content
            pictures.append(plugin_data_pb2.HParamsPluginData.FromString(content))
            value.metadata.plugin_data.content = b""
    return str(event), pictures


def pixels(picture: bytes) -> Any:
    return np.asarray(PIL.Image.open(io.BytesIO(picture))).tolist()


@pytest.mark.parametrize("name", CALLS)
def test_same_content(name, tmp_path):
    written(torch, tmp_path / "torch", CALLS[name])
    written(fb, tmp_path / "fb", CALLS[name])
    assert contents(tmp_path / "fb") == contents(tmp_path / "torch")


def test_same_file_after_a_purge(tmp_path):
    for t in (torch, fb):
        written(t, tmp_path / t.__name__, CALLS["scalar"], purge_step=3)
    assert contents(tmp_path / "flambeau") == contents(tmp_path / "torch")


def test_accumulator(tmp_path):
    """TensorBoard's own reader finds every kind of value."""
    for name in ("scalar", "histogram", "images", "audio", "text", "tensor"):
        written(fb, tmp_path, CALLS[name])
    accumulator = EventAccumulator(str(tmp_path), size_guidance={})
    accumulator.Reload()
    tags = accumulator.Tags()
    assert tags["scalars"] == ["a", "b", "e"]
    assert [(each.step, each.value) for each in accumulator.Scalars("b")] == [(2, 2.5)]
    assert sorted(tags["histograms"]) == ["a", "b", "c", "d", "e", "f"]
    assert sorted(tags["images"]) == ["a", "b", "c", "d", "e", "f", "g"]
    assert tags["audio"] == ["a"]
    assert "note/text_summary" in tags["tensors"]


class Net(fb.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.body = fb.nn.Sequential(fb.nn.Linear(4, 8), fb.nn.ReLU())

    def forward(self, x: Any) -> Any:
        return self.body(x).sum()


def test_graph(tmp_path):
    written(fb, tmp_path, lambda t, w: w.add_graph(Net(), t.ones(2, 4)))
    accumulator = EventAccumulator(str(tmp_path))
    accumulator.Reload()
    drawn = graph_pb2.GraphDef.FromString(accumulator.Graph().SerializeToString())
    nodes = {node.name: node for node in drawn.node}
    addmm = nodes["Net/Sequential[body]/Linear[0]/addmm"]
    shape = addmm.attr["_output_shapes"].list.shape[0]
    assert [each.size for each in shape.dim] == [2, 8]
    assert "input/x" in addmm.input
    assert accumulator.RunMetadata("step1").step_stats.dev_stats[0].device == "/device:CPU:0"


def test_projector(tmp_path):
    written(fb, tmp_path, CALLS["embedding"])
    config = projector_config_pb2.ProjectorConfig()
    text_format.Parse((tmp_path / "projector_config.pbtxt").read_text(), config)
    first, second = config.embeddings
    assert list(first.sprite.single_image_dim) == [6, 4]
    for embedding in (first, second):
        assert (tmp_path / embedding.tensor_path).exists()
        assert (tmp_path / embedding.metadata_path).exists()


def test_messages_of_tensorboard_itself(tmp_path):
    """A program may make its summaries with TensorBoard's classes."""
    value = summary_pb2.Summary.Value(tag="x", simple_value=2.0)
    writer = fb.utils.tensorboard.FileWriter(str(tmp_path))
    writer.add_summary(summary_pb2.Summary(value=[value]), 3)
    writer.add_event(event_pb2.Event(file_version="brain.Event:2"), 4)
    writer.close()
    ((text, _), _) = contents(tmp_path)[""][1:]
    assert "simple_value: 2" in text
