"""Every operator of the table, recorded by its samples: the graph gives what the call gave."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import flambeau
from flambeau import nn
from flambeau.fx.experimental.proxy_tensor import make_fx
from flambeau.utils._pytree import tree_flatten, tree_leaves, tree_unflatten
from tests.ops.check import is_tensor, outputs
from tests.ops.make import to_module
from tests.ops.test_table import SAMPLED, main_samples

# Elements that nobody has set; arrays and classes, which graphs do not hold.
NOT_RECORDED = {"empty", "empty_like", "empty_permuted", "empty_strided", "new_empty"}
NOT_RECORDED |= {"new_empty_strided", "from_numpy", "as_subclass"}
# What calls back into Python for elements, or moves a tensor to other memory.
REFUSED = {"apply_", "map_", "map2_", "set_"}


def check_recorded(call: Any, arguments: Any) -> None:
    """Record a call, and run the graph on the same tensors."""
    leaves, shape = tree_flatten(arguments)
    places = [i for i, leaf in enumerate(leaves) if is_tensor(leaf)]

    def program(*tensors: Any) -> Any:
        given = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = tensor
        args, kwargs = tree_unflatten(given, shape)
        result = call(args, kwargs)
        return tuple(outputs(result))

    def tensors() -> list[Any]:
        return [leaves[place].clone() for place in places]

    flambeau.manual_seed(0)
    expected = program(*tensors())
    if not all(map(is_tensor, expected)):  # a number or a size: known while recording, or refused
        return
    flambeau.manual_seed(0)
    recorded = make_fx(program)(*tensors())
    flambeau.manual_seed(0)
    actual = recorded(*tensors())
    for one, other in zip(actual, expected, strict=True):
        assert flambeau.equal(one.nan_to_num(), other.nan_to_num())


@pytest.mark.parametrize("name", [name for name in SAMPLED if name not in NOT_RECORDED | REFUSED])
def test_recorded_operator(name: str) -> None:
    operator, samples = main_samples(name)

    def function(args: Any, kwargs: Any) -> Any:
        return operator.call(flambeau, args, kwargs)

    def method(args: Any, kwargs: Any) -> Any:
        return getattr(args[0], operator.method_name)(*args[1:], **kwargs)

    for sample in samples[:4]:
        arguments = to_module(flambeau, (sample.args, sample.kwargs))
        check_recorded(function, arguments)
        if "method" in operator.function_forms and arguments[0] and is_tensor(arguments[0][0]):
            check_recorded(method, arguments)


def module_of(function: Callable[..., Any], count: int) -> nn.Module:
    """A module of as many inputs as a program has tensors."""
    names = ", ".join(f"x{i}" for i in range(count))
    return type(
        "Call",
        (nn.Module,),
        {"forward": eval(f"lambda self, {names}: call({names})", {"call": function})},
    )()


NO_TENSORS = {"allclose", "broadcast_shapes", "equal", "is_nonzero", "item", "numpy"}
NO_TENSORS |= {"promote_types", "result_type", "size", "tolist"}


@pytest.mark.parametrize(
    "name", [n for n in SAMPLED if n not in NOT_RECORDED | REFUSED | NO_TENSORS]
)
def test_stored_operator(name: str) -> None:
    operator, samples = main_samples(name)
    leaves, shape = tree_flatten(to_module(flambeau, (samples[0].args, samples[0].kwargs)))
    places = [i for i, leaf in enumerate(leaves) if is_tensor(leaf)]

    def program(*tensors: Any) -> Any:
        given = list(leaves)
        for place, tensor in zip(places, tensors, strict=True):
            given[place] = tensor
        args, kwargs = tree_unflatten(given, shape)
        return tuple(tree_leaves(operator.call(flambeau, args, kwargs)))

    inputs = tuple(leaves[place].clone() for place in places)
    exported = flambeau.export.export(module_of(program, len(places)), inputs)
    file = io.BytesIO()
    flambeau.export.save(exported, file)
    file.seek(0)
    assert str(flambeau.export.load(file)) == str(exported)


@pytest.mark.parametrize("name", sorted(REFUSED))
def test_refused_operator(name: str) -> None:
    operator, samples = main_samples(name)
    args, kwargs = to_module(flambeau, (samples[0].args, samples[0].kwargs))
    tensor, *rest = args
    program = make_fx(lambda x: operator.call(flambeau, (x, *rest), kwargs))
    with pytest.raises(NotImplementedError, match=f"Tensor.{name} cannot be recorded in a graph"):
        program(tensor)
