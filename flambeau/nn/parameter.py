"""Tensors that modules own: parameters, buffers, and either of them before its size is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._core.printing import PLAIN_TYPES

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type):
    """Tensors of other classes count as parameters once they are marked with ``_is_param``."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return (
            cls is Parameter
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_param", False)
        )


class Parameter(Tensor, metaclass=_ParameterMeta):
    """Tensor that a module trains.

    Assigned to an attribute of a module, it appears among `Module.parameters()`. It shares memory
    with `data`. What is computed with it is a plain tensor.

    Args:
        data: Tensor of initial values. Default: empty.
        requires_grad: Whether it is trained. Default: True.

    Example:
        >>> class Scale(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = nn.Parameter(torch.tensor(2.0))
        ...
        ...     def forward(self, x):
        ...         return self.factor * x
        >>> [name for name, _ in Scale().named_parameters()]
        ['factor']

    See also:
        `nn.Buffer`, `Module.register_parameter`.
    """

    __torch_function__: ClassVar[Callable[..., Any]] = _C._disabled_torch_function_impl

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Self:
        if data is None:
            data = fb.empty(0)
        if type(data) is Tensor or type(data) is Parameter:
            return Tensor._make_subclass(cls, data, requires_grad)  # type: ignore[no-any-return]
        made: Self = data.detach().requires_grad_(requires_grad)
        if type(made) is not type(data):
            raise RuntimeError(
                f"Creating a Parameter from an instance of type {type(data).__name__} requires "
                f"that detach() returns an instance of the same type, but it returned "
                f"{type(made).__name__}."
            )
        made._is_param = True  # type: ignore[attr-defined]
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            copied = self.data.clone(memory_format=fb.preserve_format)
            memo[id(self)] = type(self)(copied, self.requires_grad)
        return memo[id(self)]

    def __repr__(self) -> str:
        return "Parameter containing:\n" + super().__repr__()

    def __reduce_ex__(self, protocol: Any) -> Any:
        state = self.__dict__ or None
        return _rebuild_parameter, (type(self), self.data, self.requires_grad, state)


PLAIN_TYPES.add(Parameter)
_C._set_parameter_type(Parameter)


def _rebuild_parameter(
    kind: type[Parameter], data: Tensor, requires_grad: bool, state: dict[str, Any] | None
) -> Parameter:
    """Make a parameter of its parts: what pickles of parameters call."""
    parameter: Parameter = kind(data, requires_grad)
    if state:
        parameter.__dict__.update(state)
    return parameter


class _BufferMeta(type):
    """Any tensor that is marked with ``_is_buffer`` counts as a buffer."""

    def __instancecheck__(cls, instance: Any) -> bool:
        if super().__instancecheck__(instance):
            return True
        return (
            cls is Buffer
            and isinstance(instance, Tensor)
            and getattr(instance, "_is_buffer", False)
        )


class Buffer(Tensor, metaclass=_BufferMeta):
    """Tensor of a module that is not trained.

    Assigned to an attribute of a module, it appears among `Module.buffers()`.

    Args:
        data: The tensor. Default: empty.
        persistent: Whether state dicts hold it. Default: True.

    Example:
        >>> module = nn.Module()
        >>> module.mean = nn.Buffer(torch.zeros(2))
        >>> dict(module.state_dict())
        {'mean': tensor([0., 0.])}

    See also:
        `nn.Parameter`, `Module.register_buffer`.
    """

    persistent: bool
    __torch_function__: ClassVar[Callable[..., Any]] = _C._disabled_torch_function_impl

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Self:
        if data is None:
            data = fb.empty(0)
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made  # type: ignore[no-any-return]


# Methods of tensors that need no size, and those that give one.
_POSSIBLE_WITHOUT_SIZE = {"size", "copy_", "is_complex", "is_floating_point", "get_device", "type"}
_POSSIBLE_WITHOUT_SIZE |= {"half", "float", "double", "bfloat16", "cuda", "cpu", "to", "__repr__"}
_POSSIBLE_WITHOUT_SIZE |= {"char", "short", "int", "long", "requires_grad_", "__reduce_ex__"}


class UninitializedTensorMixin:
    """What a tensor can do before its size is known: be moved, and become a real one."""

    cls_to_become: type[Tensor]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Refuse to compute with what has no size; attributes and conversions are answered."""
        is_attribute = type(func).__name__ == "method-wrapper"
        if not is_attribute and getattr(func, "__name__", "") not in _POSSIBLE_WITHOUT_SIZE:
            raise ValueError(
                f"Attempted to use an uninitialized parameter in {func}. This happens with lazy "
                f"modules and with {cls.__name__} objects: call `forward` with a dummy batch "
                "first, which gives the parameters their sizes"
            )
        return _C._disabled_torch_function_impl(func, types, args, kwargs)

    def materialize(self: Any, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of this shape, with elements that are not set yet."""
        data = self.data
        self.data: Tensor = fb.empty(shape, device=device or data.device, dtype=dtype or data.dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Refuse: there is none yet."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually "
            "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
            "initialized one. Call `forward` to initialize the parameters before accessing their "
            "attributes."
        )

    def share_memory_(self) -> Any:
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        return type(self), (self.requires_grad,)

    def __deepcopy__(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            data = self.data
            memo[id(self)] = type(self)(self.requires_grad, data.device, data.dtype)
        return memo[id(self)]


def _converting(name: str) -> Callable[..., Any]:
    """A method of tensors that converts: of a tensor without size it makes another such."""

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        made = getattr(self.data, name)(*args, **kwargs).as_subclass(type(self))
        made.__dict__.update(self.__dict__)
        return made

    return method


for _name in ("bfloat16", "cpu", "cuda", "double", "float", "half", "to"):
    setattr(UninitializedTensorMixin, _name, _converting(_name))


def is_lazy(param: Any) -> bool:
    """Whether ``param`` is a parameter or buffer whose size is not known yet."""
    return isinstance(param, UninitializedTensorMixin)


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[override]
    """Parameter whose shape is not known yet; the first input of its lazy module gives it one.

    Args:
        requires_grad: Whether it is trained. Default: True.
        device: Where it will live. Default: the current default device.
        dtype: Its element type. Default: the default floating-point type.

    Example:
        >>> weight = nn.UninitializedParameter()
        >>> weight.materialize((2, 3))
        >>> weight.shape
        torch.Size([2, 3])
    """

    cls_to_become: type[Any] = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Self:
        data = fb.empty(0, device=device, dtype=dtype)
        return Tensor._make_subclass(cls, data, requires_grad)  # type: ignore[no-any-return]


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[override]
    """Buffer whose shape is not known yet; the first input of its lazy module gives it one.

    Args:
        requires_grad: Whether it requires gradients. Default: False.
        device: Where it will live. Default: the current default device.
        dtype: Its element type. Default: the default floating-point type.
        persistent: Whether state dicts hold it. Default: True.

    Example:
        >>> mean = nn.UninitializedBuffer()
        >>> mean.materialize((3,))
        >>> mean.shape
        torch.Size([3])
    """

    cls_to_become: type[Any] = Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Self:
        data = fb.empty(0, device=device, dtype=dtype)
        made = Tensor._make_subclass(cls, data, requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        return made  # type: ignore[no-any-return]
