"""Weak references to tensors."""

from __future__ import annotations

import gc

import pytest

import flambeau as fb
from flambeau.utils.weak import TensorWeakRef, WeakIdKeyDictionary, WeakTensorKeyDictionary


def test_keys_are_compared_by_identity():
    one, other = fb.ones(2), fb.ones(2)
    table = WeakTensorKeyDictionary({one: "a"})
    assert table[one] == "a"
    assert other not in table
    table[other] = "b"
    assert {id(key): value for key, value in table.items()} == {id(one): "a", id(other): "b"}
    del table[one]
    assert len(table) == 1
    assert table.copy()[other] == "b"
    assert 3 not in table  # which cannot be referred to weakly


def test_entries_go_with_their_keys():
    table = WeakIdKeyDictionary()
    key = fb.ones(2)
    table[key] = 1
    del key
    gc.collect()
    assert len(table) == 0


def test_reference():
    tensor = fb.ones(2)
    reference = TensorWeakRef(tensor)
    assert reference() is tensor
    del tensor
    gc.collect()
    assert reference() is None
    with pytest.raises(TypeError, match="expected a tensor, got int"):
        TensorWeakRef(3)
