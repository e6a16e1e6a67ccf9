"""Checkpoints that cross from one framework to the other, in both directions."""

from __future__ import annotations

import collections
import io
import itertools
import pickle
import zipfile
from typing import Any

import numpy as np
import pytest
import safetensors
import safetensors.torch
import torch

import flambeau
from flambeau.serialization import safetensors as own_safetensors
from tests.conformance.test_layers import LAYERS, assert_same_module, made

DIRECTIONS = [
    pytest.param(flambeau, torch, id="written here"),
    pytest.param(torch, flambeau, id="read here"),
]
FORMATS = [
    pytest.param({}, id="zip"),
    pytest.param({"_use_new_zipfile_serialization": False}, id="legacy"),
]
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64", "complex128"]


def crossed(value: Any, writer: Any, reader: Any, options: dict[str, Any], **how: Any) -> Any:
    """``value`` after one framework wrote it and the other one read it."""
    file = io.BytesIO()
    writer.save(value, file, **options)
    file.seek(0)
    return reader.load(file, **how)


def plain(value: Any) -> Any:
    """A value without the framework in it, to be compared."""
    if hasattr(value, "stride"):
        if value.is_sparse:
            parts = (value._indices(), value._values(), tuple(value.shape))
            return tuple(map(plain, parts))
        about = (str(value.dtype), tuple(value.shape), value.stride(), value.storage_offset())
        return (*about, value.requires_grad, type(value).__name__, value.tolist())
    if isinstance(value, dict):
        items = [(plain(key), plain(item)) for key, item in value.items()]
        return type(value).__name__, items
    if isinstance(value, (list, tuple)) and not hasattr(value, "numel"):
        return type(value).__name__, [plain(item) for item in value]
    return type(value).__name__, str(value)


def tensors(t: Any) -> dict[str, Any]:
    base = t.arange(24.0).reshape(2, 3, 4)
    made = {name: t.arange(6).reshape(2, 3).to(getattr(t, name)) for name in DTYPES}
    return {
        **made,
        "scalar": t.tensor(2.5),
        "empty": t.ones(2, 0, 3),
        "base": base,
        "view": base[1:, ::2].transpose(0, 2),
        "expanded": t.ones(1).expand(5),
        "channels_last": t.ones(1, 2, 3, 3).to(memory_format=t.channels_last),
        "grad": t.ones(2, requires_grad=True),
        "parameter": t.nn.Parameter(t.ones(2)),
        "frozen": t.nn.Parameter(t.ones(2), requires_grad=False),
        "sparse": t.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse(),
    }


def others(t: Any) -> dict[Any, Any]:
    return {
        "types": [t.float32, t.bool, t.device("cpu"), t.Size([2, 3]), t.strided],
        "numbers": [None, True, -1, 300, 2**40, -(10**30), 1.5, 1 + 2j],
        "text": ["", "été", b"\x00\xff", bytearray(b"abc")],
        "containers": [(), (1, (2, [3])), {4, 5}, {}, collections.OrderedDict(b=1, a=2)],
        "counted": collections.Counter("abca"),
        ("a", 1): {2: None},
    }


@pytest.mark.parametrize(("writer", "reader"), DIRECTIONS)
@pytest.mark.parametrize("options", FORMATS)
class TestValues:
    def test_tensors(self, writer, reader, options):
        value = tensors(writer)
        back = crossed(value, writer, reader, options)
        for name in value:
            assert plain(back[name]) == plain(value[name]), name
        back["base"][1, 0, 0] = 99
        assert back["view"].flatten()[0] == 99

    def test_other_values(self, writer, reader, options):
        value = others(writer)
        assert plain(crossed(value, writer, reader, options)) == plain(value)

    def test_attributes(self, writer, reader, options):
        tensor, parameter = writer.ones(2), writer.nn.Parameter(writer.ones(2))
        tensor.note = parameter.note = ["x", 1]
        back = crossed([tensor, parameter], writer, reader, options)
        assert [each.note for each in back] == [["x", 1], ["x", 1]]
        assert [type(each).__name__ for each in back] == ["Tensor", "Parameter"]

    def test_networks_and_their_training(self, writer, reader, options):
        """State dicts of a network, its optimiser and scheduler; training goes on where it was."""
        curves = []
        saved = None
        for t in (writer, reader):
            net = t.nn.Sequential(t.nn.Linear(3, 4), t.nn.BatchNorm1d(4), t.nn.Linear(4, 1))
            optimizer = t.optim.Adam(net.parameters(), lr=0.1)
            scheduler = t.optim.lr_scheduler.StepLR(optimizer, 2, 0.5)
            parts = {"net": net, "optimizer": optimizer, "scheduler": scheduler}
            if t is writer:
                train(t, **parts)
                state = {name: part.state_dict() for name, part in parts.items()}
                file = io.BytesIO()
                t.save(state, file, **options)
                saved = file.getvalue()
            else:
                state = t.load(io.BytesIO(saved))
                for name, part in parts.items():
                    part.load_state_dict(state[name])
            curves.append(train(t, **parts))
        np.testing.assert_allclose(*curves, rtol=1e-4)


