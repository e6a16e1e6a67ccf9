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


def check_autograd(operator: Operator, args: Any, kwargs: Any, **tolerances: Any) -> None:
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
        gradcheck(lambda *values: operator(*values, **kwargs), tuple(args), **tolerances)
    except RuntimeError as error:
        raise OpCheckError(f"opcheck: {operator.schema.name}: {error}") from error


def check_repeated(operator: Operator, args: Any, kwargs: Any, **tolerances: Any) -> None:
    """A second call gives the same results and gradients: a compiler may call it at any time."""
    first, second = (_with_gradients(operator, *_copies((args, kwargs))) for _ in range(2))
    limits = {"rtol": 0.0, "atol": 0.0, **tolerances}
    try:
        fb.testing.assert_close(second, first, equal_nan=True, **limits)
    except AssertionError as error:
        raise OpCheckError(
            f"opcheck: {operator.schema.name} gives other results in a second call: {error}"
        ) from error


def _with_gradients(operator: Operator, args: Any, kwargs: Any) -> list[Tensor]:
    """The results of a call with the same random numbers, and the gradients of its inputs."""
    with fb.random.fork_rng():
        fb.manual_seed(0)
        results = _tensors(operator(*args, **kwargs))
    inputs = [each for each in _tensors((args, kwargs)) if each.requires_grad]
    roots = [each for each in results if each.requires_grad]
    if not inputs or not roots:
        return [each.detach() for each in results]
    weights = [fb.ones_like(root) for root in roots]
    grads = fb.autograd.grad(roots, inputs, weights, materialize_grads=True)
    return [*(each.detach() for each in results), *grads]


# Those that compare numbers take tolerances.
TESTS: dict[str, Callable[..., None]] = {
    "test_schema": check_schema,
    "test_autograd_registration": check_autograd,
    "test_faketensor": check_fake,
    "test_aot_dispatch_static": check_repeated,
    "test_aot_dispatch_dynamic": check_repeated,
}
_COMPARING = (check_autograd, check_repeated)


def opcheck(
    operator: Operator,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None,
    test_utils: str | Sequence[str],
    raise_exception: bool,
    atol: float | None,
    rtol: float | None,
) -> dict[str, Any]:
    """Run the tests that are named, and say how each ended."""
    names = [test_utils] if isinstance(test_utils, str) else list(test_utils)
    if not set(names) <= TESTS.keys():
        raise ValueError(
            f"opcheck: expected test_utils to be a subset of {tuple(TESTS)}, got {tuple(names)}"
        )
    given = {"atol": atol, "rtol": rtol}
    tolerances = {name: value for name, value in given.items() if value is not None}
    outcome: dict[str, Any] = {}
    for name in names:
        test = TESTS[name]
        try:
            test(operator, args, kwargs or {}, **(tolerances if test in _COMPARING else {}))
            outcome[name] = "SUCCESS"
        except OpCheckError as error:
            if raise_exception:
                raise
            outcome[name] = error
    return outcome
