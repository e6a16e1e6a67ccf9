"""Every operator of the table on the device `shadow`: it computes there, or refuses by name."""

from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from tests.ops.check import assert_identical, outputs
from tests.ops.make import to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators
from tests.shadow.moving import check_no_access, devices_of, map_tensors, to_host, to_shadow

TABLE = operators()
SAMPLES = all_samples()
SAMPLED = sorted(set(TABLE) & set(SAMPLES))
# Their elements are whatever was there before, or they bring tensors to the host.
UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize"}
ABOUT_THE_HOST = {"cpu", "to"}
# What no kernel of the device is there for: `operator: reason`. The list may only become shorter.
REFUSED = dict(
    line.split(": ", 1)
    for line in Path(__file__).with_name("refused.txt").read_text().splitlines()
    if line
)


def dtype_of(operator: Operator) -> str:
    chosen = SAMPLES[operator.name].dtypes
    available = [each for each in operator.dtypes if chosen is None or each in chosen]
    return "float32" if "float32" in available else available[0]


def arguments(sample: Sample) -> tuple[Any, Any]:
    return to_module(fb, sample.args), to_module(fb, sample.kwargs)


def run(operator: Operator, args: Any, kwargs: Any) -> Any:
    fb.manual_seed(0)
    return operator.call(fb, args, kwargs)


COMPARED = [n for n in SAMPLED if n not in {*REFUSED, *UNINITIALISED, "numpy", "get_device"}]


@pytest.mark.parametrize("name", COMPARED)
def test_an_operator_computes_on_the_device(name: str) -> None:
    operator = TABLE[name]
    for sample in SAMPLES[name].of_dtype(dtype_of(operator)):
        args, kwargs = arguments(sample)
        expected = run(operator, args, kwargs)
        args, kwargs = to_shadow(arguments(sample))
        try:
            result = run(operator, args, kwargs)
        finally:
            check_no_access(f"{name}{sample}")
        if devices_of((args, kwargs)) == {"shadow"} and name not in ABOUT_THE_HOST:
            assert devices_of(result) <= {"shadow"}, f"{name}{sample} is on {devices_of(result)}"
        for ours, theirs in zip(outputs(to_host(result)), outputs(to_host(expected)), strict=True):
            assert_identical(ours, theirs, f"{name}{sample}")


def test_refusals_are_those_of_the_list(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{len(SAMPLED)} operators on shadow, {len(REFUSED)} of them refused")
    for name in sorted(REFUSED):
        operator = TABLE[name]
        for sample in SAMPLES[name].of_dtype(dtype_of(operator)):
            with pytest.raises(NotImplementedError, match="no kernel on shadow"):
                run(operator, *to_shadow(arguments(sample)))
            check_no_access(f"{name}{sample}")


def differentiable(name: str) -> bool:
    return any(each not in ("none", "") for each in TABLE[name].gradients)


@pytest.mark.parametrize("name", [n for n in COMPARED if differentiable(n)])
def test_gradients_are_computed_on_the_device(name: str) -> None:
    operator = TABLE[name]
    for sample in SAMPLES[name].of_dtype(dtype_of(operator)):
        if not sample.differentiable:
            continue
        here = gradients(operator, *arguments(sample))
        there = gradients(operator, *to_shadow(arguments(sample)))
        check_no_access(f"{name}{sample}")
        assert (here is None) == (there is None), f"{name}{sample}: refused on one device alone"
        if here is None or there is None:
            continue
        for ours, theirs in zip(there, here, strict=True):
            if theirs is None:
                assert ours is None
                continue
            assert ours.device.type == "shadow"
            assert_identical(ours.cpu(), theirs, f"{name}{sample}")


def gradients(operator: Operator, args: Any, kwargs: Any) -> list[Any] | None:
    """Of the sum of all results, by every floating-point input; None where they are refused."""
    leaves: list[Any] = []

    def leaf(t: Any) -> Any:
        if not (t.is_floating_point() or t.is_complex()):
            return t
        leaves.append(t.detach().requires_grad_())
        return leaves[-1]

    try:
        result = run(operator, map_tensors(leaf, args), map_tensors(leaf, kwargs))
        parts = [t for t in outputs(result) if isinstance(t, fb.Tensor) and t.requires_grad]
        if not parts:
            return []
        total = sum((t.abs() if t.is_complex() else t).sum() for t in parts)
        return list(fb.autograd.grad(total, leaves, allow_unused=True))
    except RuntimeError:  # a leaf that is changed, an argument that has no gradient
        return None
