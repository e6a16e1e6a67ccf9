"""Derivatives of functions: products with Jacobians and Hessians, and the matrices themselves."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.autograd import forward_ad

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

_Tensors = tuple[Tensor, ...]
_Function = Callable[..., Any]

_IN_STRICT_MODE = "This is not allowed in strict mode."
_NOT_TWICE = (
    "While computing the hessian, found that the jacobian of the user-provided function with "
    f"respect to input {{}} is independent of the input. {_IN_STRICT_MODE} You should ensure that "
    "your function is twice differentiable and that the jacobian depends on the inputs (this "
    "would be violated by a linear function for example)."
)
_INDEPENDENT = (
    f"The output of the user-provided function is independent of input {{}}. {_IN_STRICT_MODE}"
)


def vjp(
    func: _Function,
    inputs: Tensor | _Tensors,
    v: Tensor | _Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Function value, and product of a vector with the Jacobian.

    Args:
        func: Function of tensors.
        inputs: Its arguments, a tensor or a tuple of tensors.
        v: Vector, with the shapes of the outputs. Default: 1 for an output of one element.
        create_graph: Whether the results can be differentiated. Default: False.
        strict: Whether an output that does not depend on an input is an error instead of a
            derivative of 0. Default: False.

    Returns:
        A pair: `func(*inputs)`, and v^T J with the shapes of the inputs.

    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.vjp(lambda x: x**2, x, torch.tensor([1.0, 10.0]))
        (tensor([1., 4.]), tensor([ 2., 40.]))

    See also:
        `torch.func.vjp`.
    """
    with fb.enable_grad():
        is_tuple, at = _point("vjp", inputs, create_graph)
        many_outputs, outputs = _outputs_of("vjp", func, at, strict)
        vectors = _vectors("vjp", v, outputs, many_outputs, "user-provided function returns")
        grads = _grad(outputs, at, vectors, create_graph)
        products = _filled(grads, at, strict, _INDEPENDENT)
        if strict and create_graph:
            _check_recorded(products)
    return _given(outputs, many_outputs, create_graph), _given(products, is_tuple, create_graph)


