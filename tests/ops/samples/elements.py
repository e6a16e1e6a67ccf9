"""Functions of every element."""

import numpy as np

from tests.ops.registry import errors, samples


def first(*elements):
    return elements[-1]


@samples("apply_", reference=lambda input, callable: input)
def apply_(make):
    yield make(2, 3), first
    yield make(), first


@samples("map_", reference=lambda input, tensor, callable: np.broadcast_to(tensor, input.shape))
def map_(make):
    yield make(2, 3), make(2, 3), first
    yield make(2, 3), make(3), first


@samples("map2_", reference=lambda input, x, y, callable: np.broadcast_to(y, input.shape))
def map2_(make):
    yield make(2, 3), make(2, 3), make(2, 3), first


@errors("map_")
def map_errors(make):
    yield (make(2), make(2, dtype="int32"), first), TypeError, "map_: expected a tensor of"
