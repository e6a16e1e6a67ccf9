"""Utilities."""

import importlib as _importlib
import typing as _typing

if _typing.TYPE_CHECKING:
    from flambeau.utils import benchmark as benchmark
    from flambeau.utils import checkpoint as checkpoint
    from flambeau.utils import collect_env as collect_env
    from flambeau.utils import cpp_extension as cpp_extension
    from flambeau.utils import data as data
    from flambeau.utils import deterministic as deterministic
    from flambeau.utils import dlpack as dlpack
    from flambeau.utils import flop_counter as flop_counter
    from flambeau.utils import hooks as hooks
    from flambeau.utils import model_zoo as model_zoo
    from flambeau.utils import tensorboard as tensorboard
    from flambeau.utils import weak as weak
    from flambeau.utils._swapping import swap_tensors as swap_tensors
else:
    # Modules that programs reach as attributes without importing them, loaded when asked for.
    _LAZY_MODULES = (
        "benchmark",
        "checkpoint",
        "collect_env",
        "cpp_extension",
        "data",
        "deterministic",
        "dlpack",
        "flop_counter",
        "hooks",
        "model_zoo",
        "tensorboard",
        "weak",
    )

    def __getattr__(name):
        if name in _LAZY_MODULES:
            return _importlib.import_module(f"flambeau.utils.{name}")
        if name == "swap_tensors":
            return _importlib.import_module("flambeau.utils._swapping").swap_tensors
        raise AttributeError(f"module 'flambeau.utils' has no attribute {name!r}")
