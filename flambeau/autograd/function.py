"""`Function`: operators that users write with their own derivative."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor

__all__ = [
    "BackwardCFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class FunctionCtx:
    """What `forward` leaves for `backward`: ``ctx``. Any attribute may be set on it too."""

    to_save: tuple[Tensor | None, ...]
    saved_for_forward: tuple[Tensor | None, ...]
    dirty_tensors: tuple[Tensor, ...]
    non_differentiable: tuple[Tensor, ...]
    materialize_grads: bool
    needs_input_grad: tuple[bool, ...]
    saved_tensors: tuple[Any, ...]  # those of save_for_backward, as they were

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep inputs and outputs for `backward`, which finds them in `ctx.saved_tensors`.

        Unlike attributes of `ctx`, they are checked for changes in place and make no reference
        cycle.

        Args:
            *tensors: Tensors, or None.

        Example:
            >>> class Square(torch.autograd.Function):
            ...     @staticmethod
            ...     def forward(ctx, x):
            ...         ctx.save_for_backward(x)
            ...         return x * x
            ...
            ...     @staticmethod
            ...     def backward(ctx, grad):
            ...         (x,) = ctx.saved_tensors
            ...         return 2 * x * grad
            >>> x = torch.tensor(3.0, requires_grad=True)
            >>> Square.apply(x).backward()
            >>> x.grad
            tensor(6.)
        """
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for `jvp`, which finds them in ``ctx.saved_tensors``."""
        for tensor in tensors:
            if not isinstance(tensor, Tensor) and tensor is not None:
                raise TypeError(
                    "save_for_forward expects all arguments to be tensors; you should save "
                    f"non-tensors as attributes on ctx, got {type(tensor).__name__}."
                )
        self.saved_for_forward = tensors

    def mark_dirty(self, *args: Tensor) -> None:
        """Say which inputs `forward` changed in place. Each must be returned too."""
        self.dirty_tensors = args

    def mark_non_differentiable(self, *args: Tensor) -> None:
        """Say which outputs have no gradient. `backward` is still given one for each, of zeros."""
        self.non_differentiable = args

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether `backward` is given zeros (the default) or None for an unused output."""
        self.materialize_grads = value


class BackwardCFunction(_C._FunctionNode, FunctionCtx):
    """The node of a `Function` in the graph, and the ``ctx`` of its methods."""

    _forward_cls: type[Function]

    def apply(self, *args: Any) -> Any:
        """Run the backward that the user wrote."""
        function = self._forward_cls
        if function.backward is not Function.backward and function.vjp is not Function.vjp:
            raise RuntimeError(
                f"Implementing both 'backward' and 'vjp' for a custom Function is not allowed: "
                f"{function.__name__} has both. Implement one of them for backward mode AD."
            )
        run = function.backward if function.vjp is Function.vjp else function.vjp
        return run(self, *args)

    def apply_jvp(self, *args: Any) -> Any:
        """Run the forward-mode derivative that the user wrote."""
        return self._forward_cls.jvp(self, *args)


def _setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
    """Prepare ``ctx`` for the derivatives, after a `forward` that did not take it."""
    raise NotImplementedError("setup_context is not implemented.")


def _takes_ctx(function: Any) -> bool:
    """Whether `forward` is given ``ctx``, as it is without a `setup_context`."""
    return function.setup_context is _setup_context


class FunctionMeta(type):
    """Gives every `Function` the class of its nodes, which carries its name: ``ExpBackward``."""

    _backward_cls: type[BackwardCFunction]
    # Whether arguments that a call leaves out reach `setup_context` with their default values.
    _fb_fills_defaults: bool

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        super().__init__(name, bases, attributes)
        cls._backward_cls = type(f"{name}Backward", (BackwardCFunction,), {"_forward_cls": cls})
        forward: Any = getattr(cls, "forward", None)
        cls._fb_fills_defaults = bool(getattr(forward, "__defaults__", None)) and not _takes_ctx(
            cls
        )


