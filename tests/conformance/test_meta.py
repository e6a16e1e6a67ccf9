"""Tensors on meta against torch: what `out=` becomes there, and arguments from several devices.

Shapes and types of results are compared. A call that one of both refuses has to be refused by the
other one too, unless `agree` says why not.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import torch

import flambeau
from tests.ops.check import dtype_name, is_tensor
from tests.ops.make import to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
NAMES = sorted(set(TABLE) & set(SAMPLES))
WITH_OUT = [name for name in NAMES if "out" in TABLE[name].function_forms]
MOST = 3  # samples of an operator: what is compared hardly depends on elements


def calls_of(name: str) -> Iterator[tuple[Sample, list[torch.Tensor], bool]]:
    """Samples that torch computes, what it gives, and whether that is several tensors."""
    operator = TABLE[name]
    dtype = "float32" if "float32" in operator.dtypes else operator.dtypes[0]
    found = 0
    for sample in SAMPLES[name].where_sensible(dtype):
        if found == MOST or "out" in sample.kwargs:
            continue
        try:
            result = called(operator, torch, sample, "cpu")
        except Exception:
            continue
        parts = list(result) if isinstance(result, (tuple, list)) else [result]
        if parts and all(is_tensor(each) for each in parts):
            found += 1
            yield sample, parts, not is_tensor(result)


def called(operator: Operator, t: Any, sample: Sample, *devices: str, **options: Any) -> Any:
    """The call with its tensors on the given devices in turn, the last one for all others."""
    places = list(devices)

    def moved(value: Any) -> Any:
        if isinstance(value, (tuple, list)):
            return type(value)(map(moved, value))
        return (
            value.to(places.pop(0) if len(places) > 1 else places[0]) if is_tensor(value) else value
        )

    args = tuple(map(moved, to_module(t, sample.args)))
    kwargs = {name: moved(each) for name, each in to_module(t, sample.kwargs).items()}
    t.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return operator.call(t, args, {**kwargs, **options})


def outcome(operator: Operator, t: Any, sample: Sample, *devices: str, **options: Any) -> Any:
    """Shapes, types and devices of the results, or the class of the error."""
    try:
        result = called(operator, t, sample, *devices, **options)
    except (RuntimeError, TypeError, ValueError, IndexError) as error:
        return "refused", type(error).__name__
    parts = list(result) if isinstance(result, (tuple, list)) else [result]
    if t is flambeau and "out" in options:
        out = options["out"]
        outs = out if isinstance(out, tuple) else (out,)
        assert all(a is b for a, b in zip(parts, outs, strict=True)), "out is not what came back"
    return [
        (tuple(each.shape), dtype_name(each), each.device.type) if is_tensor(each) else each
        for each in parts
    ]


def agree(sample: Sample, devices: tuple[str, ...], here: Any, there: Any) -> bool:
    """Whether both say the same, or one of them something else with a reason."""
    if here == there:
        return True
    refused_here, refused_there = here[0] == "refused", there[0] == "refused"
    if refused_here and refused_there:
        return True  # torch's errors tell a missing kernel from a wrong device
    if refused_here:  # torch's rules for shapes often do not look at devices
        return len(set(devices)) == 2 and here[1] in ("RuntimeError", "NotImplementedError")
    # torch has no kernel there, no such overload, or takes no number from another device.
    is_number = any(each.values.ndim == 0 for each in sample.inputs())
    return there[1] in ("NotImplementedError", "TypeError") or is_number


def out_of(t: Any, results: list[torch.Tensor], is_tuple: bool, device: str, large: bool) -> Any:
    made = [
        t.empty(
            [n + 1 for n in each.shape] if large else 0,
            dtype=getattr(t, dtype_name(each)),
            device=device,
        )
        for each in results
    ]
    return tuple(made) if is_tuple else made[0]


@pytest.mark.parametrize("name", WITH_OUT)
def test_out_on_meta(name: str):
    operator = TABLE[name]
    for sample, results, is_tuple in calls_of(name):
        for case in (("meta", "meta"), ("meta", "cpu"), ("cpu", "meta")):
            for large in (False, True):
                there, here = (
                    outcome(
                        operator,
                        t,
                        sample,
                        case[0],
                        out=out_of(t, results, is_tuple, case[1], large),
                    )
                    for t in (torch, flambeau)
                )
                assert agree(sample, case, here, there), (sample, case, large, here, there)


@pytest.mark.parametrize("name", NAMES)
def test_arguments_from_two_devices(name: str):
    operator = TABLE[name]
    for sample, _, _ in calls_of(name):
        if len(sample.inputs()) < 2:
            continue
        for devices in (("meta", "cpu"), ("cpu", "meta")):
            there, here = (outcome(operator, t, sample, *devices) for t in (torch, flambeau))
            assert agree(sample, devices, here, there), (sample, devices, here, there)
