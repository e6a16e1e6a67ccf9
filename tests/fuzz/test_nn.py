"""Layers and functions refuse bad arguments: none may crash the interpreter or hang."""

import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

import flambeau
import flambeau.nn.functional as F
from flambeau import _C, nn

FAMILIES = {
    "windows": "conv fold pool",
    "images": "resample padding norm",
    "sequences": "embedding rnn attention linear",
    "elements": "loss distance dropout activation softmax",
}


@pytest.mark.parametrize("families", FAMILIES.values(), ids=FAMILIES)
def test_mutated_arguments(families: str) -> None:
    count = int(os.environ.get("FUZZ_EXAMPLES", "100")) // 20
    command = [sys.executable, "-m", "tests.fuzz.calls", str(count), *families.split()]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"exit status {done.returncode} in {last}:\n{done.stderr}"
    assert last, "no operator was called"


def images(*shape: int) -> Any:
    return flambeau.randn(*(shape or (2, 4, 6, 6)))


# What such calls found: a fault, a hang or a complaint of the standard library each.
REFUSED: dict[str, Callable[[], Any]] = {
    "a kernel whose extent overflows": lambda: F.max_pool2d(images(), 2**63 - 1),
    "a window of more places than memory": lambda: F.max_pool2d(
        images(), 2**31 - 1, padding=2**30 - 1
    ),
    "more columns than int64 counts": lambda: F.unfold(images(), 2**31 - 1, padding=2**30),
    "a square that overflows to zero": lambda: flambeau.pixel_shuffle(images(), 2**32),
    "pads whose sum overflows": lambda: F.pad(
        images(2, 4, 6), (-(2**63), -(2**63)), mode="reflect"
    ),
    "a border longer than memory": lambda: F.pad(images(2, 4, 6), (2**40, 0), mode="replicate"),
    "an affine grid of no size": lambda: flambeau.affine_grid_generator(images(1, 2, 3), (), False),
    "samples that are no fractions": lambda: F.fractional_max_pool2d(
        images(), 2, output_size=4, _random_samples=flambeau.full((2, 4, 2), 1e18)
    ),
    "samples that are no numbers": lambda: F.fractional_max_pool2d(
        images(), 2, output_size=4, _random_samples=flambeau.full((2, 4, 2), float("nan"))
    ),
    "a factor that is no number": lambda: F.interpolate(images(), scale_factor=float("nan")),
    "a size beyond all memory": lambda: F.interpolate(images(), size=2**31 - 1),
    "outputs beyond all counting": lambda: F.adaptive_avg_pool2d(images(), 2**62),
    "steps of a packed batch that grows": lambda: _C._pad_packed_sequence(
        images(7, 2), flambeau.tensor([1, 4, 2]), True, 0.0, 3
    ),
    "more steps than are packed": lambda: _C._pad_packed_sequence(
        images(7, 2), flambeau.tensor([2**62, 4, 2]), True, 0.0, 3
    ),
    "samples that the input does not have": lambda: flambeau.native_group_norm(
        images(2, 6, 3), None, None, 6, 6, 1, 3, 1e-5
    ),
    "a step beyond all counting": lambda: F.conv2d(images(), images(3, 4, 3, 3), stride=2**62),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(RuntimeError, match=r"expected|must|range|more|memory|gives|longer than"):
        call()


def test_long_borders_are_refused_alike_on_every_machine() -> None:
    """Whether memory for them can be had depends on the machine; their length does not."""
    x = images(2, 4, 6)
    with pytest.raises(RuntimeError, match=r"of size 6 longer than 2\^31"):
        F.pad(x, (2**40, 0), mode="replicate")
    with pytest.raises(RuntimeError, match="smaller than the dimension's size 6"):
        F.pad(x, (2**40, 0), mode="reflect")
    with pytest.raises(RuntimeError, match="wrap around more than once"):
        F.pad(x, (2**40, 0), mode="circular")


@pytest.mark.parametrize("dtype", [flambeau.float32, flambeau.bfloat16])
def test_long_steps_lead_nowhere(dtype: Any) -> None:
    """One window is left, with gradients as if the step were short."""
    x, weight = images(2, 4, 5, 6).to(dtype).requires_grad_(), images(3, 4, 3, 3).to(dtype)
    for stride in (6, 2**31 - 1):
        (gradient,) = flambeau.autograd.grad(F.conv2d(x, weight, stride=stride).sum(), x)
        assert flambeau.equal(gradient[:, :, :3, :3], weight.sum(0).expand(2, 4, 3, 3))
        assert not gradient[:, :, 3:].any()


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_indices_without_bags(mode: str) -> None:
    weight = images(4, 3).requires_grad_()
    indices, offsets = flambeau.tensor([1, 2, 3, 1]), flambeau.zeros(0, dtype=flambeau.int64)
    result = F.embedding_bag(indices, weight, offsets, mode=mode, padding_idx=1)
    assert result.shape == (0, 3)
    result.sum().backward()
    assert not weight.grad.any()


def test_only_classes_of_modules_are_adopted() -> None:
    for value in (5, int, None):
        with pytest.raises(TypeError, match="class of modules"):
            _C._adopt_module_class(value)


def test_a_name_that_drops_the_members_it_is_compared_with() -> None:
    class Name(str):
        __slots__ = ()

        def __hash__(self) -> int:
            return hash("weight")

        def __eq__(self, other: object) -> bool:
            module.__dict__.clear()
            return False

    module = nn.Linear(2, 2)
    with pytest.raises(AttributeError):
        getattr(module, Name("weight"))