class Function(FunctionCtx, metaclass=FunctionMeta):
    """Operator with a derivative of its own.

    A subclass defines the static methods `forward` and `backward`; `apply` of the class runs it.
    With a static method `setup_context(ctx, inputs, output)`, `forward` takes the inputs alone.

    Example:
        >>> class Exp(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         result = x.exp()
        ...         ctx.save_for_backward(result)
        ...         return result
        ...
        ...     @staticmethod
        ...     def backward(ctx, grad):
        ...         (result,) = ctx.saved_tensors
        ...         return grad * result
        >>> x = torch.tensor(0.0, requires_grad=True)
        >>> Exp.apply(x).backward()
        >>> x.grad
        tensor(1.)

    See also:
        `autograd.gradcheck`, `autograd.function.once_differentiable`.
    """

    # Whether `vmap` runs `forward` itself on batches, in place of a `vmap` method.
    generate_vmap_rule = False

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            f"{type(self)} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version.",
            DeprecationWarning,
            stacklevel=2,
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse what was the way to call a function before ``apply``."""
        raise RuntimeError(
            "Legacy autograd function with non-static forward method is deprecated. Please use "
            "new-style autograd function with static forward method. (Example: "
            "https://pytorch.org/docs/stable/autograd.html#torch.autograd.Function)"
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the result from ``ctx`` and the inputs, or from the inputs alone."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    setup_context = staticmethod(_setup_context)

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Compute a gradient, or None, for every input from the gradients of the outputs."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    # Another name that users may define it under.
    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Compute the outputs' tangents from those of the inputs, None where there is none."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @staticmethod
    def vmap(info: Any, in_dims: tuple[int | None, ...], *args: Any) -> Any:
        """Compute results for a batch: they and their batch dimensions."""
        raise NotImplementedError(
            "To use autograd.Function with vmap, you must either override the vmap staticmethod "
            "or set generate_vmap_rule=True."
        )

    apply: Any = classmethod(_C._apply_function)

    @classmethod
    def _fb_call_forward(cls, ctx: BackwardCFunction, inputs: tuple[Any, ...]) -> Any:
        if _takes_ctx(cls):
            return cls.forward(ctx, *inputs)
        output = cls.forward(*inputs)
        cls.setup_context(ctx, inputs, output)
        return output

    @classmethod
    def _fb_bind(cls, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, ...]:
        """The arguments of a call in the order of `forward`'s parameters."""
        import inspect  # slow to import, and rarely needed

        signature = inspect.signature(cls.forward)
        if _takes_ctx(cls):
            return signature.bind(None, *args, **kwargs).args[1:]
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return bound.args


class InplaceFunction(Function):
    """A `Function` with an ``inplace`` flag, kept for programs that have it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a `backward` that cannot be differentiated itself: a second derivative is an error.

    Args:
        function: The static method `backward`.

    Example:
        >>> class Double(torch.autograd.Function):
        ...     @staticmethod
        ...     def forward(ctx, x):
        ...         return 2 * x
        ...
        ...     @staticmethod
        ...     @torch.autograd.function.once_differentiable
        ...     def backward(ctx, grad):
        ...         return 2 * grad
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> Double.apply(x).backward()
        >>> x.grad
        tensor(2.)
    """

    @functools.wraps(function)
    def wrapper(ctx: Any, *args: Any) -> Any:
        with fb.no_grad():
            outputs = function(ctx, *args)
        is_recorded = any(isinstance(arg, Tensor) and arg.requires_grad for arg in args)
        if not (fb.is_grad_enabled() and is_recorded):
            return outputs
        results = outputs if isinstance(outputs, tuple) else (outputs,)
        guarded = tuple(None if r is None else _OnceDifferentiated.apply(r, *args) for r in results)
        return guarded if isinstance(outputs, tuple) else guarded[0]

    return wrapper


class _OnceDifferentiated(Function):
    """Hangs the result of a backward in the graph, where the way on is an error."""

    @staticmethod
    def forward(ctx: FunctionCtx, result: Tensor, *grads: Tensor | None) -> Tensor:
        return result.view_as(result)

    @staticmethod
    def backward(ctx: FunctionCtx, *grads: Tensor) -> None:
        raise RuntimeError(
            "trying to differentiate twice a function that was marked with @once_differentiable"
        )
