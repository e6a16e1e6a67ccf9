"""Modules on other devices and with other element types."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, overload

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.modules._state import Stateful
from flambeau.nn.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__: list[str] = []


class Convertible(Stateful):
    """The part of `Module` that changes the tensors of a module, each for another one."""

    def _apply(self, fn: Callable[[Any], Tensor], recurse: bool = True) -> Self:
        """Exchange the elements of every parameter, gradient and buffer for ``fn`` of them.

        The parameters stay the same objects, so that an optimizer still knows them, but for those
        that come from the device ``meta`` or go there.
        """
        if recurse:
            for module in self.children():
                module._apply(fn)
        for name, parameter in self._parameters.items():
            if parameter is None:
                continue
            grad = parameter.grad
            with fb.no_grad():
                data = fn(parameter)
                grad_data = None if grad is None else fn(grad)
            if data.is_meta or parameter.is_meta:
                self._parameters[name] = Parameter(data, parameter.requires_grad)
                continue
            parameter.data = data
            if grad is not None and grad_data is not None:
                grad.data = grad_data
        for name, buffer in self._buffers.items():
            if buffer is not None:
                self._buffers[name] = fn(buffer)
        return self

    @overload
    def to(
        self,
        device: fb.device | str | int | None = ...,
        dtype: fb.dtype | None = ...,
        non_blocking: bool = ...,
        *,
        memory_format: fb.memory_format | None = ...,
    ) -> Self: ...
    @overload
    def to(self, dtype: fb.dtype, non_blocking: bool = ...) -> Self: ...
    @overload
    def to(self, tensor: Tensor, non_blocking: bool = ...) -> Self: ...
    def to(self, *args: Any, **kwargs: Any) -> Self:
        """Move all parameters and buffers to a device, and convert floating-point ones to a dtype.

        Works in place. The forms are `to(device, dtype)`, `to(dtype)` and `to(tensor)`, which takes
        device and dtype of a tensor.

        Args:
            device: Where to move to. Default: stay.
            dtype: Floating-point or complex type to convert to. Default: stay.
            tensor: Tensor whose device and dtype are wanted.
            non_blocking: Whether a copy may run in the background. Default: False.
            memory_format: Memory format for tensors of 4 and 5 dimensions. Default: stay.

        Returns:
            This module.

        Raises:
            TypeError: `dtype` is an integer type.

        Example:
            >>> layer = nn.Linear(2, 1).to(torch.float64)
            >>> layer.weight.dtype
            torch.float64
            >>> layer.to("cpu", torch.float32).weight.dtype
            torch.float32
        """
        device, dtype, non_blocking, memory_format = _parse_to(*args, **kwargs)
        if dtype is not None:
            if not (dtype.is_floating_point or dtype.is_complex):
                raise TypeError(
                    "nn.Module.to only accepts floating point or complex dtypes, but got desired "
                    f"dtype={dtype}"
                )
            if dtype.is_complex:
                warnings.warn(
                    "Complex modules are a new feature under active development whose design may "
                    "change, and some modules might not work as expected when using complex "
                    "tensors as parameters or buffers.",
                    stacklevel=2,
                )

        def convert(tensor: Tensor) -> Tensor:
            number = tensor.is_floating_point() or tensor.is_complex()
            options: dict[str, Any] = {"non_blocking": non_blocking}
            if memory_format is not None and tensor.dim() in (4, 5):
                options["memory_format"] = memory_format
            return tensor.to(device=device, dtype=dtype if number else None, **options)

        return self._apply(convert)

    def to_empty(self, *, device: fb.device | str | int | None, recurse: bool = True) -> Self:
        """Move all parameters and buffers to a device without their elements, which stay unset.

        Args:
            device: Where to move to.
            recurse: Whether modules within this one move too. Default: True.

        Returns:
            This module.

        Example:
            >>> layer = nn.Linear(2, 1, device="meta").to_empty(device="cpu")
            >>> layer.weight.device
            device(type='cpu')
        """
        return self._apply(lambda t: fb.empty_like(t, device=device), recurse=recurse)

    def cuda(self, device: fb.device | int | None = None) -> Self:
        """Move all parameters and buffers to a GPU.

        Args:
            device: Index of the GPU. Default: the current one.

        Returns:
            This module.

        Example:
            >>> layer = nn.Linear(2, 1)
            >>> if torch.cuda.is_available():
            ...     layer = layer.cuda()
        """
        return self._apply(lambda t: t.cuda(device))

    def xpu(self, device: fb.device | int | None = None) -> Self:
        """Move all tensors to a device of this kind."""
        return self._fb_move("xpu", device)

    def ipu(self, device: fb.device | int | None = None) -> Self:
        """Move all tensors to a device of this kind."""
        return self._fb_move("ipu", device)

    def mtia(self, device: fb.device | int | None = None) -> Self:
        """Move all tensors to a device of this kind."""
        return self._fb_move("mtia", device)

    def _fb_move(self, kind: str, device: fb.device | int | None) -> Self:
        place = f"{kind}:{device}" if isinstance(device, int) else device or kind
        return self._apply(lambda t: t.to(place))

    def cpu(self) -> Self:
        """Move all parameters and buffers to the CPU.

        Returns:
            This module.

        Example:
            >>> nn.Linear(2, 1).cpu().weight.device
            device(type='cpu')
        """
        return self._apply(lambda t: t.cpu())

    def type(self, dst_type: fb.dtype | str) -> Self:
        """Convert all tensors to a type, those of integers too."""
        return self._apply(lambda t: t.type(dst_type))

    def float(self) -> Self:
        """Convert all floating-point parameters and buffers to float32.

        Returns:
            This module.

        Example:
            >>> nn.Linear(2, 1).float().weight.dtype
            torch.float32
        """
        return self._apply(lambda t: t.float() if t.is_floating_point() else t)

    def double(self) -> Self:
        """Convert all floating-point parameters and buffers to float64.

        Returns:
            This module.

        Example:
            >>> nn.Linear(2, 1).double().weight.dtype
            torch.float64
        """
        return self._apply(lambda t: t.double() if t.is_floating_point() else t)

    def half(self) -> Self:
        """Convert all floating-point parameters and buffers to float16.

        Returns:
            This module.

        Example:
            >>> nn.Linear(2, 1).half().weight.dtype
            torch.float16
        """
        return self._apply(lambda t: t.half() if t.is_floating_point() else t)

    def bfloat16(self) -> Self:
        """Convert all floating-point parameters and buffers to bfloat16.

        Returns:
            This module.

        Example:
            >>> nn.Linear(2, 1).bfloat16().weight.dtype
            torch.bfloat16
        """
        return self._apply(lambda t: t.bfloat16() if t.is_floating_point() else t)

    def share_memory(self) -> Self:
        """Move all tensors to memory that other processes can share."""
        return self._apply(lambda t: t.share_memory_())


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """The device, type, manner and memory format that the arguments of `to` ask for."""
    first = args[0] if args else None
    if isinstance(first, Tensor) or "tensor" in kwargs:
        names = ["tensor", "non_blocking", "copy"]
    elif isinstance(first, fb.dtype):
        names = ["dtype", "non_blocking", "copy"]
    else:
        names = ["device", "dtype", "non_blocking", "copy"]
    given = dict(zip(names, args, strict=False))
    is_odd = len(args) > len(names) or given.keys() & kwargs.keys()
    given |= kwargs
    if is_odd or not all(isinstance(given[name], _TO_TYPES.get(name, ())) for name in given):
        raise TypeError(
            f"to() received an invalid combination of arguments - got {args} {kwargs}, but "
            "expected one of (device, dtype, non_blocking), (dtype, non_blocking) and (tensor, "
            "non_blocking), each with memory_format by name"
        )
    other = given.get("tensor")
    if other is not None:
        given |= {"device": other.device, "dtype": other.dtype}
    device = given.get("device")
    if device is not None:
        device = fb.device(device)
    return device, given.get("dtype"), given.get("non_blocking", False), given.get("memory_format")


_TO_TYPES: dict[str, tuple[type, ...]] = {
    "tensor": (Tensor,),
    "device": (fb.device, str, int, type(None)),
    "dtype": (fb.dtype, type(None)),
    "non_blocking": (bool,),
    "copy": (bool,),
    "memory_format": (fb.memory_format, type(None)),
}
