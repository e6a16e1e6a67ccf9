"""Padding as users see it."""

import numpy as np
import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize("layout", ["contiguous_format", "channels_last"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bfloat16"])
def test_images(mode: str, layout: str, dtype: str) -> None:
    x = torch.arange(2 * 3 * 6 * 7).view(2, 3, 6, 7) % 200
    x = x.to(getattr(torch, dtype)).contiguous(memory_format=getattr(torch, layout))
    expected = np.pad(x.float().numpy(), [(0, 0), (0, 0), (1, 4), (5, 2)], MODES[mode])
    np.testing.assert_array_equal(F.pad(x, (5, 2, 1, 4), mode).float().numpy(), expected)


def test_borders_get_the_gradients_of_their_copies() -> None:
    x = torch.zeros(1, 4, requires_grad=True)
    F.pad(x, (2, 1), "reflect").sum().backward()
    assert x.grad.tolist() == [[1, 2, 3, 1]]
    x.grad = None
    F.pad(x, (2, 1), "replicate").sum().backward()
    assert x.grad.tolist() == [[3, 1, 1, 2]]
    x.grad = None
    F.pad(x, (2, 1), "circular").sum().backward()
    assert x.grad.tolist() == [[2, 1, 2, 2]]


def test_layers_take_one_width_or_pairs() -> None:
    x = torch.rand(1, 1, 3, 3)
    assert nn.ZeroPad2d(1)(x).shape == (1, 1, 5, 5)
    assert nn.ReflectionPad2d((1, 0, 0, 2))(x).shape == (1, 1, 5, 4)
    assert repr(nn.ConstantPad1d(2, 3.5)) == "ConstantPad1d(padding=(2, 2), value=3.5)"
    assert repr(nn.CircularPad2d(1)) == "CircularPad2d((1, 1, 1, 1))"


def test_graph_names() -> None:
    x = torch.rand(1, 2, 4, 4, requires_grad=True)
    assert F.pad(x, (1, 1, 1, 1), "reflect").grad_fn.name() == "ReflectionPad2DBackward0"
    assert F.pad(x[0], (1, 1), "replicate").grad_fn.name() == "ReplicationPad1DBackward0"
    assert F.pad(x, (1, 1)).grad_fn.name() == "ConstantPadNdBackward0"


@pytest.mark.parametrize(
    ("pad", "mode", "error", "message"),
    [
        ((1,), "constant", RuntimeError, r"pad: pad must hold pairs, got \(1,\)"),
        ((4, 0, 0, 0), "reflect", RuntimeError, "dimension's size 4, got 4 and 0"),
        ((5, 0, 0, 0), "circular", RuntimeError, "wrap around more than once"),
        ((1, 1), "reflect", NotImplementedError, r"got pad \(1, 1\) and shape \(1, 2, 4, 4\)"),
        ((1, 1), "mirror", NotImplementedError, "unrecognised padding mode 'mirror'"),
    ],
)
def test_messages(pad, mode, error, message) -> None:
    with pytest.raises(error, match=message):
        F.pad(torch.rand(1, 2, 4, 4), pad, mode)
