"""Padding, which the functional interface is built on."""

import numpy as np
import pytest

from flambeau import _C, arange, from_numpy

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}


@pytest.mark.parametrize("mode", sorted(MODES))
@pytest.mark.parametrize(
    ("shape", "pad"),
    [((2, 5), (2, 3)), ((1, 2, 5), (0, 4)), ((2, 4, 5), (1, 2, 3, 0)), ((2, 3, 4, 5), (1,) * 6)],
    ids=str,
)
def test_modes(mode: str, shape: tuple[int, ...], pad: tuple[int, ...]) -> None:
    array = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    pairs = list(zip(pad[::2], pad[1::2], strict=True))[::-1]
    widths = [(0, 0)] * (len(shape) - len(pairs)) + pairs
    padded = _C._pad(from_numpy(array), pad, mode)
    np.testing.assert_array_equal(padded.numpy(), np.pad(array, widths, MODES[mode]))


def test_constant() -> None:
    assert _C._pad(arange(2), (1, 2), "constant", 7).tolist() == [7, 0, 1, 7, 7]
    assert _C._pad(arange(3), (-1, 1)).tolist() == [1, 2, 0]


@pytest.mark.parametrize(
    ("shape", "pad", "mode", "error", "message"),
    [
        ((1, 3), (3, 0), "reflect", RuntimeError, "smaller than the dimension's size 3"),
        ((1, 3), (4, 0), "circular", RuntimeError, "wrap around more than once"),
        ((3,), (1, 1), "reflect", NotImplementedError, "the last 1 to 3 dimensions"),
        ((1, 3), (1, 1), "mirror", NotImplementedError, "unrecognised padding mode 'mirror'"),
        ((1, 3), (1,), "reflect", RuntimeError, "pad must hold pairs"),
    ],
)
def test_errors(
    shape: tuple[int, ...], pad: tuple[int, ...], mode: str, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        _C._pad(arange(int(np.prod(shape))).view(shape), pad, mode)
