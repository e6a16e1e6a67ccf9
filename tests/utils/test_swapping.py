"""Swapped tensors."""

from __future__ import annotations

import weakref

import pytest

import flambeau as fb
from flambeau.utils import swap_tensors


def test_everything_changes_places():
    layer = fb.nn.Linear(2, 3)
    weight = layer.weight
    weight.tag = "old"
    weight.grad = fb.ones(3, 2)
    plain = fb.zeros(4)
    swap_tensors(weight, plain)
    assert isinstance(plain, fb.nn.Parameter)
    assert (plain.tag, plain.shape) == ("old", (3, 2))
    assert plain.grad.tolist() == fb.ones(3, 2).tolist()
    assert type(layer.weight) is fb.Tensor
    assert layer.weight.tolist() == [0, 0, 0, 0]
    assert not hasattr(layer.weight, "tag")


def test_graphs_follow_the_elements():
    x, other = fb.ones(2, requires_grad=True), fb.zeros(2)
    y = (x * 3).sum()
    swap_tensors(x, other)
    y.backward()
    assert other.grad.tolist() == [3, 3]
    assert x.grad is None


def test_weak_references_forbid_it():
    x, other = fb.ones(2), fb.ones(2)
    reference = weakref.ref(x)
    with pytest.raises(RuntimeError, match="cannot swap t1, as it has weak references"):
        swap_tensors(x, other)
    assert reference() is x
