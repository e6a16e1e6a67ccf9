"""Calls as values: every operator by its name in the table, beside the ordinary call."""

from typing import Any

import pytest

import flambeau
from flambeau import _C
from tests.ops.check import assert_identical
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample
from tests.ops.test_table import SAMPLED, SAMPLES, TABLE, having, main_samples, run

NAMES: dict[str, str] = _C._op_names()
# Arguments that the entry point deals with, which operators do not see.
ENTRY_POINT = {"out", "inplace", "layout", "pin_memory", "requires_grad"}


def found(name: str) -> tuple[Any, ...]:
    """What is known of an operator that is there."""
    op = _C._find_op(name)
    assert op is not None, name
    return op


def rows(name: str, stores: bool = False, suffix: str = "") -> list[str]:
    """The names of all overloads of an operator: those that store into `out`, or the others."""
    base = name.replace(".", "_") + suffix
    named = [each for each in NAMES if each.partition(".")[0] == base]
    return [each for each in named if each.partition(".")[2].endswith("out") == stores]


def native(names: list[str]) -> list[str]:
    """The operators that have no overload written in Python or by hand."""
    return [name for name in names if TABLE[name].kinds <= {"native", "pointwise", "view"}]


def arguments(sample: Sample) -> tuple[tuple[Any, ...], dict[str, Any]]:
    flambeau.manual_seed(0)
    return to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)


def invoked(names: list[str], sample: Sample, **more: Any) -> Any:
    """The result of the first overload that takes the arguments; NotImplemented if none does."""
    for name in names:
        args, kwargs = arguments(sample)
        try:
            return _C._invoke(name, *args, **kwargs, **more)
        except TypeError:
            continue
    return NotImplemented


def assert_same(name: str, actual: Any, expected: Any, sample: Sample) -> None:
    if SAMPLES[name].values:
        assert_identical(actual, expected, f"{name}{sample!r}")
    elif isinstance(expected, flambeau.Tensor):
        assert (actual.shape, actual.dtype) == (expected.shape, expected.dtype)
    else:
        assert type(actual) is type(expected)


@pytest.mark.parametrize("name", native(SAMPLED))
def test_invoke_equals_the_call(name: str) -> None:
    operator, drawn = main_samples(name)
    expressed = 0
    for sample in drawn:
        if ENTRY_POINT & set(sample.kwargs):
            continue
        actual = invoked(rows(name), sample)
        if actual is not NotImplemented:
            expressed += 1
            assert_same(name, actual, run(operator, sample), sample)
    assert expressed, f"{name}: no sample can be expressed"


@pytest.mark.parametrize("name", native(having("inplace")))
def test_in_place(name: str) -> None:
    operator, drawn = main_samples(name)
    for sample in drawn:
        if not (sample.args and isinstance(sample.args[0], Input)):
            continue
        try:
            args, kwargs = arguments(sample)
            expected = operator.call_in_place(flambeau, args, kwargs)
        except (RuntimeError, TypeError):
            continue  # a result of another shape or type than the input
        actual = invoked(rows(name, suffix="_"), sample)
        if actual is not NotImplemented:
            assert_same(name, actual, expected, sample)


@pytest.mark.parametrize("name", native(having("out")))
def test_out(name: str) -> None:
    operator, drawn = main_samples(name)
    for sample in drawn:
        if ENTRY_POINT & set(sample.kwargs):
            continue
        expected = run(operator, sample)
        single = isinstance(expected, flambeau.Tensor)
        if not single and not isinstance(expected, tuple):
            continue
        out = (
            flambeau.empty(0, dtype=expected.dtype)
            if single
            else [flambeau.empty(0, dtype=each.dtype) for each in expected]
        )
        actual = invoked(rows(name, stores=True), sample, out=out)
        if actual is not NotImplemented:
            assert (actual is out) if single else (actual[0] is out[0])
            assert_same(name, actual, expected, sample)


def test_aliases_are_names() -> None:
    numbers = {name: found(name)[0] for name in NAMES}
    for alias, name in NAMES.items():
        assert numbers[alias] == numbers[name]
    assert NAMES["special_expit"] == "sigmoid"
    assert NAMES["arccos_"] == "acos_"
    assert len(set(numbers.values())) == len(set(NAMES.values()))


def test_unknown_names_are_refused() -> None:
    for name in ("nothing", "add.nothing", ""):
        assert _C._find_op(name) is None
        with pytest.raises(ValueError, match="there is no operator called"):
            _C._invoke(name, flambeau.ones(2))
    with pytest.raises(ValueError, match="there is no operator number"):
        _C._invoke(1 << 40, flambeau.ones(2))
    with pytest.raises(TypeError, match="expected the name of an operator"):
        _C._invoke(1.5, flambeau.ones(2))


