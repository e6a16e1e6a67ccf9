"""Forward mode: dual numbers, which carry a tangent through whatever is computed with them."""

from __future__ import annotations

from typing import NamedTuple

from flambeau import _C, Tensor
from flambeau._core.native_names import Signature

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]


class UnpackedDualTensor(NamedTuple):
    """A dual number in its two parts; the tangent is None where there is none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level of dual numbers; tangents are lost when it is left."""
    return _C._enter_only_dual_level(None)


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level that ``enter_dual_level`` began."""
    _C._exit_only_dual_level(_C._only_dual_level() if level is None else level)


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a dual number: a view of a tensor that carries a tangent.

    Args:
        tensor: The tensor.
        tangent: Its tangent, of the same shape.
        level: Level that it belongs to. Default: the current one.

    Example:
        >>> import flambeau.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        ...     fwAD.unpack_dual(x**3).tangent
        tensor(12.)
    """
    level = _C._only_dual_level() if level is None else level
    if level < 0:
        raise RuntimeError(
            "Trying to create a dual Tensor for forward AD but no level exists, make sure to "
            "enter_dual_level() first."
        )
    for name, value in (("tensor", tensor), ("tangent", tangent)):
        if not (value.is_floating_point() or value.is_complex()):
            raise ValueError(
                f"Expected {'primal' if name == 'tensor' else name} to be floating point or "
                f"complex, but got: {value.dtype}"
            )
    if tensor.is_meta or tangent.is_meta:
        raise NotImplementedError(
            "make_dual: expected tensors with elements, got one on meta; torch.func.jvp gives the "
            "shapes of a function's tangents there"
        )
    return _C._make_dual(tensor, tangent, level)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor without its tangent, and the tangent.

    Args:
        tensor: The dual number.
        level: Level that it belongs to. Default: the current one.

    Returns:
        A named pair of `primal` and `tangent`.

    Example:
        >>> import flambeau.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        ...     fwAD.unpack_dual(x**3).tangent
        tensor(12.)
    """
    level = _C._only_dual_level() if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor, level))


class dual_level(_C._LevelScope):
    """Level of dual numbers, for forward-mode derivatives in a `with` block.

    Example:
        >>> import flambeau.autograd.forward_ad as fwAD
        >>> with fwAD.dual_level():
        ...     x = fwAD.make_dual(torch.tensor(2.0), torch.tensor(1.0))
        ...     fwAD.unpack_dual(x**3).tangent
        tensor(12.)

    See also:
        `torch.func.jvp`.
    """

    __signature__: Signature = Signature()
    _begin = staticmethod(_C._enter_only_dual_level)
    _end = staticmethod(_C._exit_only_dual_level)
    _value = None
