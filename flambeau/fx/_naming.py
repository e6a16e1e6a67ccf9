"""Names of nodes and globals in generated code, and of functions as PyTorch writes them.

Generated code reads the same under both packages, so functions of Flambeau are written with the
names that they have in PyTorch, even if that is a private module such as `torch._C._nn`.
"""

from __future__ import annotations

import builtins
import functools
import keyword
import math
import re
import types
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C
from flambeau.functional import __all__ as functional_names

# Functions of torch.nn.functional that PyTorch keeps elsewhere.
_IN_NATIVE_NN = {
    "avg_pool2d": "avg_pool2d",
    "avg_pool3d": "avg_pool3d",
    "elu_": "elu_",
    "gelu": "gelu",
    "hardtanh_": "hardtanh_",
    "leaky_relu_": "leaky_relu_",
    "linear": "linear",
    "logsigmoid": "log_sigmoid",
    "one_hot": "one_hot",
    "scaled_dot_product_attention": "scaled_dot_product_attention",
    "softplus": "softplus",
    "softshrink": "softshrink",
}
_AT_TOP_LEVEL = (
    "adaptive_avg_pool1d",
    "avg_pool1d",
    "bilinear",
    "celu_",
    "channel_shuffle",
    "conv1d",
    "conv2d",
    "conv3d",
    "conv_tbc",
    "conv_transpose1d",
    "conv_transpose2d",
    "conv_transpose3d",
    "cosine_similarity",
    "hardshrink",
    "pairwise_distance",
    "pdist",
    "pixel_shuffle",
    "pixel_unshuffle",
    "prelu",
    "relu_",
    "rrelu_",
    "selu_",
    "threshold_",
)


def _functions_of(space: Any) -> dict[str, Any]:
    return {
        name: value
        # Not dir(), which also lists modules that are loaded on demand.
        for name, value in vars(space).items()
        if not name.startswith("_")
        and isinstance(value, _FUNCTION_TYPES)
        and (value.__module__ or "").startswith("flambeau")
    }


_FUNCTION_TYPES = (types.FunctionType, types.BuiltinFunctionType)


@functools.cache
def torch_names() -> dict[Any, str]:
    """PyTorch's names of the functions of the package, by function."""
    names: dict[Any, str] = {}
    for space in ("linalg", "fft", "special"):
        own = _functions_of(getattr(fb, space))
        aliases = types.SimpleNamespace(**{f"{space}_{n}": f for n, f in own.items()})
        # Where the generated code will look for them.
        setattr(_C, f"_{space}", aliases)
        names |= {f: f"torch._C._{space}.{space}_{n}" for n, f in own.items()}
    functional = _functions_of(fb.nn.functional)
    fb.nn.functional._threshold = fb.nn.functional.threshold  # type: ignore[attr-defined]
    for name, function in functional.items():
        if name in _IN_NATIVE_NN:
            setattr(_C._nn, _IN_NATIVE_NN[name], function)  # type: ignore[attr-defined]
            names[function] = f"torch._C._nn.{_IN_NATIVE_NN[name]}"
        elif name == "threshold":
            names[function] = "torch.nn.functional._threshold"
        elif name in _AT_TOP_LEVEL and hasattr(fb, name):
            names[function] = f"torch.{name}"
        else:
            names[function] = f"torch.nn.functional.{name}"
    for name, function in _functions_of(fb).items():
        place = "torch.functional" if name in functional_names else "torch"
        if function.__module__.startswith("flambeau._C"):
            names[function] = f"{place}.{name}"
    names[fb._assert] = "torch._assert"
    return names


def is_native(function: Any) -> bool:
    """Whether the package exports the function, so that code reaches it through ``torch``."""
    module = getattr(function, "__module__", None) or ""
    return module in ("flambeau", "torch") or module.startswith(("flambeau.", "torch.ops."))


def qualified_name(function: Callable[..., Any]) -> str:
    """The name of a function with its module: ``torch.nn.functional.relu``, ``len``."""
    if getattr(builtins, getattr(function, "__name__", ""), None) is function:
        return str(function.__name__)
    try:
        known = torch_names().get(function)
    except TypeError:  # it cannot be hashed
        known = None
    if known:
        return known
    if isinstance(function, types.MethodDescriptorType):
        return f"torch.Tensor.{function.__name__}"
    name = getattr(function, "__qualname__", getattr(function, "__name__", None))
    module = getattr(function, "__module__", None)
    if name is None or module is None:
        raise RuntimeError(f"cannot find out how to write {function!r} in generated code")
    if name == "<lambda>":
        name = function.__name__
    if module == "flambeau" or module.startswith("flambeau."):
        module = "torch" + module.removeprefix("flambeau")
    return f"{module}.{name}"


def function_name(function: Callable[..., Any]) -> str:
    """The last part of a function's name."""
    try:
        known = torch_names().get(function)
    except TypeError:
        known = None
    if known:
        return known.rpartition(".")[2]
    return str(getattr(function, "__name__", type(function).__name__))


def candidate_of(target: Any) -> str:
    """The name that a node gets from its target: fooBar gives foo_bar."""
    name = function_name(target) if callable(target) else str(target)
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return re.sub("(?<=[a-z])([A-Z])", r"_\1", name).lower()


# Names that generated code can use without importing anything.
ALWAYS_THERE: dict[str, Any] = {"inf": math.inf, "nan": math.nan, "NoneType": type(None)}
ALWAYS_THERE |= {"torch": fb, "device": fb.device}
IMPORTS = {
    "inf": "from math import inf",
    "nan": "from math import nan",
    "NoneType": "NoneType = type(None)",
    "torch": "import torch",
    "device": "from torch import device",
    "fx_pytree": "import torch.fx._pytree as fx_pytree",
    "pytree": "import torch.utils._pytree as pytree",
}


class Namespace:
    """Hands out names, each once."""

    def __init__(self) -> None:
        self._owners: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: defaultdict[str, int] = defaultdict(int)

    def create_name(self, candidate: str, obj: Any) -> str:
        """Return an unused name like ``candidate``; the same one again for the same object."""
        if obj is not None and obj in self._owners:
            return self._owners[obj]
        name = re.sub("[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if name[0].isdigit():
            name = f"_{name}"
        numbered = re.fullmatch(r"(.*)_(\d+)", name)
        base = numbered[1] if numbered else name
        number = int(numbered[2]) if numbered else self._counts[base]
        while name in self._used or self._is_taken(name, obj):
            number += 1
            name = f"{base}_{number}"
        self._used.add(name)
        self._counts[base] = number
        if obj is not None:
            self._owners[obj] = name
        return name

    def associate(self, name: str, obj: Any) -> None:
        """Reserve a name that is in use already."""
        self._owners[obj] = name
        self._used.add(name)

    def rename(self, obj: Any, name: str) -> None:
        """Rename an object."""
        self._owners[obj] = name
        self._used.add(name)

    @staticmethod
    def _is_taken(name: str, obj: Any) -> bool:
        """Whether the name is a keyword or builtin of Python."""
        if keyword.iskeyword(name):
            return True
        if hasattr(builtins, name):
            return obj is not getattr(builtins, name)
        return name in IMPORTS and obj is not ALWAYS_THERE.get(name)


def type_name(kind: Any) -> str:
    """A type as it is written in annotations."""
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        return f"{kind.__module__}.{kind.__qualname__}"
    if kind is ...:
        return "..."
    if isinstance(kind, types.FunctionType):
        return kind.__name__
    return repr(kind)
