"""Safetensors files."""

from __future__ import annotations

import json
import random
import struct

import pytest

import flambeau as fb
from flambeau.serialization import safetensors
from flambeau.serialization.safetensors import SafetensorError

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64"]


def file_of(header, data=b"", size=None):
    """A file with any header."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if size is None else size) + text + data


def entry(dtype="F32", shape=(4,), offsets=(0, 16)):
    return {"dtype": dtype, "shape": shape, "data_offsets": offsets}


class TestRoundTrip:
    @pytest.mark.parametrize("dtype", DTYPES)
    @pytest.mark.parametrize("shape", [(), (3,), (2, 3), (0, 2)])
    def test_values(self, dtype, shape):
        tensor = fb.ones(shape).cumsum(0).to(getattr(fb, dtype)) if shape else fb.tensor(1)
        tensor = tensor.to(getattr(fb, dtype))
        back = safetensors.load(safetensors.save({"x": tensor}))["x"]
        assert (back.dtype, back.shape, back.tolist()) == (
            tensor.dtype,
            tensor.shape,
            tensor.tolist(),
        )
        back.fill_(0)

    def test_files(self, tmp_path):
        tensors = {"a": fb.arange(6.0).reshape(2, 3), "ü": fb.arange(4, dtype=fb.bfloat16)}
        safetensors.save_file(tensors, tmp_path / "x.safetensors", {"format": "pt"})
        back = safetensors.load_file(tmp_path / "x.safetensors")
        assert sorted(back) == ["a", "ü"]
        assert fb.equal(back["a"], tensors["a"])
        assert fb.equal(back["ü"], tensors["ü"])

    def test_part_of_a_storage(self):
        x = fb.arange(10.0)
        assert safetensors.load(safetensors.save({"x": x[3:5]}))["x"].tolist() == [3, 4]

    def test_nothing(self):
        assert safetensors.load(safetensors.save({})) == {}

    def test_models(self, tmp_path):
        net = fb.nn.Sequential(fb.nn.Linear(3, 3), fb.nn.Linear(3, 3))
        net[1].weight = net[0].weight
        safetensors.save_model(net, tmp_path / "x")
        other = fb.nn.Sequential(fb.nn.Linear(3, 3), fb.nn.Linear(3, 3))
        assert safetensors.load_model(other, tmp_path / "x") == ([], [])
        assert fb.equal(other[1].weight, net[0].weight)
        assert fb.equal(other[1].bias, net[1].bias)


class TestOpen:
    @pytest.fixture
    def path(self, tmp_path):
        tensors = {"b": fb.arange(12.0).reshape(3, 4), "a": fb.arange(3)}
        safetensors.save_file(tensors, tmp_path / "x", {"k": "v"})
        return tmp_path / "x"

    def test_by_name(self, path):
        with safetensors.safe_open(path, framework="pt", device="cpu") as file:
            assert file.keys() == file.offset_keys() == ["a", "b"]
            assert file.metadata() == {"k": "v"}
            assert file.get_tensor("a").tolist() == [0, 1, 2]
            with pytest.raises(SafetensorError, match="does not contain tensor c"):
                file.get_tensor("c")

    def test_slices(self, path):
        with safetensors.safe_open(path) as file:
            part = file.get_slice("b")
            assert (part.get_shape(), part.get_dtype()) == ([3, 4], "F32")
            row = part[1:2, ::2]
        assert row.tolist() == [[4, 6]]
        row.fill_(0)
        assert safetensors.load_file(path)["b"][1].tolist() == [4, 5, 6, 7]

    def test_misaligned_tensors(self, tmp_path):
        """Nothing in the format asks for alignment."""
        header = {"a": entry("U8", [1], [0, 1]), "b": entry("F32", [2], [1, 9])}
        (tmp_path / "x").write_bytes(file_of(header, b"\x07" + struct.pack("<2f", 1.5, 2.5)))
        with safetensors.safe_open(tmp_path / "x") as file:
            assert file.get_slice("b")[:].tolist() == [1.5, 2.5]
            assert file.get_tensor("b").tolist() == [1.5, 2.5]

    def test_other_frameworks(self, path):
        with pytest.raises(SafetensorError, match="framework"):
            safetensors.safe_open(path, framework="np")


class TestMistakes:
    def test_non_contiguous(self):
        with pytest.raises(ValueError, match=r"non contiguous tensor: `x`.*contiguous\(\)"):
            safetensors.save({"x": fb.ones(2, 3).t()})

    def test_shared_memory(self):
        x = fb.ones(4)
        with pytest.raises(RuntimeError, match=r"share memory.*'a', 'b'"):
            safetensors.save({"a": x, "b": x[2:]})
        safetensors.save({"a": x[:2], "b": x[2:]})

    @pytest.mark.parametrize("bad", [[fb.ones(1)], {"x": 3}, {"x": fb.ones(1).cdouble()}])
    def test_what_is_no_dictionary_of_tensors(self, bad):
        with pytest.raises(ValueError, match=r"dictionary|expected a tensor|not in the format"):
            safetensors.save(bad)

    def test_types(self):
        with pytest.raises(TypeError, match="names must be strings"):
            safetensors.save({1: fb.ones(1)})
        with pytest.raises(TypeError, match="metadata"):
            safetensors.save({"x": fb.ones(1)}, {"epoch": 3})

    def test_a_failed_save_leaves_the_old_file(self, tmp_path):
        safetensors.save_file({"x": fb.ones(1)}, tmp_path / "x")
        with pytest.raises(TypeError):
            safetensors.save_file({"x": fb.zeros(1)}, tmp_path / "x", {"a": 1})
        assert safetensors.load_file(tmp_path / "x")["x"].item() == 1
        assert len(list(tmp_path.iterdir())) == 1


FLOATS = bytes(16)
BAD = {
    "empty": b"",
    "short": b"\x00" * 7,
    "header longer than the file": file_of({}, size=1000),
    "header of absurd length": file_of({}, size=2**63),
    "header not UTF-8": file_of(b'{"\xff": 1}'),
    "header not JSON": file_of(b"{"),
    "header not an object": file_of([]),
    "header with spaces in front": file_of(b" {}"),
    "nesting": file_of(b'{"x":' + b"[" * 100_000),
    "digits": file_of(b'{"x": ' + b"9" * 100_000 + b"}"),
    "nan": file_of(b'{"x": NaN}'),
    "two entries of one name": file_of(b'{"__metadata__":{"a":"b","a":"c"}}'),
    "metadata of numbers": file_of({"__metadata__": {"a": 1}}),
    "entry not an object": file_of({"x": 1}),
    "entry with a part missing": file_of({"x": {"dtype": "F32", "shape": [4]}}, FLOATS),
    "entry with a part more": file_of({"x": {**entry(), "more": 1}}, FLOATS),
    "unknown type": file_of({"x": entry("F33")}, FLOATS),
    "type not text": file_of({"x": entry(["F32"])}, FLOATS),
    "negative size": file_of({"x": entry(shape=[-4])}, FLOATS),
    "fractional size": file_of({"x": entry(shape=[4.0])}, FLOATS),
    "size not a list": file_of({"x": entry(shape=4)}, FLOATS),
    "size that overflows": file_of({"x": entry(shape=[2**62, 8])}, FLOATS),
    "size that does not fit": file_of({"x": entry(shape=[5])}, FLOATS),
    "offsets backwards": file_of({"x": entry(offsets=[16, 0])}, FLOATS),
    "offsets outside": file_of({"x": entry(offsets=[16, 32])}, FLOATS),
    "three offsets": file_of({"x": entry(offsets=[0, 16, 16])}, FLOATS),
    "overlap": file_of({"x": entry(), "y": entry()}, FLOATS),
    "gap": file_of({"x": entry(), "y": entry(offsets=[20, 36])}, FLOATS * 3),
    "bytes that belong to nothing": file_of({"x": entry()}, FLOATS + b"x"),
    "bytes missing": file_of({"x": entry()}, FLOATS[:-1]),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_bad_files(data, tmp_path):
    (tmp_path / "bad").write_bytes(data)
    with pytest.raises(SafetensorError, match="bad"):
        safetensors.load_file(tmp_path / "bad")
    with pytest.raises(SafetensorError, match="given bytes"):
        safetensors.load(data)


def test_missing_element_types_are_named():
    data = file_of({"x": entry("U32"), "y": entry("F32", [1], [16, 20])}, FLOATS + bytes(4))
    with pytest.raises(SafetensorError, match="U32"):
        safetensors.load(data)


def test_changed_bytes():
    generator = random.Random(0)
    data = safetensors.save({"a": fb.ones(3), "b": fb.arange(4)}, {"k": "v"})
    for _ in range(2000):
        changed = bytearray(data)
        for _ in range(generator.choice((1, 3))):
            changed[generator.randrange(len(changed))] = generator.randrange(256)
        try:
            loaded = safetensors.load(bytes(changed))
        except SafetensorError:
            continue
        assert all(isinstance(tensor, fb.Tensor) for tensor in loaded.values())
