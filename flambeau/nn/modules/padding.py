"""Padding layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from flambeau.nn import functional as F
from flambeau.nn.modules._norm_base import check_dims
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.utils import _ntuple

if TYPE_CHECKING:
    from flambeau import Tensor

__all__ = [
    "CircularPad1d",
    "CircularPad2d",
    "CircularPad3d",
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad1d",
    "ZeroPad2d",
    "ZeroPad3d",
]


class _PadNd(Module):
    """Pads the last `_fb_rank` dimensions by pairs from the last one on, or all by one width."""

    _fb_mode: str
    _fb_rank: int

    def __init__(self, padding: int | tuple[int, ...]) -> None:
        super().__init__()
        self.padding: tuple[int, ...] = _ntuple(2 * self._fb_rank)(padding)

    def forward(self, input: Tensor) -> Tensor:
        """Pad a batch or a single sample."""
        return F.pad(input, self.padding, self._fb_mode)

    def extra_repr(self) -> str:
        """The widths."""
        return f"{self.padding}"


class _ConstantPadNd(_PadNd):
    _fb_mode = "constant"

    def __init__(self, padding: int | tuple[int, ...], value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Tensor) -> Tensor:
        """Pad with the value."""
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        """The widths and the value."""
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Signals with a constant before and after."""

    _fb_rank = 1


class ConstantPad2d(_ConstantPadNd):
    """Images in a frame of one value."""

    _fb_rank = 2


class ConstantPad3d(_ConstantPadNd):
    """Volumes in a shell of one value."""

    _fb_rank = 3


class _Zeros(_PadNd):
    """Shown without the value, which is always the same."""

    extra_repr = _PadNd.extra_repr


class ZeroPad1d(_Zeros, ConstantPad1d):
    """Signals with zeros before and after."""

    def __init__(self, padding: int | tuple[int, int]) -> None:
        super().__init__(padding, 0.0)


class ZeroPad2d(_Zeros, ConstantPad2d):
    """Images in a frame of zeros."""

    def __init__(self, padding: int | tuple[int, int, int, int]) -> None:
        super().__init__(padding, 0.0)


class ZeroPad3d(_Zeros, ConstantPad3d):
    """Volumes in a shell of zeros."""

    def __init__(self, padding: int | tuple[int, int, int, int, int, int]) -> None:
        super().__init__(padding, 0.0)


class _ReflectionPadNd(_PadNd):
    _fb_mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Signals reflected at both ends, which are not repeated."""

    _fb_rank = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Images reflected at their borders, which are not repeated."""

    _fb_rank = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Volumes reflected at their borders, which are not repeated."""

    _fb_rank = 3


class _ReplicationPadNd(_PadNd):
    _fb_mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Signals whose first and last elements are repeated."""

    _fb_rank = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Images whose borders are repeated."""

    _fb_rank = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Volumes whose borders are repeated."""

    _fb_rank = 3


class _CircularPadNd(_PadNd):
    _fb_mode = "circular"

    def forward(self, input: Tensor) -> Tensor:
        """Pad a batch or a single sample."""
        check_dims(self, input, self._fb_rank + 1, self._fb_rank + 2)
        return super().forward(input)


class CircularPad1d(_CircularPadNd):
    """Signals that go on with their other end."""

    _fb_rank = 1


class CircularPad2d(_CircularPadNd):
    """Images that go on with their opposite border."""

    _fb_rank = 2


class CircularPad3d(_CircularPadNd):
    """Volumes that go on with their opposite border."""

    _fb_rank = 3
