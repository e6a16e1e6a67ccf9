"""Every `out=` form against torch: types, shapes, layouts, devices and memory that it may have.

A call is repeated with many an `out`. What torch refuses is refused with the same class of error;
what it accepts has the same values, shape, strides and warning, and neighbours in memory stay.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from tests.conformance.differences import out_corrupts, out_difference
from tests.ops import dtypes
from tests.ops.check import dtype_name, is_tensor, to_numpy
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
NAMES = [name for name in sorted(set(TABLE) & set(SAMPLES)) if "out" in TABLE[name].function_forms]
OF_TYPES = ("float32", "int64", "complex64", "bool")
MOST = 4  # samples of an operator in a dtype: what is asked of `out` hardly depends on them

Make = Callable[[Any, tuple[Any, ...]], tuple[list[Any], list[Any]]]


@dataclass(frozen=True)
class Call:
    """A sample that torch computes, and what it gives."""

    operator: Operator
    sample: Sample
    results: list[torch.Tensor]
    is_tuple: bool

    def run(self, t: Any, make: Make) -> Any:
        """What the call leaves in the tensors that are watched, or the exception it raised."""
        t.manual_seed(0)
        args, kwargs = to_module(t, self.sample.args), to_module(t, self.sample.kwargs)
        outs, watched = make(t, args)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                out = tuple(outs) if self.is_tuple else outs[0]
                result = self.operator.call(t, args, {**kwargs, "out": out})
            except Exception as error:
                return error
        returned = list(result) if self.is_tuple else [result]
        assert all(a is b for a, b in zip(returned, outs, strict=True)), "out is not what came back"
        return Written(outs, watched, any("was resized" in str(each.message) for each in caught))


@dataclass(frozen=True)
class Written:
    """What a call has written."""

    outs: list[Any]
    watched: list[Any]
    warned: bool


def calls_of(name: str) -> Iterator[Call]:
    operator = TABLE[name]
    for dtype in OF_TYPES:
        if dtype not in operator.dtypes:
            continue
        found = 0
        for sample in SAMPLES[name].where_sensible(dtype):
            if found == MOST or "out" in sample.kwargs:
                continue
            result = plain(operator, sample)
            parts = list(result) if isinstance(result, (tuple, list)) else [result]
            if parts and all(is_tensor(each) for each in parts):
                found += 1
                yield Call(operator, sample, parts, not is_tensor(result))


def plain(operator: Operator, sample: Sample, t: Any = torch) -> Any:
    t.manual_seed(0)
    args, kwargs = to_module(t, sample.args), to_module(t, sample.kwargs)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return operator.call(t, args, kwargs)
        except Exception:
            return None


# --- what is given as out=


def zeros(t: Any, shape: Any, like: torch.Tensor, **options: Any) -> Any:
    return t.zeros(tuple(shape), dtype=getattr(t, dtype_name(like)), **options)


def each_made(make: Callable[[Any, torch.Tensor], Any]) -> Callable[[Call], Make]:
    """Outs made one by one after the results that are to go there."""

    def of(call: Call) -> Make:
        def outs(t: Any, args: tuple[Any, ...]) -> Any:
            made = [make(t, each) for each in call.results]
            return made, made

        return outs

    return of


def shaped(change: Callable[[tuple[int, ...]], tuple[int, ...]]) -> Callable[[Call], Make]:
    return each_made(lambda t, like: zeros(t, change(tuple(like.shape)), like))


def windows(call: Call) -> Make:
    """Every second element of a larger tensor; the others stay."""

    def outs(t: Any, args: tuple[Any, ...]) -> Any:
        around = [
            t.full([2 * n + 2 for n in like.shape], 1).to(getattr(t, dtype_name(like)))
            for like in call.results
        ]
        made = [
            whole[tuple(slice(1, 2 * n + 1, 2) for n in like.shape)]
            for whole, like in zip(around, call.results, strict=True)
        ]
        return made, around

    return outs


def too_short(call: Call) -> Make:
    """A part of a vector that grows over its end."""

    def outs(t: Any, args: tuple[Any, ...]) -> Any:
        around = [
            t.full((like.numel() + 6,), 1).to(getattr(t, dtype_name(like))) for like in call.results
        ]
        return [each[3 : 3 + max(1, each.numel() - 8)] for each in around], around

    return outs


def transposed(t: Any, like: torch.Tensor) -> Any:
    return zeros(t, tuple(like.shape)[::-1], like).permute(tuple(reversed(range(like.dim()))))


def channels_last(t: Any, like: torch.Tensor) -> Any:
    made = zeros(t, like.shape, like)
    return made.contiguous(memory_format=t.channels_last) if like.dim() == 4 else made


def needing_gradients(t: Any, like: torch.Tensor) -> Any:
    made = zeros(t, like.shape, like)
    return made.requires_grad_(like.is_floating_point() or like.is_complex())


PLACES: dict[str, Callable[[Call], Make]] = {
    "right": shaped(lambda shape: shape),
    "empty": shaped(lambda shape: (0,)),
    "larger": shaped(lambda shape: (*shape, 2)),
    "as many elements": shaped(lambda shape: (*shape[:-1], 1, shape[-1]) if shape else (1,)),
    "one element": shaped(lambda shape: (1,)),
    "window": windows,
    "too short": too_short,
    "transposed": each_made(transposed),
    "channels last": each_made(channels_last),
    "expanded": each_made(
        lambda t, like: zeros(t, (1,) * like.dim(), like).expand(tuple(like.shape))
    ),
    "needs gradients": each_made(needing_gradients),
}


def on_meta(call: Call) -> Make:
    """Outs without elements, which nobody looks at."""
    return lambda t, args: (
        [zeros(t, each.shape, each, device="meta") for each in call.results],
        [],
    )


def typed(dtype: str, place: int) -> Callable[[Call], Make]:
    """Outs of which one is of another type."""

    def of(call: Call) -> Make:
        def outs(t: Any, args: tuple[Any, ...]) -> Any:
            made = [
                t.zeros(
                    tuple(like.shape),
                    dtype=getattr(t, dtype if i == place else dtype_name(like)),
                )
                for i, like in enumerate(call.results)
            ]
            return made, made

        return outs

    return of


# --- comparison


def seen_strides(t: Any) -> list[int]:
    """The strides that say where elements lie."""
    if t.numel() == 0:
        return []
    return [stride for stride, size in zip(t.stride(), t.shape, strict=True) if size != 1]


def near(ours: Any, theirs: Any) -> bool:
    a, b = to_numpy(ours), to_numpy(theirs)
    if a.shape != b.shape:
        return False
    wide = complex if np.iscomplexobj(a) or np.iscomplexobj(b) else float
    # The rounding of the coarsest type that a result may go to.
    return bool(np.allclose(a.astype(wide), b.astype(wide), 2e-2, 2e-2, equal_nan=True))


def difference(ours: Any, theirs: Any, values: bool) -> str:
    """In words; empty where there is none."""
    if isinstance(theirs, Exception):
        if not isinstance(ours, Exception):
            return f"accepted, torch raises {type(theirs).__name__}: {theirs}"
        if isinstance(theirs, NotImplementedError) or isinstance(ours, type(theirs)):
            return ""
        return f"raises {ours!r}, torch {theirs!r}"
    if isinstance(ours, Exception):
        return f"refused: {ours!r}"
    for a, b in zip(ours.outs, theirs.outs, strict=True):
        if tuple(a.shape) != tuple(b.shape) or seen_strides(a) != seen_strides(b):
            return (
                f"lies as {tuple(a.shape)} {a.stride()}, torch's as {tuple(b.shape)} {b.stride()}"
            )
    if ours.warned != theirs.warned:
        return "torch warns" if theirs.warned else "torch does not warn"
    pairs = zip(ours.watched, theirs.watched, strict=True)
    return "" if not values or all(near(a, b) for a, b in pairs) else "other values"


def assert_explained(name: str, found: dict[str, str], tried: int, record_property: Any) -> None:
    reasons = {what: out_difference(name, what, words) for what, words in found.items()}
    wrong = [f"{what}: {found[what]}" for what, reason in reasons.items() if not reason]
    assert not wrong, f"{name}:\n" + "\n".join(wrong[:20])
    record_property("out", [tried, list(reasons.values())])


@pytest.mark.parametrize("name", NAMES)
def test_out(name: str, record_property: Any) -> None:
    found, tried = {}, 0
    values = SAMPLES[name].values and SAMPLES[name].through is None
    for call in calls_of(name):
        places = dict(PLACES)
        for i, like in enumerate(call.results):
            kind = dtype_name(like)
            for dtype in dtypes.ALL:
                if dtype != kind:
                    places[f"{kind} into {dtype}" + f" at {i}" * bool(i)] = typed(dtype, i)
        for what, place in places.items():
            if out_corrupts(name, what):
                continue
            ours, theirs = (call.run(t, place(call)) for t in (flambeau, torch))
            tried += 1
            if words := difference(ours, theirs, values):
                found[f"{what} of {call.sample!r}"] = words
    assert_explained(name, found, tried, record_property)


def inputs_of(call: Call) -> list[int]:
    return [i for i, each in enumerate(call.sample.args) if isinstance(each, Input)]


def overlapping(call: Call, place: int) -> Make:
    """An input and, one element further in its memory, the out."""
    like = call.results[0]

    def outs(t: Any, args: tuple[Any, ...]) -> Any:
        given = args[place]
        memory = t.zeros(max(given.numel(), like.numel()) + 1, dtype=given.dtype)
        given.set_(memory[: given.numel()].copy_(given.reshape(-1)).view(tuple(given.shape)))
        made = memory[1 : like.numel() + 1].view(tuple(like.shape))
        return [made], [made]

    return outs


@pytest.mark.parametrize("name", [name for name in NAMES if not out_corrupts(name, "overlaps")])
def test_out_shares_memory(name: str, record_property: Any) -> None:
    """With an input: torch refuses it, or the result is that of a call with another `out`."""
    found, tried = {}, 0
    values = SAMPLES[name].values and SAMPLES[name].through is None and not TABLE[name].random
    for call in calls_of(name):
        if call.is_tuple:
            continue
        for i in inputs_of(call):
            given = call.sample.args[i]
            same = given.dtype == dtype_name(call.results[0])
            places = {"is": lambda t, args, i=i: ([args[i]], [args[i]])}
            if same and given.values.size and call.results[0].numel():
                places["overlaps"] = overlapping(call, i)
            for what, make in places.items():
                ours, theirs = (call.run(t, make) for t in (flambeau, torch))
                tried += 1
                if words := sharing_difference(ours, theirs, call, values):
                    found[f"{what} argument {i} of {call.sample!r}"] = words
    assert_explained(name, found, tried, record_property)


def sharing_difference(ours: Any, theirs: Any, call: Call, values: bool) -> str:
    if isinstance(theirs, Exception):
        if isinstance(ours, Exception):
            return ""
        refused = "single memory location" in str(theirs) or "dtype" in str(theirs)
        if refused and not isinstance(theirs, NotImplementedError):
            return f"accepted, torch raises {type(theirs).__name__}: {theirs}"
    if isinstance(ours, Exception):  # torch reads what it has written, if it does not refuse
        agrees = isinstance(theirs, Written) and near(theirs.outs[0], call.results[0])
        return f"refused: {ours!r}" if agrees else ""
    return "" if not values or near(ours.outs[0], call.results[0]) else "other values"


@pytest.mark.parametrize("name", NAMES)
def test_out_on_another_device(name: str) -> None:
    """An out without elements beside inputs that have some is refused."""
    for call in list(calls_of(name))[:1]:
        if not inputs_of(call):
            continue
        ours, theirs = (call.run(t, on_meta(call)) for t in (flambeau, torch))
        if isinstance(theirs, Exception):
            assert isinstance(ours, Exception), f"{name}{call.sample!r}: torch: {theirs!r}"
