"""Initial values against torch: the same seed gives the same numbers, bit for bit."""

import itertools
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import flambeau

FILLS = (
    ("uniform_", (-1.0, 2.0)),
    ("normal_", (1.0, 0.5)),
    ("trunc_normal_", ()),
    ("trunc_normal_", (0.0, 0.02)),
    ("trunc_normal_", (0.0, 1.0, 0.5, 2.0)),
    ("trunc_normal_", (3.0, 1.0, -2.0, 2.0)),
    ("xavier_uniform_", (2.0,)),
    ("xavier_normal_", ()),
    ("kaiming_uniform_", (0.3, "fan_out")),
    ("kaiming_normal_", (0.0, "fan_in", "relu")),
    ("orthogonal_", (1.5,)),
    ("sparse_", (0.3,)),
    ("eye_", ()),
    ("dirac_", ()),
    ("dirac_", (2,)),
    ("constant_", (0.7,)),
)
SHAPES = ((3, 5), (5, 3), (16, 16), (7, 4, 3), (6, 4, 3, 3), (6, 4, 2, 3, 3), (100, 200), (0, 3))
DTYPES = ("float32", "float64", "bfloat16", "float16")


def filled(t: Any, name: str, args: Any, shape: Any, dtype: str) -> Any:
    """The values and the next random number, or the class of the error."""
    t.manual_seed(5)
    weight = t.zeros(*shape, dtype=getattr(t, dtype))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of no elements, and of a mean far outside
        try:
            getattr(t.nn.init, name)(weight, *args)
        except (RuntimeError, ValueError) as error:
            return type(error)
    return weight.double().numpy(), t.rand(1).item()


@pytest.mark.parametrize(("name", "args"), FILLS, ids=lambda each: str(each))
def test_values(name: str, args: Any) -> None:
    for shape, dtype in itertools.product(SHAPES, DTYPES):
        ours, theirs = (filled(t, name, args, shape, dtype) for t in (flambeau, torch))
        case = f"{name}{args} of {shape}, {dtype}"
        if isinstance(theirs, type):
            assert isinstance(ours, type), case
            assert issubclass(theirs, ours), case
            continue
        # A QR decomposition is not the same to the last bit in two libraries.
        rtol, atol = (1e-4, 1e-5) if name == "orthogonal_" else (0, 0)
        np.testing.assert_allclose(ours[0], theirs[0], rtol, atol, err_msg=case)
        assert ours[1] == theirs[1], case


@pytest.mark.parametrize("name", [name for name, _ in FILLS[:9]])
def test_generators(name: str) -> None:
    ours, theirs = (
        getattr(t.nn.init, name)(t.empty(4, 5), generator=t.Generator().manual_seed(3)).numpy()
        for t in (flambeau, torch)
    )
    np.testing.assert_array_equal(ours, theirs)


def test_gains() -> None:
    for name in ("linear", "conv2d", "conv_transpose1d", "sigmoid", "tanh", "relu", "selu"):
        assert flambeau.nn.init.calculate_gain(name) == torch.nn.init.calculate_gain(name)
    for slope in (None, 0, 0.2, 3):
        ours = flambeau.nn.init.calculate_gain("leaky_relu", slope)
        assert ours == torch.nn.init.calculate_gain("leaky_relu", slope)
