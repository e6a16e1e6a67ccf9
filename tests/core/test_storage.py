"""Storages of one element type, under their old names."""

from __future__ import annotations

import struct

import pytest

import flambeau as fb


def test_from_buffer():
    data = struct.pack("<4i", 1, -2, 3, 4)
    assert fb.IntStorage.from_buffer(data, "little").tolist() == [1, -2, 3, 4]
    assert fb.IntStorage.from_buffer(data, "little", 2, 4).tolist() == [-2, 3]
    assert fb.ByteStorage.from_buffer(b"abc").tolist() == [97, 98, 99]
    big = struct.pack(">2f", 1.5, -2.0)
    assert fb.FloatStorage.from_buffer(big, byte_order="big").tolist() == [1.5, -2.0]
    pair = fb.TypedStorage.from_buffer(big, byte_order="big", dtype=fb.complex64)
    assert pair.tolist() == [1.5 - 2.0j]
    assert fb.TypedStorage.from_buffer(b"", "native").size() == 0


def test_from_buffer_copies():
    data = bytearray(b"abc")
    storage = fb.ByteStorage.from_buffer(data)
    data[0] = 0
    assert storage[0] == 97


def test_from_buffer_refuses():
    with pytest.raises(RuntimeError, match="missing required argument 'byte_order'"):
        fb.FloatStorage.from_buffer(b"1234")
    with pytest.raises(ValueError, match="invalid byte_order 'middle'"):
        fb.FloatStorage.from_buffer(b"1234", "middle")
    with pytest.raises(ValueError, match="must be a multiple of element size"):
        fb.FloatStorage.from_buffer(b"12345", "native")
    with pytest.raises(ValueError, match="has only 4 bytes after offset 0, but 2 elements"):
        fb.FloatStorage.from_buffer(b"1234", "native", 2)


def test_constructors():
    assert fb.FloatStorage(3).size() == 3
    assert fb.LongStorage([1, 2]).tolist() == [1, 2]
    assert fb.TypedStorage().size() == 0
    assert fb.storage.TypedStorage([1.5, 2], dtype=fb.int64).tolist() == [1, 2]
    shared = fb.zeros(2)
    fb.FloatStorage(wrap_storage=shared.untyped_storage())[0] = 5.0
    assert shared.tolist() == [5, 0]
    with pytest.raises(RuntimeError, match="got 2 arguments"):
        fb.FloatStorage(1, 2)
    with pytest.raises(TypeError, match="invalid data type 'bytes'"):
        fb.ByteStorage(b"ab")


def test_the_old_classes_are_for_isinstance():
    storage = fb.zeros(2).storage()
    assert isinstance(storage, fb.FloatStorage)
    assert isinstance(storage, fb.storage.TypedStorage)
    assert not isinstance(storage, fb.DoubleStorage)
    assert fb.Storage is fb.FloatStorage
    assert storage.pickle_storage_type() == "FloatStorage"
    assert repr(fb.HalfStorage) == "<class 'torch.HalfStorage'>"
    assert fb.HalfStorage.dtype is fb.float16


def test_copies():
    storage = fb.tensor([1.5, 2.5]).storage()
    other = storage.clone()
    other.fill_(0)
    assert storage.tolist() == [1.5, 2.5]
    assert storage.to(fb.int32).tolist() == [1, 2]
    assert other.copy_(storage).tolist() == [1.5, 2.5]
    assert storage.cpu() is storage
    assert not storage.is_cuda


def test_storages_of_files(tmp_path):
    path = tmp_path / "bytes"
    path.write_bytes(bytes(range(8)))
    copied = fb.UntypedStorage.from_file(str(path), shared=False, nbytes=4)
    assert copied.tolist() == [0, 1, 2, 3]
    copied[0] = 9
    assert path.read_bytes()[0] == 0
    shared = fb.UntypedStorage.from_file(str(path), shared=True, nbytes=8)
    shared[0] = 9
    assert path.read_bytes()[0] == 9
    made = fb.UntypedStorage.from_file(str(tmp_path / "new"), shared=True, nbytes=16)
    assert made.nbytes() == 16
    with pytest.raises(RuntimeError, match="has 8 bytes, expected 9"):
        fb.UntypedStorage.from_file(str(path), nbytes=9)
