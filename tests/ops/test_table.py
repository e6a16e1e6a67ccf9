"""Every operator of the table, by its samples: values, forms, layouts, edge shapes, errors."""

import ast
import re
from typing import Any

import numpy as np
import pytest

import flambeau
from tests.ops import dtypes
from tests.ops.check import (
    assert_identical,
    assert_matches_reference,
    assert_values,
    dtype_name,
    is_tensor,
    outputs,
    to_numpy,
)
from tests.ops.make import Input, to_module, to_reference
from tests.ops.registry import Sample, Samples, all_errors, all_samples
from tests.ops.table import Operator, aliases, operators, resolve

TABLE = operators()
SAMPLES = all_samples()
SAMPLED = sorted(set(TABLE) & set(SAMPLES))


def checked_dtypes(operator: Operator) -> list[str]:
    """The dtypes the operator is tested in: those of its entry that its samples make sense for."""
    chosen = SAMPLES[operator.name].dtypes
    return [each for each in operator.dtypes if chosen is None or each in chosen]


def main_dtype(operator: Operator) -> str:
    """The dtype of the tests that need only one."""
    available = checked_dtypes(operator)
    return "float32" if "float32" in available else available[0]


def run(operator: Operator, sample: Sample) -> Any:
    """The sample's call, with fresh tensors."""
    flambeau.manual_seed(0)
    args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
    return operator.call(flambeau, args, kwargs)


def having(form: str) -> list[str]:
    """The operators that can be called in `form` with the arguments of the function."""
    return [name for name in SAMPLED if form in TABLE[name].function_forms]


def main_samples(name: str) -> tuple[Operator, list[Sample]]:
    operator = TABLE[name]
    return operator, SAMPLES[name].of_dtype(main_dtype(operator))


BY_DTYPE = [(name, dtype) for name in SAMPLED for dtype in checked_dtypes(TABLE[name])]


def test_every_operator_has_samples() -> None:
    missing = sorted(set(TABLE) - set(SAMPLES))
    assert not missing, f"operators without samples: {', '.join(missing)}"


def test_every_sample_has_an_operator() -> None:
    unknown = sorted(set(SAMPLES) - set(TABLE))
    assert not unknown, f"samples of operators that do not exist: {', '.join(unknown)}"


@pytest.mark.parametrize("name", sorted(TABLE))
def test_entry_is_documented(name: str) -> None:
    operator = TABLE[name]
    for signature in operator.signatures:
        ast.parse(f"def {signature}: ...")
    callables = []
    if "function" in operator.forms:
        callables.append(resolve(flambeau, name))
    if "method" in operator.forms:
        callables.append(getattr(flambeau.Tensor, operator.method_name))
    for each in callables:
        assert operator.docs[0] in " ".join(each.__doc__.split())


@pytest.mark.parametrize(("name", "dtype"), BY_DTYPE)
def test_values(name: str, dtype: str) -> None:
    operator, owner = TABLE[name], SAMPLES[name]
    drawn = owner.of_dtype(dtype)
    assert drawn, f"{name}: no samples in {dtype}"
    for sample in drawn:
        result = run(operator, sample)
        if owner.reference is not None and owner.values:
            assert_matches_reference(result, _reference(owner, sample), owner, sample)


def _reference(owner: Samples, sample: Sample) -> Any:
    assert owner.reference is not None
    with np.errstate(all="ignore"):
        return owner.reference(*to_reference(sample.args), **to_reference(sample.kwargs))


@pytest.mark.parametrize("layout", ["strided", "transposed"])
@pytest.mark.parametrize("name", [n for n in SAMPLED if not TABLE[n].random])
def test_layouts(name: str, layout: str) -> None:
    """The same values wherever they lie in memory give the same result, to rounding.

    Not so for random numbers, which are handed out in memory order.
    """
    operator, drawn = main_samples(name)
    owner = SAMPLES[name]
    for sample in drawn:
        moved = sample.map_inputs(getattr(Input, layout))
        try:
            expected = run(operator, sample)
            actual = run(operator, moved)
        except RuntimeError as error:
            # `view` may refuse strides that it cannot express, and detach_ refuses views.
            if "view" in operator.kinds or name == "detach_":
                continue
            raise AssertionError(f"{name}{moved!r}") from error
        if owner.values and owner.through is None:
            _assert_close_to(actual, expected, owner, moved)


def _assert_close_to(actual: Any, expected: Any, owner: Samples, sample: Sample) -> None:
    pairs = zip(outputs(actual), outputs(expected), strict=True)
    for a, b in pairs:
        if is_tensor(b):
            tolerance = owner.tolerance_for(sample, dtype_name(b))
            assert_values(to_numpy(a), to_numpy(b), tolerance, f"{owner.operator}{sample!r}")


@pytest.mark.parametrize("name", having("method"))
def test_method_equals_function(name: str) -> None:
    operator, drawn = main_samples(name)
    for sample in drawn:
        if not (sample.args and isinstance(sample.args[0], Input)):
            continue
        expected = run(operator, sample)
        flambeau.manual_seed(0)
        args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
        actual = getattr(args[0], operator.method_name)(*args[1:], **kwargs)
        if SAMPLES[name].values:
            assert_identical(actual, expected, f"{name}{sample!r}")


