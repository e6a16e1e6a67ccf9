"""Utilities."""

import typing as _typing

from flambeau._core.lazy import lazy as _lazy

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
    __getattr__ = _lazy(
        __name__,
        "benchmark checkpoint collect_env cpp_extension data deterministic dlpack flop_counter "
        "hooks model_zoo tensorboard weak",
        {"flambeau.utils._swapping": "swap_tensors"},
    )
