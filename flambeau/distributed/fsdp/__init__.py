"""Models that are spread over processes: options can be written down, models not be spread yet."""

from __future__ import annotations

import enum
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau._core.lazy import lazy as _lazy
from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "BackwardPrefetch",
    "CPUOffload",
    "CPUOffloadPolicy",
    "FSDPModule",
    "FullOptimStateDictConfig",
    "FullStateDictConfig",
    "FullyShardedDataParallel",
    "LocalStateDictConfig",
    "MixedPrecision",
    "MixedPrecisionPolicy",
    "OffloadPolicy",
    "OptimStateDictConfig",
    "ShardedOptimStateDictConfig",
    "ShardedStateDictConfig",
    "ShardingStrategy",
    "StateDictConfig",
    "StateDictType",
    "fully_shard",
    "register_fsdp_forward_method",
]

_METHODS = (
    *("clip_grad_norm_", "full_optim_state_dict", "fsdp_modules", "optim_state_dict"),
    *("optim_state_dict_to_load", "set_state_dict_type", "shard_full_optim_state_dict"),
    *("sharded_optim_state_dict", "state_dict_type", "summon_full_params"),
)

FullyShardedDataParallel: Any = refused_type("distributed.fsdp.FullyShardedDataParallel", _METHODS)
FSDPModule: Any = refused_type("distributed.fsdp.FSDPModule")
fully_shard: Function = refused("distributed.fsdp.fully_shard")
register_fsdp_forward_method: Function = refused("distributed.fsdp.register_fsdp_forward_method")


class ShardingStrategy(enum.Enum):
    """What is spread: parameters, gradients, the optimiser's state."""

    FULL_SHARD = enum.auto()
    SHARD_GRAD_OP = enum.auto()
    NO_SHARD = enum.auto()
    HYBRID_SHARD = enum.auto()
    _HYBRID_SHARD_ZERO2 = enum.auto()


class BackwardPrefetch(enum.Enum):
    """When the parameters of the next layer are fetched."""

    BACKWARD_PRE = enum.auto()
    BACKWARD_POST = enum.auto()


class StateDictType(enum.Enum):
    """What a state dict holds."""

    FULL_STATE_DICT = enum.auto()
    LOCAL_STATE_DICT = enum.auto()
    SHARDED_STATE_DICT = enum.auto()


@dataclass
class MixedPrecision:
    """The element types of parameters, gradients and buffers."""

    param_dtype: fb.dtype | None = None
    reduce_dtype: fb.dtype | None = None
    buffer_dtype: fb.dtype | None = None
    keep_low_precision_grads: bool = False
    cast_forward_inputs: bool = False
    cast_root_forward_inputs: bool = True


@dataclass(frozen=True)
class MixedPrecisionPolicy:
    """The same for ``fully_shard``."""

    param_dtype: fb.dtype | None = None
    reduce_dtype: fb.dtype | None = None
    output_dtype: fb.dtype | None = None
    cast_forward_inputs: bool = True


@dataclass
class CPUOffload:
    """Whether parameters wait in the memory of the CPU."""

    offload_params: bool = False


@dataclass
class OffloadPolicy:
    """The same for ``fully_shard``: no."""


@dataclass
class CPUOffloadPolicy(OffloadPolicy):
    """The same for ``fully_shard``: yes."""

    pin_memory: bool = True


@dataclass
class StateDictConfig:
    """Where a state dict is kept."""

    offload_to_cpu: bool = False


@dataclass
class FullStateDictConfig(StateDictConfig):
    """Of a whole one, whether one process has it alone."""

    rank0_only: bool = False


@dataclass
class LocalStateDictConfig(StateDictConfig):
    """Of the part of a process."""


@dataclass
class ShardedStateDictConfig(StateDictConfig):
    """Of parts."""


@dataclass
class OptimStateDictConfig:
    """Where the state of an optimiser is kept."""

    offload_to_cpu: bool = True


@dataclass
class FullOptimStateDictConfig(OptimStateDictConfig):
    """Of a whole one, whether one process has it alone."""

    rank0_only: bool = False


@dataclass
class ShardedOptimStateDictConfig(OptimStateDictConfig):
    """Of parts."""


if TYPE_CHECKING:
    from flambeau.distributed.fsdp import api as api
    from flambeau.distributed.fsdp import fully_sharded_data_parallel as fully_sharded_data_parallel
    from flambeau.distributed.fsdp import sharded_grad_scaler as sharded_grad_scaler
    from flambeau.distributed.fsdp import wrap as wrap
else:
    __getattr__ = _lazy(__name__, "api fully_sharded_data_parallel sharded_grad_scaler wrap")
