"""Pickling, copying and storages."""

from __future__ import annotations

import copy
import pickle
import sys

import pytest

import flambeau as fb

DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16"]
DTYPES += ["float32", "float64", "complex64", "complex128"]


class Tagged(fb.Tensor):
    pass


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip(dtype, protocol):
    tensor = fb.arange(6).reshape(2, 3).to(getattr(fb, dtype))
    back = pickle.loads(pickle.dumps(tensor, protocol))
    assert back.dtype == tensor.dtype
    assert back.tolist() == tensor.tolist()
    back.fill_(1)  # it is its own memory


@pytest.mark.parametrize("shape", [(), (0,), (2, 0)])
def test_special_shapes(shape):
    assert pickle.loads(pickle.dumps(fb.ones(shape))).shape == shape


def test_views_keep_their_strides_and_offset():
    view = fb.arange(12).reshape(3, 4)[1:, ::2].t()
    back = pickle.loads(pickle.dumps(view))
    assert back.stride() == view.stride()
    assert back.storage_offset() == view.storage_offset()
    assert back.tolist() == view.tolist()


@pytest.mark.parametrize("copied", [lambda x: pickle.loads(pickle.dumps(x)), copy.deepcopy])
def test_shared_memory_stays_shared(copied):
    base = fb.zeros(4)
    one, other = copied([base, base[2:]])
    one.fill_(1)
    assert other.tolist() == [1, 1]
    assert base.tolist() == [0, 0, 0, 0]


def test_out_of_band_buffers():
    tensor = fb.arange(1000.0)
    buffers = []
    data = pickle.dumps(tensor, protocol=5, buffer_callback=buffers.append)
    assert len(data) < 1000
    assert len(buffers) == 1
    assert pickle.loads(data, buffers=buffers).data_ptr() == tensor.data_ptr()


def test_copy_shares_and_deepcopy_does_not():
    tensor = fb.zeros(2)
    copy.copy(tensor).fill_(1)
    assert tensor.tolist() == [1, 1]
    copy.deepcopy(tensor).fill_(2)
    assert tensor.tolist() == [1, 1]


def test_deepcopy_of_one_object_is_one_object():
    tensor = fb.zeros(2)
    one, other = copy.deepcopy([tensor, tensor])
    assert one is other


def test_subclasses_and_their_attributes():
    tagged = fb.zeros(2).as_subclass(Tagged)
    tagged.label = ["a"]
    for back in (pickle.loads(pickle.dumps(tagged)), copy.deepcopy(tagged)):
        assert type(back) is Tagged
        assert back.label == ["a"]
        assert back.label is not tagged.label


def test_types_are_pickled_by_name():
    values = [fb.float32, fb.device("cpu"), fb.Size([2, 3]), fb.strided, fb.channels_last]
    assert pickle.loads(pickle.dumps(values)) == values


class TestStorage:
    def test_one_object_per_storage(self):
        tensor = fb.arange(4)
        storage = tensor.untyped_storage()
        assert tensor[1:].untyped_storage() is storage
        assert storage.nbytes() == len(storage) == 32
        assert storage.data_ptr() == tensor.data_ptr() == tensor[:2].storage().data_ptr()
        assert tensor.clone().untyped_storage() is not storage

    def test_bytes(self):
        storage = fb.tensor([1, 258], dtype=fb.int16).untyped_storage()
        assert storage.tolist() == [1, 0, 2, 1]
        storage[0] = 7
        assert storage[0] == 7
        assert storage.clone().fill_(0).tolist() == [0, 0, 0, 0]
        assert storage.tolist() == [7, 0, 2, 1]

    def test_resize(self):
        tensor = fb.ones(2)
        assert sys.getsizeof(tensor.untyped_storage()) >= tensor.untyped_storage().nbytes() > 0
        tensor.untyped_storage().resize_(40)
        assert tensor.untyped_storage().nbytes() >= 40
        assert tensor.tolist() == [1, 1]

    def test_typed(self):
        storage = fb.arange(4.0)[1:].storage()
        assert storage.tolist() == [0, 1, 2, 3]
        assert (storage.size(), storage.dtype, storage[2]) == (4, fb.float32, 2.0)
        assert fb.is_storage(storage)
        assert not fb.is_storage(fb.ones(1))

    def test_set(self):
        source = fb.arange(6.0)
        tensor = fb.empty(0)
        tensor.set_(source.untyped_storage(), 2, (2, 2), (2, 1))
        assert tensor.tolist() == [[2, 3], [4, 5]]
        tensor.fill_(0)
        assert source.tolist() == [0, 1, 0, 0, 0, 0]
        with pytest.raises(RuntimeError, match="beyond the storage"):
            tensor.set_(source.untyped_storage(), 3, (2, 2), (2, 1))
