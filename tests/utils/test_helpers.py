"""Helpers of PyTorch's own that other packages call."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau import _utils
from flambeau.utils.file_baton import FileBaton
from flambeau.utils.mobile_optimizer import optimize_for_mobile


def test_flattened_tensors():
    tensors = [fb.arange(6.0).reshape(2, 3), fb.tensor(7.0), fb.zeros(0)]
    flat = _utils._flatten_dense_tensors(tensors)
    assert flat.tolist() == [0, 1, 2, 3, 4, 5, 7]
    for back, tensor in zip(_utils._unflatten_dense_tensors(flat, tensors), tensors, strict=True):
        assert back.shape == tensor.shape
        assert fb.equal(back, tensor)


def test_groups_of_one_type():
    tensors = [fb.ones(4), fb.ones(2, dtype=fb.int64), fb.ones(4), fb.ones(1)]
    groups = list(_utils._take_tensors(tensors, 20))
    assert [[each.numel() for each in group] for group in groups] == [[4], [4, 1], [2]]
    flat = [each for group in groups for each in group]
    back = _utils._reorder_tensors_as(flat, tensors)
    assert all(one is other for one, other in zip(back, tensors, strict=True))


def test_exceptions_are_raised_again():
    try:
        {}["key"]
    except KeyError:
        wrapper = _utils.ExceptionWrapper(where="in a thread")
    assert wrapper.exc_type is KeyError
    with pytest.raises(KeyError, match="Caught KeyError in a thread"):
        wrapper.reraise()


def test_device_index():
    assert _utils._get_device_index("cuda:1") == 1
    assert _utils._get_device_index(2) == 2
    assert _utils._get_device_index(fb.device("cpu"), allow_cpu=True) == -1
    with pytest.raises(ValueError, match="Expected a non cpu device"):
        _utils._get_device_index("cpu")
    with pytest.raises(ValueError, match="specified index or an integer"):
        _utils._get_device_index(None)


def test_class_property():
    class Owner:
        @_utils.classproperty
        def label(cls):
            return cls.__name__.lower()

    assert Owner.label == Owner().label == "owner"


def test_baton(tmp_path):
    path = tmp_path / "lock"
    first, second = FileBaton(path), FileBaton(path, 0.01)
    assert first.try_acquire()
    assert not second.try_acquire()
    first.release()
    second.wait()
    assert second.try_acquire()
    second.release()
    assert not path.exists()


def test_what_is_not_there_says_so():
    with pytest.raises(NotImplementedError, match="optimize_for_mobile: there is no mobile"):
        optimize_for_mobile(None)
    with pytest.raises(NotImplementedError, match=r"nested_tensor: .*pad_sequence"):
        fb.nested.nested_tensor([fb.ones(2), fb.ones(3)])
