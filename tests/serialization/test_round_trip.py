"""What is saved comes back: values, types, sharing, in both file formats."""

from __future__ import annotations

import collections
import io
import pathlib
import pickle
import types
import zipfile

import pytest

import flambeau as fb
from flambeau.serialization import _zip_writer

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64", "complex128"]
FORMATS = [
    pytest.param({}, id="zip"),
    pytest.param({"pickle_protocol": 3}, id="protocol 3"),
    pytest.param({"pickle_protocol": 5}, id="protocol 5"),
    pytest.param({"_use_new_zipfile_serialization": False}, id="legacy"),
]


def again(value, options=None, **how):
    """``value`` after a trip through a file."""
    file = io.BytesIO()
    fb.save(value, file, **(options or {}))
    file.seek(0)
    return fb.load(file, **how)


@pytest.mark.parametrize("options", FORMATS)
class TestValues:
    @pytest.mark.parametrize("dtype", DTYPES)
    def test_dtypes(self, options, dtype):
        tensor = fb.arange(6).reshape(2, 3).to(getattr(fb, dtype))
        back = again(tensor, options)
        assert back.dtype == tensor.dtype
        assert back.tolist() == tensor.tolist()
        back.fill_(1)

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
    def test_special_shapes(self, options, shape):
        assert again(fb.ones(shape), options).shape == shape

    def test_views_keep_their_strides_and_memory(self, options):
        base = fb.arange(12).reshape(3, 4)
        view = base[1:, ::2].t()
        one, other = again([base, view], options)
        assert (other.stride(), other.storage_offset()) == (view.stride(), view.storage_offset())
        one[1, 0] = 99
        assert other[0, 0] == 99

    def test_expanded(self, options):
        assert again(fb.ones(1).expand(1000), options).stride() == (0,)

    def test_plain_values(self, options):
        value = {
            "none": None,
            "numbers": [True, -1, 255, 65536, -(2**31), 10**40, 1.5, float("inf"), 1 + 2j],
            "text": ["", "été", "\ud800", "x" * 1000],
            "bytes": [b"", b"\xff" * 300, bytearray(b"abc")],
            "tuples": ((), (1,), (1, 2), (1, 2, 3), (1, 2, 3, 4)),
            "sets": [{1, 2}, set()],
            "ordered": collections.OrderedDict([("b", 1), ("a", 2)]),
            "counted": collections.Counter("abca"),
            ("a", 1): {2: {3: []}},
        }
        assert again(value, options) == value

    def test_types_of_the_package(self, options):
        value = [fb.float32, fb.bool, fb.device("cpu"), fb.Size([2, 3]), fb.strided]
        back = again(value, options)
        assert back == value
        assert type(back[3]) is fb.Size

    def test_requires_grad(self, options):
        yes, no = again([fb.ones(2, requires_grad=True), fb.ones(2)], options)
        assert yes.requires_grad
        assert not no.requires_grad
        assert again(fb.ones(2, requires_grad=True) * 2, options).is_leaf

    def test_parameters(self, options):
        plain = fb.nn.Parameter(fb.ones(2))
        frozen = fb.nn.Parameter(fb.ones(2), requires_grad=False)
        plain.note = ["kept"]
        first, second = again([plain, frozen], options)
        assert type(first) is type(second) is fb.nn.Parameter
        assert first.note == ["kept"]
        assert (first.requires_grad, second.requires_grad) == (True, False)

    def test_attributes_of_tensors(self, options):
        tensor = fb.ones(2)
        tensor.label = "x"
        assert again(tensor, options).label == "x"

    def test_sparse_tensors(self, options):
        tensor = fb.tensor([[0.0, 1.0], [2.0, 0.0]]).to_sparse()
        back = again(tensor, options)
        assert back.layout == fb.sparse_coo
        assert fb.equal(back.to_dense(), tensor.to_dense())
        # The older format has the indices, and whether they are sorted, behind the tensor.
        assert back.is_coalesced() == ("_use_new_zipfile_serialization" not in options)

    def test_one_object_stays_one_object(self, options):
        tensor = fb.ones(2)
        first, second = again([tensor, tensor], options)
        assert first is second

    def test_state_dicts(self, options):
        net = fb.nn.Sequential(fb.nn.Linear(3, 4), fb.nn.BatchNorm1d(4))
        state = again(net.state_dict(), options)
        other = fb.nn.Sequential(fb.nn.Linear(3, 4), fb.nn.BatchNorm1d(4))
        other.load_state_dict(state)
        assert state._metadata == net.state_dict()._metadata
        for mine, its in zip(other.parameters(), net.parameters(), strict=True):
            assert fb.equal(mine, its)

    def test_whole_modules(self, options):
        net = fb.nn.Sequential(fb.nn.Conv2d(1, 2, 3), fb.nn.ReLU())
        back = again(net, options, weights_only=False)
        x = fb.randn(1, 1, 5, 5)
        assert fb.equal(back(x), net(x))


