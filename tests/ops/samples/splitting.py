"""Splitting into views."""

import numpy as np

from tests.ops.registry import call, errors, samples


def split(function):
    def reference(input, indices_or_sections, dim=0):
        return tuple(function(input, indices_or_sections, dim))

    return reference


@samples("tensor_split", reference=split(np.array_split))
def tensor_split(make):
    yield make(7), 3
    yield make(7), (1, 3, 9)
    yield make(2), 4
    yield call(make(2, 6), 2, dim=1)
    yield call(make(2, 6), (2, 4), dim=-1)
    yield make(7), (-2,)


@errors("tensor_split")
def tensor_split_errors(make):
    yield (make(7), 0), RuntimeError, "larger than 0"
    yield (make(), 2), RuntimeError, "at least a 1-dimensional"
    yield (make(2, 2), 2, 5), IndexError, "5"


@samples("hsplit", reference=lambda x, cuts: tuple(np.hsplit(x, cuts)))
def hsplit(make):
    yield make(2, 4), 2
    yield make(4), [1, 3]


@samples("vsplit", reference=lambda x, cuts: tuple(np.vsplit(x, cuts)))
def vsplit(make):
    yield make(4, 2), 2
    yield make(4, 2), [1, 3]


@samples("dsplit", reference=lambda x, cuts: tuple(np.dsplit(x, cuts)))
def dsplit(make):
    yield make(2, 1, 4), 2
    yield make(2, 1, 4), [1, 3]


@errors("hsplit", "vsplit", "dsplit")
def even_split_errors(make):
    yield (make(5, 5, 5), 2), RuntimeError, "not divisible by 2"
    yield (make(), 1), RuntimeError, "requires a tensor with at least"
