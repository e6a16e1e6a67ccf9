"""``torch.utils.mobile_optimizer``: PyTorch's way to phones, which Flambeau does not go."""

from __future__ import annotations

import enum
from typing import Any, NoReturn

__all__ = ["LintCode", "MobileOptimizerType", "generate_mobile_module_lints", "optimize_for_mobile"]


class MobileOptimizerType(enum.Enum):
    """What may be switched off in `optimize_for_mobile`."""

    CONV_BN_FUSION = 1
    INSERT_FOLD_PREPACK_OPS = 2
    REMOVE_DROPOUT = 3
    FUSE_ADD_RELU = 4
    HOIST_CONV_PACKED_PARAMS = 5
    VULKAN_AUTOMATIC_GPU_TRANSFER = 6


class LintCode(enum.Enum):
    """What `generate_mobile_module_lints` looks for."""

    BUNDLED_INPUT = 1
    REQUIRES_GRAD = 2
    DROPOUT = 3
    BATCHNORM = 4


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"{name}: there is no runtime for phones; save the weights with torch.save and load them "
        "in PyTorch, which can make a module for phones of them"
    )


def optimize_for_mobile(*_: Any, **__: Any) -> NoReturn:
    """Raise: modules for phones are made with PyTorch."""
    _refuse("optimize_for_mobile")


def generate_mobile_module_lints(*_: Any, **__: Any) -> NoReturn:
    """Raise: modules for phones are made with PyTorch."""
    _refuse("generate_mobile_module_lints")