def train(t: Any, net: Any, optimizer: Any, scheduler: Any) -> list[float]:
    x = t.linspace(-1, 1, 24).reshape(8, 3)
    losses = []
    for _ in range(3):
        loss = net(x).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.item())
    return losses


# Networks that PyTorch pickles whole become networks of this package.
MODULES = {
    "linear": ("nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Dropout(0.1), nn.Softmax(1))", (2, 3)),
    "images": (
        "nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.MaxPool2d(2))",
        (2, 3, 8, 8),
    ),
    "resampled": ("nn.Sequential(nn.Upsample(scale_factor=2), nn.GroupNorm(3, 3))", (1, 3, 4, 4)),
    "recurrent": ("nn.LSTM(3, 4, num_layers=2, batch_first=True)", (2, 5, 3)),
    "transformer": ("nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)", (2, 5, 8)),
    "lists": ("nn.ModuleList([nn.Linear(3, 3), nn.GELU()])[0]", (1, 3)),
    "transposed": ("nn.ConvTranspose2d(3, 2, 3)", (1, 3, 4, 4)),
}


@pytest.mark.parametrize(("text", "shape"), MODULES.values(), ids=MODULES)
def test_whole_modules(text, shape):
    module = eval(text, {"nn": torch.nn}).eval()
    back = crossed(module, torch, flambeau, {}, weights_only=False)
    assert type(back).__module__.startswith("flambeau.nn")
    x = np.linspace(-1, 1, int(np.prod(shape)), dtype=np.float32).reshape(shape)
    expected, got = module(torch.tensor(x)), back(flambeau.tensor(x))
    first = [value[0] if isinstance(value, tuple) else value for value in (expected, got)]
    arrays = [value.detach().numpy() for value in first]
    np.testing.assert_allclose(*arrays, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("config", LAYERS, ids=str)
def test_every_layer(config):
    ours, theirs = made(config)
    assert_same_module(crossed(theirs, torch, flambeau, {}, weights_only=False), theirs)
    back = crossed(ours, flambeau, flambeau, {}, weights_only=False)
    assert repr(back) == repr(ours)
    assert plain(back.state_dict()) == plain(ours.state_dict())


@pytest.mark.parametrize("options", FORMATS)
def test_values_not_yet_computed(options):
    x = torch.tensor([1 + 2j, 3 - 1j])
    values = (x.conj(), x.imag, x.conj().imag)
    back = [crossed(value, torch, flambeau, options) for value in values]
    assert [value.tolist() for value in back] == [[1 - 2j, 3 + 1j], [2, -1], [-2, 1]]


@pytest.mark.parametrize("dtype", ["uint16", "uint32", "uint64", "float8_e5m2"])
def test_element_types_that_are_not_here(dtype):
    tensor = torch.ones(3).to(getattr(torch, dtype))
    with pytest.raises(pickle.UnpicklingError, match=rf"torch\.{dtype}"):
        crossed(tensor, torch, flambeau, {})


def test_paths_and_mapped_files(tmp_path):
    for writer, reader in itertools.permutations((torch, flambeau)):
        writer.save({"x": writer.arange(1000)}, tmp_path / "model.v1.pt")
        for mapped in (False, True):
            back = reader.load(tmp_path / "model.v1.pt", mmap=mapped)
            assert back["x"].tolist() == list(range(1000))


def test_archives_look_alike(tmp_path):
    """The same records in the same order, at the same alignment, with the same pickle."""
    looks = []
    for t in (flambeau, torch):
        t.save({"a": t.arange(100), "b": [t.ones(2), 1]}, tmp_path / "m.pt")
        with zipfile.ZipFile(tmp_path / "m.pt") as archive:
            infos = archive.infolist()
            looks.append(
                [
                    [info.filename for info in infos],
                    [(info.flag_bits, info.compress_type) for info in infos],
                    archive.read("m/data.pkl"),
                    [archive.read(f"m/{name}") for name in ("version", "byteorder", "data/0")],
                    [info.header_offset for info in infos],
                ]
            )
    assert looks[0] == looks[1]


def failure(act: Any) -> type[BaseException] | None:
    try:
        act()
    except Exception as error:
        return type(error)
    return None


class Thing:
    pass


MISTAKES = [
    "t.load(folder / 'none')",
    "t.load(folder)",
    "t.load(io.BytesIO())",
    "t.load(3)",
    "t.save([], 3)",
    "t.save([], folder / 'no' / 'x')",
    "t.save(lambda: 0, io.BytesIO())",
    "t.save([t.ones(2), lambda: 0], folder / 'x')",
    "t.load(io.BytesIO(thing))",
    "t.load(io.BytesIO(archive[:-50]))",
    "t.load(io.BytesIO(archive), mmap=True)",
    "t.load(io.BytesIO(archive), map_location='moon')",
    "t.load(io.BytesIO(archive), map_location=3)",
    "t.load(io.BytesIO(archive), weights_only=True, pickle_module=pickle)",
    "t.load(io.BytesIO(on_cuda))",
    "t.serialization.set_default_mmap_options(77)",
    "t.serialization.set_default_load_endianness('big')",
]


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes(mistake, tmp_path):
    archive, thing = io.BytesIO(), io.BytesIO()
    torch.save(torch.ones(3), archive)
    torch.save(Thing(), thing)
    old = io.BytesIO()
    torch.save(torch.ones(3), old, _use_new_zipfile_serialization=False)
    names = {
        "io": io,
        "pickle": pickle,
        "folder": tmp_path,
        "archive": archive.getvalue(),
        "thing": thing.getvalue(),
        "on_cuda": old.getvalue().replace(b"X\x03\x00\x00\x00cpu", b"X\x04\x00\x00\x00cuda"),
    }
    classes = [failure(lambda t=t: eval(mistake, {**names, "t": t})) for t in (flambeau, torch)]
    assert classes[0] is not None
    assert classes[0] is classes[1]


def test_same_names():
    assert set(flambeau.serialization.__all__) - {"DEFAULT_PROTOCOL", "MAP_LOCATION"} <= set(
        torch.serialization.__all__
    )


class TestSafetensors:
    def tensors(self, t: Any) -> dict[str, Any]:
        made = {name: t.arange(6).reshape(2, 3).to(getattr(t, name)) for name in DTYPES[:-1]}
        return {**made, "scalar": t.tensor(2), "empty": t.ones(0, 3), "été": t.ones(3)}

    def test_bytes(self):
        notes = {"format": "pt", "é": "ü"}
        written = own_safetensors.save(self.tensors(flambeau), {"format": "pt"})
        assert written == safetensors.torch.save(self.tensors(torch), {"format": "pt"})
        back = safetensors.torch.load(own_safetensors.save(self.tensors(flambeau), notes))
        assert plain(dict(sorted(back.items()))) == plain(dict(sorted(self.tensors(torch).items())))

    def test_files(self, tmp_path):
        path = tmp_path / "x.safetensors"
        safetensors.torch.save_file(self.tensors(torch), path, {"k": "v"})
        back = own_safetensors.load_file(path)
        own = dict(sorted(self.tensors(flambeau).items()))
        assert plain(dict(sorted(back.items()))) == plain(own)
        with own_safetensors.safe_open(path) as mine, safetensors.safe_open(path, "pt") as its:
            assert mine.keys() == sorted(its.keys())
            assert mine.offset_keys() == its.offset_keys()
            assert mine.metadata() == its.metadata()
            slices = [file.get_slice("float32") for file in (mine, its)]
            assert slices[0].get_shape() == slices[1].get_shape()
            assert slices[0].get_dtype() == slices[1].get_dtype()
            assert plain(slices[0][1:, :2])[:2] == plain(slices[1][1:, :2])[:2]

    def test_models(self, tmp_path):
        net = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.Linear(2, 2))
        net[1].weight = net[0].weight
        safetensors.torch.save_model(net, str(tmp_path / "x"))
        own = flambeau.nn.Sequential(flambeau.nn.Linear(2, 2), flambeau.nn.Linear(2, 2))
        own[1].weight = own[0].weight
        assert own_safetensors.load_model(own, tmp_path / "x") == ([], [])
        assert own[1].weight.tolist() == net[0].weight.tolist()
        own_safetensors.save_model(own, tmp_path / "y")
        missing, unknown = safetensors.torch.load_model(net, str(tmp_path / "y"))
        assert (list(missing), list(unknown)) == ([], [])