def jvp(
    func: _Function,
    inputs: Tensor | _Tensors,
    v: Tensor | _Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Function value, and product of the Jacobian with a vector.

    Args:
        func: Function of tensors.
        inputs: Its arguments, a tensor or a tuple of tensors.
        v: Vector, with the shapes of the inputs. Default: 1 for an input of one element.
        create_graph: Whether the results can be differentiated. Default: False.
        strict: Whether an output that does not depend on an input is an error instead of a
            derivative of 0. Default: False.

    Returns:
        A pair: `func(*inputs)`, and J v with the shapes of the outputs.

    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.jvp(lambda x: x**2, x, torch.tensor([1.0, 10.0]))
        (tensor([1., 4.]), tensor([ 2., 40.]))

    See also:
        `torch.func.jvp`, which uses forward mode.
    """
    with fb.enable_grad():
        is_tuple, at = _point("jvp", inputs, create_graph)
        vectors = _vectors("jvp", v, at, is_tuple, "input to the user-provided function is")
        many_outputs, outputs = _outputs_of("jvp", func, at, strict)
        # Backward is linear in these, so their value does not matter.
        weights = tuple(fb.zeros_like(y).requires_grad_() for y in outputs)
        grads = _filled(_grad(outputs, at, weights, True), at, strict, _INDEPENDENT)
        products = _filled(
            _grad(grads, weights, vectors, create_graph),
            outputs,
            strict,
            "The gradient with respect to the input is independent of entry {} in the "
            "grad_outputs when using the double backward trick to compute forward mode gradients. "
            + _IN_STRICT_MODE,
        )
        if strict and create_graph:
            _check_recorded(products)
    return _given(outputs, many_outputs, create_graph), _given(products, many_outputs, create_graph)


def vhp(
    func: _Function,
    inputs: Tensor | _Tensors,
    v: Tensor | _Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Function value, and product of a vector with the Hessian.

    Args:
        func: Function of tensors.
        inputs: Its arguments, a tensor or a tuple of tensors.
        v: Vector, with the shapes of the inputs. Default: 1 for an input of one element.
        create_graph: Whether the results can be differentiated. Default: False.
        strict: Whether an output that does not depend on an input is an error instead of a
            derivative of 0. Default: False.

    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 1.0]))
        (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("vhp", func, inputs, v, create_graph, strict)


def hvp(
    func: _Function,
    inputs: Tensor | _Tensors,
    v: Tensor | _Tensors | None = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Function value, and product of the Hessian with a vector.

    Args:
        func: Function of tensors.
        inputs: Its arguments, a tensor or a tuple of tensors.
        v: Vector, with the shapes of the inputs. Default: 1 for an input of one element.
        create_graph: Whether the results can be differentiated. Default: False.
        strict: Whether an output that does not depend on an input is an error instead of a
            derivative of 0. Default: False.

    Example:
        >>> x = torch.tensor([1.0, 2.0])
        >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), x, torch.tensor([1.0, 1.0]))
        (tensor(9.), tensor([ 6., 12.]))
    """
    return _hessian_product("hvp", func, inputs, v, create_graph, strict)


def jacobian(
    func: _Function,
    inputs: Tensor | _Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Jacobian of a function.

    Args:
        func: Function of tensors.
        inputs: Its arguments, a tensor or a tuple of tensors.
        create_graph: Whether the results can be differentiated. Default: False.
        strict: Whether an output that does not depend on an input is an error instead of a
            derivative of 0. Default: False.
        vectorize: Whether to compute all rows in one batched pass. Default: False.
        strategy: `"reverse-mode"` (the default), or with `vectorize` `"forward-mode"`.

    Returns:
        A tensor of the output's shape followed by the input's; a tuple over inputs that are a
        tuple, and around that a tuple over outputs that are one.

    Example:
        >>> torch.autograd.functional.jacobian(lambda x: x**2, torch.tensor([1.0, 2.0]))
        tensor([[2., 0.],
                [0., 4.]])

    See also:
        `torch.func.jacrev`, `torch.func.jacfwd`.
    """
    _check_strategy(strategy, "reverse-mode", "forward-mode")
    if strict and vectorize:
        raise RuntimeError(
            "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not "
            "supported together. Please either set `strict=False` or `vectorize=False`."
        )
    if strategy == "forward-mode":
        return _forward_jacobian(func, inputs, create_graph, vectorize)
    with fb.enable_grad():
        is_tuple, at = _point("jacobian", inputs, create_graph)
        many_outputs, outputs = _outputs_of("jacobian", func, at, strict)
        rows = _batched_rows if vectorize else _single_rows
        matrices = []
        for i, output in enumerate(outputs):
            message = (
                f"Output {i} of the user-provided function is independent of input {{}}. "
                f"{_IN_STRICT_MODE}"
            )
            matrices.append(
                _filled_rows(rows(output, at, create_graph), output, at, strict, message)
            )
            if strict and create_graph:
                _check_recorded(matrices[-1])
    per_output = tuple(_given(row, is_tuple, create_graph) for row in matrices)
    return per_output if many_outputs else per_output[0]


def hessian(
    func: _Function,
    inputs: Tensor | _Tensors,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Hessian of a function that returns one element.

    Args:
        func: Function of tensors.
        inputs: Its arguments, a tensor or a tuple of tensors.
        create_graph: Whether the results can be differentiated. Default: False.
        strict: Whether an output that does not depend on an input is an error instead of a
            derivative of 0. Default: False.
        vectorize: Whether to compute all rows in one batched pass. Default: False.
        outer_jacobian_strategy: `"reverse-mode"` (the default), or with `vectorize`
            `"forward-mode"`.

    Returns:
        A tensor of the input's shape twice; a tuple of tuples for inputs that are a tuple.

    Example:
        >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
        tensor([[ 6.,  0.],
                [ 0., 12.]])

    See also:
        `torch.func.hessian`.
    """
    _check_strategy(outer_jacobian_strategy, "reverse-mode", "forward-mode")
    is_tuple = isinstance(inputs, tuple)

    def gradient(*at: Tensor) -> Any:
        grads = jacobian(_scalar_of("hessian", func), at, create_graph=True)
        if strict:
            for i, grad in enumerate(grads):
                if not grad.requires_grad:
                    raise RuntimeError(_NOT_TWICE.format(i))
        return grads if is_tuple else grads[0]

    return jacobian(gradient, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)


def _hessian_product(
    name: str, func: _Function, inputs: Any, v: Any, create_graph: bool, strict: bool
) -> tuple[Any, Any]:
    with fb.enable_grad():
        is_tuple, at = _point(name, inputs, create_graph)
        vectors = _vectors(name, v, at, is_tuple, "input to the user-provided function is")
        output = _scalar_of(name, func)(*at)
        if strict and not output.requires_grad:
            raise RuntimeError(_not_differentiable(0))
        grads = _filled(_grad((output,), at, None, True), at, strict, _INDEPENDENT)
        products = _filled(_grad(grads, at, vectors, create_graph), at, strict, _NOT_TWICE)
        if strict and create_graph:
            _check_recorded(products)
    return _given((output,), False, create_graph), _given(products, is_tuple, create_graph)


def _forward_jacobian(func: _Function, inputs: Any, create_graph: bool, vectorize: bool) -> Any:
    if create_graph:
        raise NotImplementedError(
            "torch.autograd.functional.jacobian: `create_graph=True` and "
            '`strategy="forward-mode"` are not supported together (yet). Please either set '
            '`create_graph=False` or `strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )
    is_tuple, at = _point("jacobian", inputs, False)
    many_outputs = False

    def columns(which: int) -> Any:
        x = at[which]

        def along(direction: Tensor) -> _Tensors:
            nonlocal many_outputs
            with forward_ad.dual_level():
                moved = forward_ad.make_dual(x, direction)
                many_outputs, outputs = _as_tuple(
                    "jacobian",
                    "outputs of the user-provided function",
                    func(*at[:which], moved, *at[which + 1 :]),
                )
                pairs = [forward_ad.unpack_dual(y) for y in outputs]
                return tuple(
                    fb.zeros_like(pair.primal) if pair.tangent is None else pair.tangent
                    for pair in pairs
                )

        directions = fb.eye(x.numel(), dtype=x.dtype).reshape((x.numel(), *x.shape))
        return tuple(
            column.movedim(0, -1).reshape((*column.shape[1:], *x.shape)).detach()
            for column in fb.func.vmap(along)(directions)
        )

    per_output = [
        row if is_tuple else row[0] for row in zip(*map(columns, range(len(at))), strict=True)
    ]
    return tuple(per_output) if many_outputs else per_output[0]


def _single_rows(output: Tensor, at: _Tensors, create_graph: bool) -> list[Tensor | None]:
    """The Jacobian of one output for every input, None where it does not depend on it."""
    rows = []
    for i in range(output.numel()):
        weight = fb.zeros_like(output).reshape(-1)
        weight[i] = 1
        rows.append(_grad((output,), at, (weight.reshape(output.shape),), create_graph))
    # Rows of one input are all None or all there: the graph between them is the same.
    return [None if column[0] is None else fb.stack(column) for column in zip(*rows, strict=True)]


def _batched_rows(output: Tensor, at: _Tensors, create_graph: bool) -> Sequence[Tensor | None]:
    """The same by one backward of all rows."""
    size = output.numel()
    weights = fb.eye(size, dtype=output.dtype).reshape((size, *output.shape))
    return _grad((output,), at, (weights,), create_graph, is_grads_batched=True)


def _filled_rows(
    rows: Sequence[Tensor | None], output: Tensor, at: _Tensors, strict: bool, message: str
) -> _Tensors:
    shaped = [
        None if row is None else row.reshape((*output.shape, *x.shape))
        for row, x in zip(rows or [None] * len(at), at, strict=True)
    ]
    zeros = tuple(x.new_zeros((*output.shape, *x.shape)) for x in at)
    return _filled(shaped, zeros, strict, message)


def _grad(
    outputs: _Tensors,
    inputs: _Tensors,
    weights: _Tensors | None,
    create_graph: bool,
    is_grads_batched: bool = False,
) -> Sequence[Tensor | None]:
    """`autograd.grad` that passes over outputs that no gradient leads to."""
    used = [i for i, output in enumerate(outputs) if output.requires_grad]
    if not used:
        return [None] * len(inputs)
    grads: Sequence[Tensor | None] = fb.autograd.grad(
        [outputs[i] for i in used],
        inputs,
        None if weights is None else [weights[i] for i in used],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
        is_grads_batched=is_grads_batched,
    )
    return grads


def _filled(grads: Sequence[Tensor | None], like: _Tensors, strict: bool, message: str) -> _Tensors:
    """Zeros in place of what is missing, or in strict mode an error with the number of it."""
    if strict and any(grad is None for grad in grads):
        missing = next(i for i, grad in enumerate(grads) if grad is None)
        raise RuntimeError(message.format(missing))
    return tuple(
        fb.zeros_like(x) if grad is None else grad for grad, x in zip(grads, like, strict=True)
    )


def _check_recorded(products: _Tensors) -> None:
    for i, product in enumerate(products):
        if not product.requires_grad:
            raise RuntimeError(
                f"The jacobian of the user-provided function is independent of input {i}. This is "
                "not allowed in strict mode when create_graph=True."
            )


def _as_tuple(name: str, what: str, value: Any) -> tuple[bool, _Tensors]:
    """Whether a value is a tuple, and the tensors in it."""
    is_tuple = isinstance(value, tuple)
    tensors = value if is_tuple else (value,)
    for i, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            found = f"the value at index {i}" if is_tuple else f"the given {what}"
            raise TypeError(
                f"The {what} given to {name} must be either a Tensor or a tuple of Tensors but "
                f"{found} has type {type(tensor)}."
            )
    return is_tuple, tensors


def _point(name: str, inputs: Any, create_graph: bool) -> tuple[bool, _Tensors]:
    """Inputs that can be differentiated by, without any effect on the caller's own."""
    is_tuple, tensors = _as_tuple(name, "inputs", inputs)
    at = tuple(
        x.view_as(x) if create_graph and x.requires_grad else x.detach().requires_grad_()
        for x in tensors
    )
    return is_tuple, at


def _outputs_of(name: str, func: _Function, at: _Tensors, strict: bool) -> tuple[bool, _Tensors]:
    is_tuple, outputs = _as_tuple(name, "outputs of the user-provided function", func(*at))
    if strict:
        for i, output in enumerate(outputs):
            if not output.requires_grad:
                raise RuntimeError(_not_differentiable(i))
    return is_tuple, outputs


def _not_differentiable(i: int) -> str:
    return (
        f"Output {i} of the user-provided function does not require gradients. The outputs must "
        "be computed in a differentiable manner from the input when running in strict mode."
    )


def _scalar_of(name: str, func: _Function) -> Callable[..., Tensor]:
    """`func`, of which one tensor with one element is asked."""

    def scalar(*at: Tensor) -> Tensor:
        is_tuple, outputs = _as_tuple(name, "outputs of the user-provided function", func(*at))
        if is_tuple:
            raise RuntimeError(f"The function given to {name} should return a single Tensor")
        if outputs[0].numel() != 1:
            raise RuntimeError(
                f"The Tensor returned by the function given to {name} should contain a single "
                "element"
            )
        return outputs[0].squeeze() if name == "hessian" else outputs[0]

    return scalar


def _vectors(name: str, v: Any, like: _Tensors, many: bool, owner: str) -> _Tensors:
    """`v` as a tuple of the shapes of `like`; a missing one is 1 where that is unambiguous."""
    if v is None:
        if many or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the {owner} a single Tensor with a single "
                "element."
            )
        return (fb.ones_like(like[0]),)
    _, vectors = _as_tuple(name, "v", v)
    if len(vectors) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(vectors)}."
            if many
            else "The given v should contain a single Tensor."
        )
    for i, (vector, tensor) in enumerate(zip(vectors, like, strict=True)):
        if vector.shape != tensor.shape:
            entry = f"Entry {i} in v" if many else "v"
            raise RuntimeError(
                f"{entry} has invalid size: should be {tensor.shape} but got {vector.shape}."
            )
    return vectors


def _given(tensors: _Tensors, is_tuple: bool, create_graph: bool) -> Any:
    """What the caller gets: outside of the graph unless wanted in it, a tuple if one was given."""
    results = tensors if create_graph else tuple(tensor.detach() for tensor in tensors)
    return results if is_tuple else results[0]


def _check_strategy(strategy: str, *known: str) -> None:
    if strategy not in known:
        raise AssertionError(
            f"Expected strategy to be one of {known}, got {strategy!r}. Forward mode tends to be "
            "faster for a function with more outputs than inputs, reverse mode otherwise."
        )
