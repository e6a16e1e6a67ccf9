"""The base class of all tv_tensors."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor

__all__ = ["TVTensor"]


class TVTensor(Tensor):
    """A tensor with a type for transforms, which copies keep and results of operators do not.

    A subclass with metadata defines ``wrap``, which gives a tensor the type and metadata of
    another.
    """

    # `set_return_type` sets another rule; without one, operators cost no more than on tensors.
    __torch_function__: ClassVar[Any] = fb._C._disabled_torch_function_impl
    _fb_spreads: ClassVar[bool] = False  # whether that rule wraps results

    @staticmethod
    def _to_tensor(
        data: Any,
        dtype: fb.dtype | None = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Tensor:
        if requires_grad is None:
            requires_grad = data.requires_grad if isinstance(data, Tensor) else False
        tensor = fb.as_tensor(data, dtype=dtype, device=device)
        if isinstance(tensor, TVTensor):
            tensor = tensor.as_subclass(Tensor)
        if tensor.requires_grad == requires_grad:
            return tensor
        return tensor.detach().requires_grad_(requires_grad)

    @classmethod
    def wrap(cls, tensor: Tensor, like: Any, **kwargs: Any) -> Any:
        """Wrap a tensor like ``like``; keywords replace parts of its metadata."""
        return tensor.as_subclass(cls)

    def clone(self, *args: Any, **kwargs: Any) -> Any:
        return _with_meaning(self, Tensor.clone, args, kwargs)

    def detach(self) -> Any:
        return _with_meaning(self, Tensor.detach, (), {})

    def to(self, *args: Any, **kwargs: Any) -> Any:
        return _with_meaning(self, Tensor.to, args, kwargs)

    def requires_grad_(self, requires_grad: bool = True) -> Any:
        Tensor.requires_grad_(self, requires_grad)
        return self

    def _make_repr(self, **kwargs: Any) -> str:
        """The text of a tensor with its metadata at the end."""
        shown = ", ".join(f"{name}={value}" for name, value in kwargs.items())
        return f"{Tensor.__repr__(self)[:-1]}, {shown})"


def _with_meaning(
    inpt: TVTensor, method: Callable[..., Tensor], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    result = method(inpt, *args, **kwargs)
    return result if result is inpt else type(inpt).wrap(result, inpt)


def _in_place(name: str) -> Callable[..., Any]:
    """Make a method that changes a tensor in place and returns it; the result is a plain tensor."""
    method = getattr(Tensor, name)

    @functools.wraps(method)
    def change(self: TVTensor, *args: Any, **kwargs: Any) -> Any:
        result = method(self, *args, **kwargs)
        if TVTensor._fb_spreads or result is not self:
            return result
        return result.as_subclass(Tensor)

    return change


def _is_in_place(name: str) -> bool:
    if name.startswith("__"):
        return name.startswith("__i") and f"__{name[3:]}" in dir(Tensor) and name != "__init__"
    return name.endswith("_") and not name.startswith("_")


for _name in filter(_is_in_place, dir(Tensor)):
    if _name not in vars(TVTensor):
        setattr(TVTensor, _name, _in_place(_name))
