"""``torch.library.opcheck``: does an operator keep its promises?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._library.registry import Operator
from flambeau.autograd import gradcheck
from flambeau.utils._pytree import tree_leaves, tree_map

__all__: list[str] = []


class OpCheckError(Exception):
    """A promise that an operator does not keep."""


def _tensors(tree: Any) -> list[Tensor]:
    return [each for each in tree_leaves(tree) if isinstance(each, Tensor)]


def _copies(tree: Any) -> Any:
    def copied(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        return leaf.detach().clone().requires_grad_(leaf.requires_grad)

    return tree_map(copied, tree)


def check_schema(operator: Operator, args: Any, kwargs: Any) -> None:
    """Only arguments that the signature marks are changed."""
    args, kwargs = _copies((args, kwargs))
    values = operator.schema.bind(args, kwargs)
    before = _copies(values)
    with fb.no_grad():
        operator(*args, **kwargs)
    for argument, old, new in zip(operator.schema.arguments, before, values, strict=True):
        changed = any(
            not fb.equal(one, other)
            for one, other in zip(_tensors(old), _tensors(new), strict=True)
        )
        if changed and not argument.is_write:
            raise OpCheckError(
                f"opcheck: {operator.schema.name} changes {argument.name!r}, which its signature "
                "does not say; name it in mutates_args"
            )


def check_fake(operator: Operator, args: Any, kwargs: Any) -> None:
    """What ``register_fake`` gives has the shapes and element types of the results."""
    if operator.fake is None:
        raise OpCheckError(
            f"opcheck: {operator.schema.name} has no fake kernel; register_fake registers one"
        )
    args, kwargs = _copies((args, kwargs))
    with fb.no_grad():
        real = _tensors(operator(*args, **kwargs))
        made = _tensors(operator.run(operator.fake, operator.schema.bind(args, kwargs)))
    if [(each.shape, each.dtype) for each in real] != [(each.shape, each.dtype) for each in made]:
        raise OpCheckError(
            f"opcheck: the fake kernel of {operator.schema.name} gives other shapes or dtypes than "
            "the operator"
        )


def check_autograd(operator: Operator, args: Any, kwargs: Any) -> None:
    """Inputs that require gradients get the right ones; they are compared in float64."""
    inputs = _tensors((args, kwargs))
    if not any(each.requires_grad for each in inputs):
        return

    def wide(leaf: Any) -> Any:
        if not isinstance(leaf, Tensor) or not leaf.is_floating_point():
            return leaf
        return leaf.detach().double().requires_grad_(leaf.requires_grad)

    args, kwargs = tree_map(wide, (args, kwargs))
    try:
        gradcheck(lambda *values: operator(*values, **kwargs), tuple(args))
    except RuntimeError as error:
        raise OpCheckError(f"opcheck: {operator.schema.name}: {error}") from error


TESTS: dict[str, Callable[[Operator, Any, Any], None]] = {
    "test_schema": check_schema,
    "test_autograd_registration": check_autograd,
    "test_faketensor": check_fake,
}


def opcheck(
    operator: Operator,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    test_utils: str | Sequence[str],
    raise_exception: bool,
) -> dict[str, Any]:
    """Run the tests that are named, and say how each ended."""
    names = [test_utils] if isinstance(test_utils, str) else test_utils
    outcome: dict[str, Any] = {}
    for name in names:
        if name not in TESTS:
            continue  # of PyTorch's compiler
        try:
            TESTS[name](operator, args, kwargs or {})
            outcome[name] = "SUCCESS"
        except OpCheckError as error:
            if raise_exception:
                raise
            outcome[name] = error
    return outcome
