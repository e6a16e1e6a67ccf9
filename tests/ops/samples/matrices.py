"""Small operators on matrices."""

import numpy as np

from tests.ops.registry import errors, samples


@samples("adjoint", reference=lambda x: np.swapaxes(x, -1, -2).conj())
def adjoint(make):
    yield make(2, 3)
    yield make(4, 2, 3)


@errors("adjoint")
def adjoint_errors(make):
    yield (make(3),), RuntimeError, "adjoint: "


@samples("trace", reference=np.trace)
def trace(make):
    yield make(3, 3)
    yield make(2, 4)
    yield make(0, 3)


@errors("trace")
def trace_errors(make):
    yield (make(3),), RuntimeError, "trace: expected a matrix"


def filled(input, fill_value, wrap=False):
    input = input.copy()
    np.fill_diagonal(input, fill_value, wrap)
    return input


@samples("fill_diagonal_", reference=filled)
def fill_diagonal_(make):
    yield make(3, 3), 1
    yield make(2, 4), 1
    yield make(3, 3, 3), 1
    yield make(3, 5).transposed(), 1


@errors("fill_diagonal_")
def fill_diagonal_errors(make):
    yield (make(3), 1), RuntimeError, "fill_diagonal_: "
    yield (make(2, 3, 2), 1), RuntimeError, "fill_diagonal_: "