def test_paths(tmp_path):
    for path in (tmp_path / "a.pt", str(tmp_path / "b.tar.pth"), tmp_path / "noext"):
        fb.save({"x": fb.ones(3)}, path)
        assert fb.load(path)["x"].tolist() == [1, 1, 1]
        name = pathlib.Path(path).stem
        assert zipfile.ZipFile(path).namelist()[0] == f"{name}/data.pkl"


def test_archives_are_sound(tmp_path):
    fb.save([fb.arange(10**n) for n in range(5)], tmp_path / "x.pt")
    with zipfile.ZipFile(tmp_path / "x.pt") as archive:
        assert archive.testzip() is None
        raw = (tmp_path / "x.pt").read_bytes()
        for info in archive.infolist():
            name, extra = raw[info.header_offset + 26 : info.header_offset + 30 : 2]
            assert (info.header_offset + 30 + name + extra) % 64 == 0


def test_files_are_left_where_they_end():
    file = io.BytesIO(b"before")
    file.seek(6)
    fb.save({"a": fb.ones(2)}, file, _use_new_zipfile_serialization=False)
    fb.save({"b": 3}, file, _use_new_zipfile_serialization=False)
    file.seek(6)
    assert fb.load(file)["a"].tolist() == [1, 1]
    assert fb.load(file) == {"b": 3}


def test_an_archive_may_begin_inside_a_file():
    file = io.BytesIO(b"before")
    file.seek(6)
    fb.save({"a": fb.ones(2)}, file)
    file.seek(6)
    assert fb.load(file)["a"].tolist() == [1, 1]


def test_open_files(tmp_path):
    for options in ({}, {"_use_new_zipfile_serialization": False}):
        with open(tmp_path / "x", "wb") as file:
            fb.save([fb.arange(5)], file, **options)
        with open(tmp_path / "x", "rb") as file:
            assert fb.load(file)[0].tolist() == [0, 1, 2, 3, 4]
        with open(tmp_path / "x", "rb", buffering=0) as file:
            assert fb.load(file, weights_only=False)[0].tolist() == [0, 1, 2, 3, 4]


def test_other_pickle_modules():
    tensor = again(fb.ones(2), {"pickle_module": pickle}, pickle_module=pickle)
    assert tensor.tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="pickle_module"):
        again(fb.ones(2), weights_only=True, pickle_module=pickle)


def test_one_memory_of_two_types_is_refused():
    x = fb.ones(2)
    with pytest.raises(RuntimeError, match="different types; save a clone"):
        again([x, x.view(fb.int32)])


def test_hooks_are_lost_with_a_warning():
    x = fb.ones(2, requires_grad=True)
    x.register_hook(print)
    with pytest.warns(UserWarning, match="will not be serialized"):
        again(x)


@pytest.mark.parametrize("limit", [1, 1000, 5000])
def test_archives_beyond_four_gigabytes(limit, monkeypatch):
    """As if large archives were small: sizes and places in 64 bits where they no longer fit."""
    monkeypatch.setattr(_zip_writer, "_LIMIT", limit)
    state = {"a": fb.arange(1000), "b": fb.arange(10), "c": fb.arange(2000)}
    file = io.BytesIO()
    fb.save(state, file)
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
    file.seek(0)
    back = fb.load(file)
    assert all(fb.equal(back[name], state[name]) for name in state)


def test_a_pickle_module_in_c():
    """Its names are those of this package, so that the file loads here alone."""
    module = types.SimpleNamespace(Pickler=pickle.Pickler, Unpickler=pickle.Unpickler)
    base = fb.arange(6.0)
    value = [base, base[2:], fb.nn.Parameter(fb.ones(2)), fb.float32, fb.Size([1, 2])]
    back = again(value, {"pickle_module": module}, pickle_module=module)
    assert back[1].tolist() == [2, 3, 4, 5]
    back[0].fill_(1)
    assert back[1].tolist() == [1, 1, 1, 1]
    assert type(back[2]) is fb.nn.Parameter
    assert back[3:] == value[3:]


def test_files_that_take_a_part_at_a_time():
    class Slow(io.BytesIO):
        def write(self, data):
            return super().write(data[:7])

    file = Slow()
    fb.save({"x": fb.arange(100)}, file)
    assert fb.load(io.BytesIO(file.getvalue()))["x"].tolist() == list(range(100))
