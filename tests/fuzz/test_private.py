"""Operators that others are made of: those that Python reaches refuse what does not fit."""

import os
import subprocess
import sys

import pytest

import flambeau
from flambeau import _C
from tests.fuzz.private_calls import private_operators

NAMES = sorted(private_operators())


@pytest.mark.parametrize("names", [NAMES[::2], NAMES[1::2]], ids=["first half", "second half"])
def test_mutated_arguments(names: list[str]) -> None:
    """Every operator takes some of the calls, so that they get beyond its checks."""
    count = int(os.environ.get("FUZZ_EXAMPLES", "100"))
    command = [sys.executable, "-m", "tests.fuzz.private_calls", str(count), *names]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"exit status {done.returncode} in {last}:\n{done.stderr}"
    assert last == ["never taken: "]


def test_inner_operators_are_not_reached_from_python() -> None:
    inner = [entry["name"] for entry in _C.op_info() if entry["forms"] == ["inner"]]
    assert len(inner) > 100
    for name in inner:
        assert not hasattr(_C, name)
        assert not hasattr(flambeau.Tensor, name)


def test_what_such_calls_found() -> None:
    ones = flambeau.ones
    with pytest.raises(RuntimeError, match="as many gradients"):
        _C._adafactor_step([ones(2)], [], [], [], [], 0.1, -0.8, None, 1e-3, 1.0, 0.0, False)
    with pytest.raises(RuntimeError, match=r"which a gradient of shape .* does not belong to"):
        flambeau.nn.grad.conv1d_input((2, 2, 6), ones(3, 2, 3), ones(2, 3, 5))
    with pytest.raises(RuntimeError, match=r"which a gradient of shape .* does not belong to"):
        flambeau.nn.grad.conv1d_weight(ones(2, 2, 6), (3, 2, 3), ones(2, 3, 2))
    for transform, last, dtype in ((_C._fft_r2c, True, "float32"), (_C._fft_c2r, 1, "complex64")):
        with pytest.raises(RuntimeError, match="at least one dimension"):
            transform(ones((), dtype=getattr(flambeau, dtype)), [], 1.0, last)
    with pytest.raises(RuntimeError, match="matrices with the same number of columns"):
        _C._euclidean_dist(ones(1, 4, 4), ones(1))
    nothing = flambeau.ones(2, 0, 5, 3, dtype=flambeau.uint8)
    assert _C._resize_bytes(nothing, 2**31 - 1, 4, "nearest", 2).shape == (2, 0, 2**31 - 1, 4)
