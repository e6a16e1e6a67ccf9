"""Samples of linear maps of the last dimension."""

import numpy as np

from tests.ops.registry import call, errors, samples
from tests.ops.samples.matmul import LOW


def _linear(input, weight, bias=None):
    product = input @ weight.swapaxes(-1, -2) if weight.ndim > 1 else input @ weight
    return product if bias is None else product + bias


@samples("nn.functional.linear", reference=_linear, tolerance=LOW)
def linear(make):
    yield make(2, 3), make(4, 3), make(4)
    yield make(2, 3), make(4, 3)
    yield call(make(2, 3), make(4, 3), bias=make(4))
    yield make(3), make(4, 3), make(4)  # a single row
    yield make(3), make(4, 3)
    yield make(2, 3, 4), make(5, 4), make(5)
    yield make(2, 1, 3, 4), make(5, 4)
    yield make(2, 3, 4).transposed(), make(5, 4).transposed(), make(5).strided()
    yield make(2, 3, 4).strided(), make(5, 4).strided()
    yield make(1, 3, 4).expanded(2, 3, 4), make(5, 4), make(1).expanded(5)
    yield make(0, 3), make(4, 3), make(4)
    yield make(2, 0), make(4, 0), make(4)
    yield make(2, 0), make(4, 0)
    yield make(2, 3), make(0, 3), make(0)
    yield make(2, 3), make(3)  # a vector as weight
    yield make(2, 3), make(4, 3), make(1)  # biases that broadcast
    yield make(2, 3), make(4, 3), make(2, 1)
    yield make(2, 3, low=0, high=1), make(4, 3, low=0, high=1), make()
    yield make(40, 33), make(50, 33), make(50)
    yield make(70, 65, low=0, high=1), make(90, 65, low=0, high=1), make(90)
    yield make(1, 300, low=0, high=1), make(40, 300, low=0, high=1), make(40)
    yield make(1, 20), make(30, 20), make(30)  # one row, short sums
    yield make(50, 40, low=0, high=1), make(1, 40, low=0, high=1), make(1)  # one column


@errors("nn.functional.linear")
def linear_errors(make):
    shapes = "mat1 and mat2 shapes cannot be multiplied (2x3 and 5x4)"
    yield (make(2, 3), make(4, 5)), RuntimeError, shapes
    yield (make(2, 3), make(4, 5), make(4)), RuntimeError, "input of shape (2, 3)"
    yield (make(2, 3, 3), make(4, 5)), RuntimeError, "(6x3 and 5x4)"
    yield (make(2, 3), make(4, 3), make(5)), RuntimeError, "bias of shape (5,)"
    yield (make(), make(4, 3)), RuntimeError, "need at least 1 dimension"
    yield (make(2, 3), make(2, 4, 3)), RuntimeError, "weight must be a matrix"
    yield (make(2, 3), make(3), make(1)), RuntimeError, "with a bias, weight must be a matrix"
    other = "float64" if make.dtype != "float64" else "float32"
    yield (make(2, 3), make(4, 3, dtype=other)), RuntimeError, "same dtype"
    yield (make(2, 3), make(4, 3), make(4, dtype=other)), RuntimeError, "dtype of input"


def _bilinear(input1, input2, weight, bias=None):
    forms = np.einsum("...i,oij,...j->...o", input1, weight, input2)
    return forms if bias is None else forms + bias


@samples("bilinear", reference=_bilinear, tolerance=LOW)
def bilinear(make):
    yield make(5, 3), make(5, 4), make(6, 3, 4), make(6)
    yield make(5, 3), make(5, 4), make(6, 3, 4)
    yield make(3), make(4), make(2, 3, 4), make(2)
    yield make(2, 5, 3), make(2, 5, 4), make(6, 3, 4).transposed(), make(6)
    yield make(0, 3), make(0, 4), make(6, 3, 4)


@errors("bilinear")
def bilinear_errors(make):
    weight = make(6, 3, 4)
    yield (make(5, 2), make(5, 4), weight), RuntimeError, "expected 3 features, got 2"
    yield (make(5, 3), make(5, 5), weight), RuntimeError, "expected 4 features, got 5"
    yield (make(5, 3), make(6, 4), weight), RuntimeError, "differ before the last dimension"
    yield (make(5, 3), make(4), weight), RuntimeError, "different numbers of dimensions"
    yield (make(5, 3), make(5, 4), make(6, 3)), IndexError, "expected weight to be (out, in1, in2)"
    yield (make(5, 3), make(5, 4), weight, make(5)), RuntimeError, "expected bias of shape (6"
