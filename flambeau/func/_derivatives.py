"""Derivatives of functions, by reverse mode and by dual numbers.

A transform passes its own variables to the function: views of its arguments, connected to whatever
they were computed from, so that transforms nest. Its results stay in a graph only if that
graph leads to tensors outside of the transform.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.autograd.grad_mode import enable_grad
from flambeau.utils._pytree import tree_flatten, tree_map, tree_unflatten

__all__ = ["grad", "grad_and_value", "jvp", "linearize", "value_and_grad", "vjp"]

Argnums = int | tuple[int, ...]


def grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., Any]:
    """Function that computes the gradient of a function.

    Args:
        func: Function with a scalar result.
        argnums: Position of the argument, or a tuple of positions. Default: 0.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.

    Returns:
        A function of the same arguments; its result has the form of the argument.

    Example:
        >>> torch.func.grad(lambda x: x**3)(torch.tensor(2.0))
        tensor(12.)
        >>> torch.func.grad(torch.func.grad(lambda x: x**3))(torch.tensor(2.0))
        tensor(12.)

    See also:
        `torch.func.grad_and_value`, `torch.func.vmap`, `torch.autograd.grad`.
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = grad_and_value(func, argnums, has_aux)(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Function that computes gradient and value of a function.

    Args:
        func: Function with a scalar result.
        argnums: Position of the argument, or a tuple of positions. Default: 0.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.

    Returns:
        A function that returns the pair (gradient, value).

    Example:
        >>> torch.func.grad_and_value(lambda x: x**3)(torch.tensor(2.0))
        (tensor(12.), tensor(8.))
    """

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        keeps = fb.is_grad_enabled()
        with enable_grad():
            chosen = tree_map(_variable, select(args, argnums))
            output = func(*replace(args, argnums, chosen), **kwargs)
            output, aux = split_aux(output, has_aux, "grad_and_value(f)(*args)")
            _check_scalar(output)
            variables, spec = tree_flatten(chosen)
            connected = keeps and _C._leads_elsewhere([output], variables)
            found = _gradients([output], variables, None, connected, connected)
        gradient = tree_unflatten(found, spec)
        value = _released(output, variables, keeps)
        return gradient, (value, _released(aux, variables, keeps)) if has_aux else value

    return wrapper


def value_and_grad(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Function that computes value and gradient of a function: `grad_and_value` in JAX's order.

    Args:
        func: Function with a scalar result.
        argnums: Position of the argument, or a tuple of positions. Default: 0.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.

    Returns:
        A function that returns the pair (value, gradient).

    Example:
        >>> torch.func.value_and_grad(lambda x: x**3)(torch.tensor(2.0))
        (tensor(8.), tensor(12.))
    """
    both = grad_and_value(func, argnums, has_aux)

    @functools.wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        gradient, value = both(*args, **kwargs)
        return value, gradient

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> Any:
    """Function value, and the function that computes vector-Jacobian products.

    Args:
        func: Function of tensors.
        *primals: Its arguments.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.

    Returns:
        A pair: `func(*primals)`, and a function of cotangents that returns v^T J for each argument.

    Example:
        >>> y, pull_back = torch.func.vjp(torch.sin, torch.tensor([0.0, 1.0]))
        >>> pull_back(torch.ones(2))
        (tensor([1.0000, 0.5403]),)
    """
    return vjp_of(func, primals, None, has_aux)


def vjp_of(
    func: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums | None, has_aux: bool
) -> Any:
    """``vjp`` with respect to some of the arguments; all of them if ``argnums`` is None."""
    keeps = fb.is_grad_enabled()
    with enable_grad():
        chosen = tree_map(_variable, args if argnums is None else select(args, argnums))
        inner = chosen if argnums is None else replace(args, argnums, chosen)
        output, aux = split_aux(func(*inner), has_aux, "vjp(f, *primals)")
    outputs, out_spec = tree_flatten(output)
    check_tensors(outputs, "vjp(f, *primals)")
    variables, spec = tree_flatten(chosen)

    def pull(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        given, given_spec = tree_flatten(cotangents)
        if given_spec != out_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of "
                f"outputs to the function. cotangents: {given_spec}, primal output: {out_spec}"
            )
        wants_graph = fb.is_grad_enabled() if create_graph is None else create_graph
        connected = wants_graph and (
            _C._leads_elsewhere(outputs, variables) or any(g.requires_grad for g in given)
        )
        return tree_unflatten(_gradients(outputs, variables, given, retain_graph, connected), spec)

    result = _released(output, variables, keeps)
    return (result, pull, _released(aux, variables, keeps)) if has_aux else (result, pull)


class _DualLevel(_C._LevelScope):
    """A level of dual numbers."""

    _begin = staticmethod(_C._enter_dual_level)
    _end = staticmethod(_C._exit_dual_level)
    _value = None


def jvp(
    func: Callable[..., Any],
    primals: Any,
    tangents: Any,
    *,
    strict: bool = False,
    has_aux: bool = False,
) -> Any:
    """Function value and Jacobian-vector product, by forward mode.

    Args:
        func: Function of tensors.
        primals: Tuple of its arguments.
        tangents: Tuple of directions, one for each argument.
        strict: Accepted. Default: False.
        has_aux: Whether `func` returns `(output, aux)`; aux is then returned too. Default: False.

    Returns:
        A pair: `func(*primals)`, and J v.

    Example:
        >>> torch.func.jvp(torch.sin, (torch.tensor(0.0),), (torch.tensor(2.0),))
        (tensor(0.), tensor(2.))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals to be a tuple. E.g. it should be valid to "
            "call f(*primals)."
        )
    points, spec = tree_flatten(primals)
    directions, direction_spec = tree_flatten(tangents)
    if spec != direction_spec:
        raise RuntimeError(
            "jvp(f, primals, tangents): Expected primals and tangents to have the same python "
            "structure. For example, if primals is a tuple of 3 tensors, tangents also must be. "
            f"Got primals with structure {spec} and tangents with structure {direction_spec}"
        )
    check_tensors(points, "jvp(f, primals, tangents)", "primals")
    check_tensors(directions, "jvp(f, primals, tangents)", "tangents")
    is_meta = any(each.is_meta for each in (*points, *directions))
    with _DualLevel() as level:
        # Without elements a derivative is a shape, and that of the result.
        duals = (
            points
            if is_meta
            else [_C._make_dual(p, t, level) for p, t in zip(points, directions, strict=True)]
        )
        output = func(*tree_unflatten(duals, spec))
        output, aux = split_aux(output, has_aux, "jvp(f, primals, tangents)")
        outputs, out_spec = tree_flatten(output)
        check_tensors(outputs, "jvp(f, primals, tangents)")
        parts: list[tuple[Tensor, Tensor | None]]
        if is_meta:
            parts = [(each, fb.zeros_like(each)) for each in outputs]
        else:
            parts = [_C._unpack_dual(each, level) for each in outputs]
            aux = tree_map(lambda x: _C._unpack_dual(x, level)[0], aux) if has_aux else None
    if strict and any(tangent is None for _, tangent in parts):
        raise RuntimeError(
            "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
            "This is not allowed with strict=True."
        )
    values = tree_unflatten([primal for primal, _ in parts], out_spec)
    slopes = tree_unflatten(
        [fb.zeros_like(p) if tangent is None else tangent for p, tangent in parts], out_spec
    )
    return (values, slopes, aux) if has_aux else (values, slopes)


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Function value, and the derivative there as a linear function of directions.

    Args:
        func: Function of tensors.
        *primals: Its arguments.

    Returns:
        A pair: `func(*primals)`, and a function of tangents that returns J v.

    Example:
        >>> y, push_forward = torch.func.linearize(torch.sin, torch.tensor(0.0))
        >>> push_forward(torch.tensor(2.0))
        tensor(2.)
    """
    output, pull = vjp(func, *primals)
    outputs, spec = tree_flatten(output)
    probes = [fb.zeros_like(each).requires_grad_() for each in outputs]
    # The pullback is linear: its own pullback is the derivative.
    with enable_grad():
        pulled = tree_flatten(pull(tree_unflatten(probes, spec), create_graph=True))[0]

    def push(*tangents: Any) -> Any:
        directions = tree_flatten(tangents)[0]
        return tree_unflatten(_gradients(pulled, probes, directions, True, False), spec)

    return output, push


# --- arguments


def select(args: tuple[Any, ...], argnums: Argnums) -> Any:
    """The arguments to differentiate by: one, or a tuple of them."""
    if not isinstance(argnums, int | tuple) or isinstance(argnums, bool):
        raise RuntimeError(f"argnums must be int or Tuple[int, ...], got: {type(argnums)}")
    if isinstance(argnums, int):
        return args[_checked(argnums, len(args))]
    if not argnums:
        raise RuntimeError("argnums must be non-empty")
    numbers = [_checked(n, len(args)) for n in argnums]
    if len(set(numbers)) != len(numbers):
        raise RuntimeError(f"argnums elements must be unique, got {argnums}")
    return tuple(args[n] for n in numbers)


def replace(args: tuple[Any, ...], argnums: Argnums, chosen: Any) -> tuple[Any, ...]:
    """The arguments with the selected ones replaced."""
    numbers = (argnums,) if isinstance(argnums, int) else argnums
    values = (chosen,) if isinstance(argnums, int) else chosen
    result = list(args)
    for number, value in zip(numbers, values, strict=True):
        result[number] = value
    return tuple(result)


def _checked(number: Any, count: int) -> int:
    if not isinstance(number, int):
        raise RuntimeError(f"argnums elements must be int, got: {type(number)}")
    if not -count <= number < count:
        raise RuntimeError(f"Got argnum={number}, but only {count} positional inputs")
    return number % count


# --- results


def split_aux(output: Any, has_aux: bool, where: str) -> tuple[Any, Any]:
    if not has_aux:
        return output, None
    if not (isinstance(output, tuple) and len(output) == 2):
        raise RuntimeError(
            f"{where}: output of function f should be a tuple: (output, aux) if has_aux is True"
        )
    return output


def check_tensors(values: Sequence[Any], where: str, what: str = "") -> None:
    expected = f"expected {what} to be" if what else "expected f(*primals) to return"
    for value in values:
        if not isinstance(value, Tensor):
            raise RuntimeError(
                f"{where}: {expected} only tensors, got unsupported type {type(value)}"
            )
    if not values:
        raise RuntimeError(f"{where}: {expected} at least one tensor, got none")


def _check_scalar(output: Any) -> None:
    where = "grad_and_value(f)(*args): Expected f(*args) to return a"
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{where} Tensor, got {type(output)}")
    if output.dim() != 0:
        raise RuntimeError(
            f"{where} scalar Tensor, got tensor with {output.dim()} dims. Maybe you wanted to use "
            "the vjp or jacrev APIs instead?"
        )


# --- the tape


def _variable(value: Any) -> Tensor:
    if not isinstance(value, Tensor):
        raise ValueError(f"Thing passed to transform API must be Tensor, got {type(value)}")
    if not (value.is_floating_point() or value.is_complex()):
        raise RuntimeError("only Tensors of floating point dtype can require gradients")
    if value.is_meta:  # done in Python, which keeps the class
        return value.view_as(value) if value.requires_grad else value.detach().requires_grad_()
    return _C._variable(value)


def _released(tree: Any, variables: list[Tensor], keeps: bool) -> Any:
    """Detach results that are in the graph only because of the transform's own variables."""

    def release(value: Any) -> Any:
        if not isinstance(value, Tensor):
            raise RuntimeError(f"Expected tensors, got unsupported type {type(value)}")
        if not value.requires_grad or (keeps and _C._leads_elsewhere([value], variables)):
            return value
        return value.detach() if value.is_meta else _C._without_history(value)

    return tree_map(release, tree)


def _gradients(
    outputs: Sequence[Tensor],
    variables: Sequence[Tensor],
    cotangents: Sequence[Tensor] | None,
    keep_graph: bool,
    create_graph: bool,
) -> list[Tensor]:
    """Gradients of the outputs that depend on variables; zeros if none does."""
    if cotangents is None:
        cotangents = [fb.ones_like(each) for each in outputs]
    for i, (output, given) in enumerate(zip(outputs, cotangents, strict=True)):
        if output.shape != given.shape:
            raise RuntimeError(
                f"Mismatch in shape: grad_output[{i}] has a shape of {given.shape} and "
                f"output[{i}] has a shape of {output.shape}."
            )
    pairs = [(y, g) for y, g in zip(outputs, cotangents, strict=True) if y.requires_grad]
    found: Sequence[Any] = [None] * len(variables)
    if pairs:
        roots, grads = zip(*pairs, strict=True)
        found = _C._run_backward(roots, grads, keep_graph, create_graph, variables, True, False)
    return [fb.zeros_like(x) if g is None else g for x, g in zip(variables, found, strict=True)]
