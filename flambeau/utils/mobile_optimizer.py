"""``torch.utils.mobile_optimizer``: PyTorch's deployment to phones, which Flambeau lacks."""

from __future__ import annotations

import enum

from flambeau._limits.refusing import Function, refused

__all__ = ["LintCode", "MobileOptimizerType", "generate_mobile_module_lints", "optimize_for_mobile"]


class MobileOptimizerType(enum.Enum):
    """Passes that can be switched off in `optimize_for_mobile`."""

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


optimize_for_mobile: Function = refused("utils.mobile_optimizer.optimize_for_mobile")
generate_mobile_module_lints: Function = refused(
    "utils.mobile_optimizer.generate_mobile_module_lints"
)
