"""Every `out=` form against torch: types, shapes and windows that a result may be stored in."""

import warnings
from typing import Any

import pytest
import torch

import flambeau
from tests.ops.check import assert_values, dtype_name, is_tensor, to_numpy
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
NAMES = [
    name
    for name in sorted(set(TABLE) & set(SAMPLES))
    if "out" in TABLE[name].function_forms and not TABLE[name].random and SAMPLES[name].values
]
TYPES = ["bool", "uint8", "int64", "float16", "float32", "float64", "complex64"]
SOME = 3  # samples of an operator: the rule does not depend on the values


def samples_of(name: str, dtypes: tuple[str, ...] = ("float32", "int64", "complex64")) -> list[Any]:
    """The first calls in each dtype that torch computes, with its result."""
    found = []
    for dtype in dtypes:
        if dtype not in TABLE[name].dtypes:
            continue
        for sample in SAMPLES[name].where_sensible(dtype)[:SOME]:
            expected = run(torch, TABLE[name], sample, {})
            if is_tensor(expected) and "out" not in sample.kwargs:
                found.append((sample, expected))
    return found


def run(t: Any, operator: Operator, sample: Sample, more: dict[str, Any]) -> Any:
    """The sample's call in module `t`, or the exception that it raised."""
    t.manual_seed(0)
    args, kwargs = to_module(t, sample.args), to_module(t, sample.kwargs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return operator.call(t, args, {**kwargs, **more})
    except Exception as error:
        return error


def assert_alike(ours: Any, theirs: Any, what: str, tolerance: tuple[float, float]) -> None:
    if isinstance(theirs, Exception):
        assert isinstance(ours, Exception), f"{what}: torch refuses it: {theirs}"
        if not isinstance(theirs, NotImplementedError):  # ours may be a kernel that torch has not
            assert isinstance(ours, type(theirs)), f"{what}: {ours!r}, torch raises {theirs!r}"
        return
    assert not isinstance(ours, Exception), f"{what}: torch accepts it, we raise {ours!r}"
    assert tuple(ours.shape) == tuple(theirs.shape), f"{what}: {ours.shape}, torch {theirs.shape}"
    assert seen_strides(ours) == seen_strides(theirs), f"{what}: {ours.stride()}"
    assert_values(to_numpy(ours), to_numpy(theirs), tolerance, what)


def seen_strides(t: Any) -> list[int]:
    """The strides that say where elements lie."""
    if t.numel() == 0:
        return []
    return [stride for stride, size in zip(t.stride(), t.shape, strict=True) if size != 1]


@pytest.mark.parametrize("name", NAMES)
def test_type_of_out(name: str) -> None:
    """A result never loses its category: a fraction, an imaginary part, more than two values.

    Where torch lets it into another type, the values are torch's. It also refuses types that would
    hold the result, where a kernel of its own cannot write them; that is not asked for here.
    """
    for sample, expected in samples_of(name):
        for dtype in TYPES:
            made = [t.empty(0, dtype=getattr(t, dtype)) for t in (flambeau, torch)]
            ours = run(flambeau, TABLE[name], sample, {"out": made[0]})
            theirs = run(torch, TABLE[name], sample, {"out": made[1]})
            holds = torch.can_cast(expected.dtype, getattr(torch, dtype))
            what = f"{name}{sample!r} of {dtype_name(expected)} into {dtype}"
            if isinstance(theirs, Exception):
                refused = isinstance(ours, Exception)
                assert refused or holds, f"{what}: torch refuses it: {theirs}"
            elif holds:
                tolerance = (1e-2, 1e-2) if dtype == "float16" else (1e-4, 1e-4)
                assert_alike(ours, theirs, what, tolerance)


def windows(t: Any, expected: Any) -> Any:
    """Of a buffer with other elements around and between: the windows to write to, and it."""
    shape = [2 * n + 2 for n in expected.shape]
    buffer = t.full(shape, 7).to(getattr(t, dtype_name(expected)))
    return buffer[tuple(slice(1, 2 * n + 1, 2) for n in expected.shape)], buffer


@pytest.mark.parametrize("name", NAMES)
def test_out_is_a_window(name: str) -> None:
    """Elements between and around those of `out` stay what they were."""
    for sample, expected in samples_of(name):
        (ours, around), (theirs, theirs_around) = (windows(t, expected) for t in (flambeau, torch))
        results = (
            run(flambeau, TABLE[name], sample, {"out": ours}),
            run(torch, TABLE[name], sample, {"out": theirs}),
        )
        what = f"{name}{sample!r} into a window"
        assert_alike(*results, what, (1e-4, 1e-4))
        if not isinstance(results[1], Exception):
            assert results[0] is ours
            assert_values(to_numpy(around), to_numpy(theirs_around), (1e-4, 1e-4), what)


SHAPES: dict[str, Any] = {
    "other shape": lambda shape: (*shape, 2),
    "as many elements": lambda shape: (*shape[:-1], 1, shape[-1]) if shape else (1,),
    "fewer": lambda shape: (1,),
}


@pytest.mark.parametrize("kind", SHAPES)
@pytest.mark.parametrize("name", NAMES)
def test_out_of_another_shape(name: str, kind: str) -> None:
    """It gets the result's shape, with a warning if it had elements, as in torch."""
    for sample, expected in samples_of(name, ("float32", "int64")):
        shape = SHAPES[kind](tuple(expected.shape))
        results, texts = [], []
        for t in (flambeau, torch):
            made = t.zeros(shape, dtype=getattr(t, dtype_name(expected)))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                results.append(_loud(t, TABLE[name], sample, made))
            texts.append(any("was resized" in str(w.message) for w in caught))
        what = f"{name}{sample!r} into shape {shape}"
        assert_alike(*results, what, (1e-4, 1e-4))
        if not isinstance(results[1], Exception):
            assert texts[0] == texts[1], f"{what}: torch {'warns' if texts[1] else 'is silent'}"


def _loud(t: Any, operator: Operator, sample: Sample, out: Any) -> Any:
    args, kwargs = to_module(t, sample.args), to_module(t, sample.kwargs)
    try:
        return operator.call(t, args, {**kwargs, "out": out})
    except Exception as error:
        return error


@pytest.mark.parametrize("name", NAMES)
def test_out_that_requires_grad(name: str) -> None:
    for sample, expected in samples_of(name, ("float32",)):
        if not expected.is_floating_point():
            continue
        results = [
            run(t, TABLE[name], sample, {"out": t.zeros(tuple(expected.shape)).requires_grad_()})
            for t in (flambeau, torch)
        ]
        if isinstance(results[1], RuntimeError):
            assert isinstance(results[0], RuntimeError), f"{name}{sample!r}: {results[1]}"


@pytest.mark.parametrize("name", NAMES)
def test_out_is_an_input(name: str) -> None:
    """Where `out` is the first input, the values are those of a call without it."""
    for sample, expected in samples_of(name, ("float32", "int64")):
        first = sample.args[0] if sample.args else None
        if not isinstance(first, Input) or first.layout != "contiguous":
            continue
        if first.dtype != dtype_name(expected) or first.shape != tuple(expected.shape):
            continue
        args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
        alone = TABLE[name].call(flambeau, args, kwargs)
        result = TABLE[name].call(flambeau, args, {**kwargs, "out": args[0]})
        assert result is args[0]
        what = f"{name}{sample!r} into its input"
        assert_values(to_numpy(result), to_numpy(alone), (1e-6, 1e-6), what)
