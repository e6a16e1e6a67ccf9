"""Flambeau: a lighter torch. ``import flambeau as torch`` is meant to work."""

import importlib as _importlib
from math import e, inf, nan, pi
from types import ModuleType as _ModuleType

from flambeau._C import *  # noqa: F403
from flambeau._C import Tensor
from flambeau._interop import from_dlpack, to_dlpack
from flambeau._legacy import (
    BFloat16Tensor,
    BoolTensor,
    ByteTensor,
    CharTensor,
    DoubleTensor,
    FloatTensor,
    HalfTensor,
    IntTensor,
    LongTensor,
    ShortTensor,
    set_default_tensor_type,
    typename,
)
from flambeau._printing import set_printoptions
from flambeau._settings import (
    are_deterministic_algorithms_enabled,
    compiled_with_cxx11_abi,
    get_default_device,
    get_deterministic_debug_mode,
    get_float32_matmul_precision,
    get_num_interop_threads,
    is_deterministic_algorithms_warn_only_enabled,
    set_default_device,
    set_deterministic_debug_mode,
    set_float32_matmul_precision,
    set_num_interop_threads,
    use_deterministic_algorithms,
)
from flambeau._storage import TypedStorage, UntypedStorage, is_storage
from flambeau._typeinfo import finfo, iinfo
from flambeau import _tensor, utils, version  # isort: skip
from flambeau.version import __version__

newaxis = None


def is_tensor(obj: object, /) -> bool:
    """Whether ``obj`` is a tensor."""
    return isinstance(obj, Tensor)


# Modules that a program reaches as attributes without importing them, and few programs need.
_LAZY_MODULES = ("testing",)


def __getattr__(name: str) -> _ModuleType:
    if name in _LAZY_MODULES:
        return _importlib.import_module(f"flambeau.{name}")
    raise AttributeError(f"module 'flambeau' has no attribute {name!r}")