@pytest.mark.parametrize("name", having("inplace"))
def test_in_place(name: str) -> None:
    operator, owner = TABLE[name], SAMPLES[name]
    checked = 0
    for dtype in checked_dtypes(operator):
        for sample in owner.of_dtype(dtype):
            if not (sample.args and isinstance(sample.args[0], Input)):
                continue
            if sample.args[0].layout == "expanded":  # its elements share memory
                continue
            expected = run(operator, sample)
            args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
            target = args[0]
            fits = target.shape == expected.shape and target.dtype == expected.dtype
            if not fits and "view" not in operator.kinds:  # an in-place view changes the shape
                continue
            flambeau.manual_seed(0)
            version = target._version
            result = operator.call_in_place(flambeau, args, kwargs)
            assert result is target, f"{name}_ does not return its tensor"
            assert target._version == version + 1, f"{name}_{sample!r}"
            assert_identical(target, expected, f"{name}_{sample!r}")
            checked += 1
    assert checked, f"{name}_: no sample's result fits its first argument"


@pytest.mark.parametrize("strided", [False, True], ids=["contiguous", "strided"])
@pytest.mark.parametrize("name", having("out"))
def test_out(name: str, strided: bool) -> None:
    operator, drawn = main_samples(name)
    for sample in drawn:
        expected = run(operator, sample)
        targets = [_out_like(each, strided) for each in outputs(expected)]
        args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
        kwargs["out"] = targets[0] if is_tensor(expected) else tuple(targets)
        flambeau.manual_seed(0)
        versions = [target._version for target in targets]
        result = operator.call(flambeau, args, kwargs)
        for returned, target, version in zip(outputs(result), targets, versions, strict=True):
            assert returned is target, f"{name}: did not return its out="
            assert target._version == version + 1, f"{name}{sample!r}"
        if SAMPLES[name].values:
            whole = targets if len(targets) > 1 else targets[0]
            assert_identical(whole, expected, f"{name}{sample!r}")


def _out_like(tensor: Any, strided: bool) -> Any:
    """Where a result like `tensor` can be written, filled with something else."""
    shape = tuple(tensor.shape)
    if not strided or not shape:
        return flambeau.ones(shape, dtype=tensor.dtype)
    return flambeau.ones((*shape[:-1], 2 * shape[-1]), dtype=tensor.dtype)[..., ::2]


@pytest.mark.parametrize("name", [n for n in SAMPLED if TABLE[n].kinds == {"pointwise"}])
@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3)], ids=str)
def test_edge_shapes(name: str, shape: tuple[int, ...]) -> None:
    """A pointwise operator of inputs of one shape has that shape, also without elements."""
    operator, drawn = main_samples(name)
    sample = drawn[0].map_inputs(lambda each: _reshaped(each, shape))
    result = run(operator, sample)
    for each in outputs(result):
        assert tuple(each.shape) == shape
    owner = SAMPLES[name]
    if owner.reference is not None and owner.values:
        assert_matches_reference(result, _reference(owner, sample), owner, sample)


def _reshaped(each: Input, shape: tuple[int, ...]) -> Input:
    count = int(np.prod(shape, dtype=int))
    return Input(np.resize(each.values, count).reshape(shape), each.dtype)


@pytest.mark.parametrize(
    "expected", all_errors(), ids=lambda each: f"{each.operator}-{each.sample}"
)
def test_errors(expected: Any) -> None:
    with pytest.raises(expected.error, match=re.escape(expected.message)):
        run(TABLE[expected.operator], expected.sample)


TAKES_TENSOR = [
    name
    for name in SAMPLED
    if all(
        re.match(r"\w+\(\w+: (list\[Tensor\]|Tensor)[,)]", each) for each in TABLE[name].signatures
    )
]


@pytest.mark.parametrize("name", [n for n in TAKES_TENSOR if "function" in TABLE[n].forms])
def test_wrong_argument_type(name: str) -> None:
    """Something that is no tensor is refused, and the message names the operator."""
    operator, drawn = main_samples(name)
    sample = drawn[0]
    args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
    # The generated entry point knows types and names; a body in Python finds out by itself.
    native = "python" not in operator.kinds
    message = rf"{re.escape(operator.method_name)}\b" if native else None
    with pytest.raises(TypeError if native else (TypeError, AttributeError), match=message):
        resolve(flambeau, name)("not a tensor", *args[1:], **kwargs)


NATIVE = [name for name in SAMPLED if not TABLE[name].kinds & {"python", "bound"}]


@pytest.mark.parametrize("name", NATIVE)
def test_other_dtypes_are_refused_cleanly(name: str) -> None:
    """A dtype outside the entry raises an error instead of computing nonsense."""
    operator, owner = TABLE[name], SAMPLES[name]
    for dtype in set(dtypes.ALL) - set(operator.dtypes):
        for sample in owner.where_sensible(dtype)[:1]:
            if any(each.dtype == dtype for each in sample.inputs()):
                with pytest.raises((RuntimeError, TypeError)):
                    run(operator, sample)


@pytest.mark.parametrize("alias", sorted(aliases()))
def test_alias(alias: str) -> None:
    """Another name of an operator gives the same results."""
    operator = TABLE[aliases()[alias]]
    samples = SAMPLES[operator.name].of_dtype(main_dtype(operator))
    args, kwargs = to_module(flambeau, samples[0].args), to_module(flambeau, samples[0].kwargs)
    expected = run(operator, samples[0])
    flambeau.manual_seed(0)
    if "function" in operator.forms:
        actual = resolve(flambeau, alias)(*args, **kwargs)
    else:
        actual = getattr(args[0], alias)(*args[1:], **kwargs)
    assert_identical(actual, expected, f"{alias}{samples[0]!r}")
