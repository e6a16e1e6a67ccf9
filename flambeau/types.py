"""Types that annotations name."""

from __future__ import annotations

import builtins
import os
from collections.abc import Sequence
from typing import Any, TypeAlias

from flambeau import Size, SymInt, Tensor
from flambeau import device as _Device
from flambeau import dtype as _DType
from flambeau import layout as _Layout

__all__ = ["Device", "FileLike", "Number", "Storage"]

Number: TypeAlias = builtins.int | builtins.float | builtins.bool
Device: TypeAlias = _Device | str | int | None
FileLike: TypeAlias = str | os.PathLike[str] | Any
Storage: TypeAlias = Any

_TensorOrTensors: TypeAlias = Tensor | Sequence[Tensor]
_dtype: TypeAlias = _DType
_device: TypeAlias = _Device
_layout: TypeAlias = _Layout
_size: TypeAlias = Size | list[builtins.int] | tuple[builtins.int, ...]
_bool: TypeAlias = builtins.bool
_int: TypeAlias = builtins.int
_float: TypeAlias = builtins.float
_complex: TypeAlias = builtins.complex
_symsize: TypeAlias = Size | Sequence[builtins.int | SymInt]