def test_inner_operators_are_refused() -> None:
    inner = [name for name in NAMES if found(name)[4] & _C._OP_INNER]
    assert inner
    for name in inner:
        with pytest.raises(ValueError, match="trusts its arguments"):
            _C._invoke(name)


@pytest.mark.parametrize(
    ("name", "args", "kwargs", "message"),
    [
        ("exp", (1.5,), {}, r"exp\(\): argument 'input' must be Tensor, not float"),
        ("add_", (1.5, 2), {}, "argument 'input' must be Tensor"),
        ("sum.dim", ("x", "rows"), {}, "argument 'dim' must be int or tuple of ints, not str"),
        ("cat", ("x",), {}, "argument 'tensors' must be tuple of Tensors, not Tensor"),
        ("transpose", ("x", 0, 1.0), {}, "argument 'dim1' must be int, not float"),
        ("sum.dim", ("x", 0, 1), {}, "argument 'keepdim' must be bool, not int"),
        ("div.rounding_mode", ("x", 2), {"rounding_mode": 3}, "'rounding_mode' must be str"),
        ("to.device", ("x",), {"dtype": "cpu"}, "argument 'dtype' must be torch.dtype"),
        ("exp", (), {}, "missing required argument 'input'"),
        ("exp", ("x", 1, 2), {}, "takes 1 positional arguments, got 3"),
        ("exp", ("x",), {"other": 1}, "unexpected keyword argument 'other'"),
        ("exp", ("x",), {"input": 1}, "multiple values for argument 'input'"),
    ],
)
def test_wrong_kinds_are_refused(
    name: str, args: tuple[Any, ...], kwargs: dict[str, Any], message: str
) -> None:
    given = [flambeau.ones(2, 2) if each == "x" else each for each in args]
    with pytest.raises(TypeError, match=message):
        _C._invoke(name, *given, **kwargs)


@pytest.mark.parametrize("call", [flambeau.index_put, flambeau.ops.aten.index_put])
def test_lists_that_the_table_lets_have_gaps(call: Any) -> None:
    x, index, value = flambeau.zeros(2, 3), flambeau.tensor([1]), flambeau.tensor(5.0)
    assert call(x, [None, index], value).tolist() == [[0, 5, 0], [0, 5, 0]]
    assert _C._invoke("_index", x + 1, [None, index]).tolist() == [[1], [1]]
    with pytest.raises(TypeError, match=r"must be tuple of Tensors and None, .*element 1 is int"):
        call(x, [None, 1], value)
    with pytest.raises(IndexError, match="expected positions or a mask for some dimension"):
        call(x, [None, None], value)
    with pytest.raises(IndexError, match="too many indices"):
        call(x, [None, None, index], value)
    with pytest.raises(TypeError, match="'tensors' must be tuple of Tensors, not list"):
        _C._invoke("cat", [x, None])


def test_defaults_are_those_of_the_signature() -> None:
    """What is left out, or None where that is no value, is what the table says."""
    x = flambeau.rand(3, 4)
    assert flambeau.equal(
        _C._invoke("nn_functional_softplus", x), flambeau.nn.functional.softplus(x)
    )
    assert flambeau.equal(_C._invoke("sum.dim", x, None), x.sum())
    for name in NAMES:
        for _, kind, default, _ in found(name)[3]:
            assert default is None or kind != "object", name


def test_sparse_tensors_are_refused_as_ever() -> None:
    sparse = flambeau.eye(3).to_sparse()
    refused = 0
    for name in ("flip", "logsumexp", "tile"):
        with pytest.raises((RuntimeError, NotImplementedError)) as ordinary:
            getattr(flambeau, name)(sparse, (1, 1) if name == "tile" else (0,))
        with pytest.raises(type(ordinary.value)):
            _C._invoke(name, sparse, (1, 1) if name == "tile" else (0,))
        refused += 1
    assert refused == 3


def test_gradients_and_versions() -> None:
    x = flambeau.rand(3, requires_grad=True)
    y = _C._invoke("mul", x, x)
    y.sum().backward()
    assert flambeau.equal(x.grad, 2 * x.detach())
    z = flambeau.rand(3)
    before = z._version
    assert _C._invoke("mul_", z, 2) is z
    assert z._version == before + 1


def test_samples_of_a_map_are_drawn_apart() -> None:
    def drawn(x: flambeau.Tensor) -> flambeau.Tensor:
        return x + _C._invoke("rand", (3,))

    rows_of = flambeau.vmap(drawn, randomness="different")(flambeau.zeros(2, 1))
    assert rows_of.shape == (2, 3)
    assert not flambeau.equal(rows_of[0], rows_of[1])


def test_modes_and_classes_answer_first() -> None:
    with flambeau.device("meta"):
        assert _C._invoke("zeros", (2,)) is NotImplemented
    assert _C._invoke("exp", flambeau.ones(2, device="meta")) is NotImplemented
    assert flambeau.ops.aten.exp(flambeau.ones(2, device="meta")).device.type == "meta"
