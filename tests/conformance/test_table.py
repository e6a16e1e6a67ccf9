"""The whole operator table against torch: values, dtypes, shapes, strides class, error class."""

import warnings
from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from tests.conformance import differences
from tests.conformance.database.compare import strides_class
from tests.conformance.differences import accepted
from tests.ops import dtypes
from tests.ops.check import (
    assert_through,
    assert_values,
    dtype_name,
    is_tensor,
    outputs,
    to_numpy,
)
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, Samples, all_errors, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
SAMPLED = sorted(set(TABLE) & set(SAMPLES))
# Layouts in which every sample is repeated: the strides of a result may depend on its inputs.
LAYOUTS = ("contiguous", "strided", "transposed", "channels_last")


def run(t: Any, operator: Operator, sample: Sample) -> Any:
    """The sample's call in module `t`, or the exception that it raised."""
    t.manual_seed(0)
    args, kwargs = to_module(t, sample.args), to_module(t, sample.kwargs)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # torch warns of uses that it will refuse one day
            return operator.call(t, args, kwargs)
    except Exception as error:
        return error


def assert_same(ours: Any, theirs: Any, operator: Operator, sample: Sample) -> None:
    """Our result of `sample` against that of torch."""
    what = f"{operator.name}{sample!r}"
    if isinstance(theirs, NotImplementedError):
        return  # torch has no kernel for this dtype; we may
    if isinstance(theirs, Exception):
        excused = "view" not in operator.kinds and accepted(theirs, operator.name)
        if excused and not isinstance(ours, Exception):
            return
        assert isinstance(ours, Exception), f"{what}: torch refuses it: {theirs}"
        assert isinstance(ours, type(theirs)), f"{what}: {ours!r}, torch raises {theirs!r}"
        return
    if isinstance(ours, Exception):
        raise AssertionError(f"{what}: torch accepts it, Flambeau raises {ours!r}") from ours
    left, right = outputs(ours), outputs(theirs)
    assert len(left) == len(right), f"{what}: {len(left)} outputs, torch gives {len(right)}"
    owner = SAMPLES[operator.name]
    for a, b in zip(left, right, strict=True):
        assert_same_output(a, b, owner, sample, what)
    if owner.values and owner.through is not None:
        tolerances = [owner.tolerance_for(sample, dtype_name(b)) for b in right]
        assert_through(left, right, tolerances, owner, what)


def assert_same_output(a: Any, b: Any, owner: Samples, sample: Sample, what: str) -> None:
    """One output against that of torch."""
    if not is_tensor(b):
        same = str(a) == str(b)
        if not same and isinstance(b, (float, complex, np.ndarray)):
            same = bool(np.allclose(a, b, 1e-6, 1e-6, equal_nan=True))
        assert same, f"{what}: {a!r}, torch gives {b!r}"
        return
    name = dtype_name(b)
    assert dtype_name(a) == name, f"{what}: {dtype_name(a)}, torch gives {name}"
    assert tuple(a.shape) == tuple(b.shape), f"{what}: {a.shape}, torch gives {b.shape}"
    # torch conjugates lazily and gives a view; Flambeau conjugates at once.
    assert b.is_conj() or not owner.strides or strides_class(a) == strides_class(b), (
        f"{what}: strides {a.stride()}, torch gives {b.stride()}"
    )
    if owner.values and owner.through is None:
        rtol, atol = owner.tolerance_for(sample, name)
        assert_values(to_numpy(a), to_numpy(b), (2 * rtol, 2 * atol), what)


@pytest.mark.parametrize(
    ("name", "dtype"), [(name, dtype) for name in SAMPLED for dtype in TABLE[name].dtypes]
)
def test_same_as_torch(name: str, dtype: str, record_property: Any) -> None:
    """In all dtypes of the table, also in those that the samples have no reference for."""
    reason = differences.TABLE.get((name, dtype), "")
    try:
        assert_same_in_layouts(TABLE[name], SAMPLES[name].of_dtype(dtype))
    except AssertionError:
        if not reason:
            raise
    else:
        assert not reason, f"{name} of {dtype} agrees, the reason why not is to be taken out"
    record_property("table", [name, dtype, reason])


def assert_same_in_layouts(operator: Operator, samples: list[Sample]) -> None:
    for sample in samples:
        for layout in LAYOUTS:
            moved = _in_layout(sample, layout)
            if moved is not None:
                theirs = run(torch, operator, moved)
                assert_same(run(flambeau, operator, moved), theirs, operator, moved)


def _in_layout(sample: Sample, layout: str) -> Sample | None:
    """The sample with its tensors in `layout`, or None if that is no other call."""
    if layout == "contiguous":
        return sample
    dims = [len(each.shape) for each in sample.inputs()]
    if not dims or max(dims) < {"strided": 0, "transposed": 2, "channels_last": 4}[layout]:
        return None
    return sample.map_inputs(getattr(Input, layout))


@pytest.mark.parametrize("name", SAMPLED)
def test_edge_shapes_as_torch(name: str) -> None:
    """Zero-dimensional and empty tensors are accepted or refused as torch does it."""
    operator = TABLE[name]
    owner = SAMPLES[name]
    available = [each for each in operator.dtypes if owner.dtypes is None or each in owner.dtypes]
    dtype = "float32" if "float32" in available else available[0]
    for sample in owner.of_dtype(dtype)[:2]:
        for shape in ((), (0,), (2, 0, 3), (1, 1)):
            edge = sample.map_inputs(
                lambda each, shape=shape: Input(
                    np.resize(each.values, int(np.prod(shape, dtype=int))).reshape(shape),
                    each.dtype,
                )
            )
            assert_same(run(flambeau, operator, edge), run(torch, operator, edge), operator, edge)


@pytest.mark.parametrize("name", [name for name in SAMPLED if name not in differences.DTYPES])
def test_no_dtype_is_missing(name: str) -> None:
    """A dtype in which torch computes this operator is in our table too."""
    operator, owner = TABLE[name], SAMPLES[name]
    missing = []
    for dtype in dtypes.ALL:
        if dtype in operator.dtypes:
            continue
        for sample in owner.where_sensible(dtype)[:1]:
            takes_it = any(each.dtype == dtype for each in sample.inputs())
            if takes_it and not isinstance(run(torch, operator, sample), Exception):
                missing.append(dtype)
    assert not missing, f"{name}: torch also takes {', '.join(missing)}"


@pytest.mark.parametrize(
    "expected", all_errors(), ids=lambda each: f"{each.operator}-{each.sample}"
)
def test_same_error_class(expected: Any) -> None:
    """The class that a sample expects of Flambeau is the class that torch raises."""
    theirs = run(torch, TABLE[expected.operator], expected.sample)
    assert isinstance(theirs, expected.error), f"torch: {theirs!r}"
