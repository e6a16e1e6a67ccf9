"""Forward mode: dual numbers, which carry a tangent through whatever is computed with them."""

from __future__ import annotations

from types import TracebackType
from typing import NamedTuple

from flambeau import _C, Tensor

__all__ = [
    "UnpackedDualTensor",
    "dual_level",
    "enter_dual_level",
    "exit_dual_level",
    "make_dual",
    "unpack_dual",
]

_current_level = -1


class UnpackedDualTensor(NamedTuple):
    """A dual number in its two parts; the tangent is None where there is none."""

    primal: Tensor
    tangent: Tensor | None


def enter_dual_level() -> int:
    """Begin a level of dual numbers; tangents are lost when it is left."""
    global _current_level
    if _current_level >= 0:
        raise RuntimeError(
            "Nested forward mode AD is not supported at the moment: leave the level that is "
            "active first, or use func.jvp, which nests"
        )
    _current_level = _C._enter_dual_level()
    return _current_level


def exit_dual_level(*, level: int | None = None) -> None:
    """End the level that ``enter_dual_level`` began."""
    global _current_level
    level = _current_level if level is None else level
    if level != _current_level or level < 0:
        raise RuntimeError(
            "Trying to exit a forward AD level that was not the last one that was created. This "
            "is not supported."
        )
    _C._exit_dual_level(level)
    _current_level = -1


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """Return a dual number: a view of ``tensor`` that carries ``tangent``."""
    level = _current_level if level is None else level
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
    return _C._make_dual(tensor, tangent, level)


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Return a tensor without its tangent, and the tangent."""
    level = _current_level if level is None else level
    if level < 0:
        return UnpackedDualTensor(tensor, None)
    return UnpackedDualTensor(*_C._unpack_dual(tensor, level))


class dual_level:
    """A level of dual numbers, for a ``with`` statement."""

    def __enter__(self) -> int:
        return enter_dual_level()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        exit_dual_level()
