"""Options of PyTorch's compiler that programs set."""

from __future__ import annotations

from flambeau.utils._config_module import install_config_module

install_config_module(
    __name__,
    {
        "accumulated_cache_size_limit": 256,
        "accumulated_recompile_limit": 256,
        "allow_ignore_mark_dynamic": False,
        "allow_unspec_int_on_nn_module": False,
        "assume_static_by_default": True,
        "automatic_dynamic_shapes": True,
        "cache_size_limit": 8,
        "capture_dynamic_output_shape_ops": False,
        "capture_scalar_outputs": False,
        "compiled_autograd": False,
        "disable": False,
        "dynamic_shapes": True,
        "error_on_recompile": False,
        "force_parameter_static_shapes": True,
        "guard_nn_modules": True,
        "inline_inbuilt_nn_modules": True,
        "log_level": 30,
        "optimize_ddp": True,
        "recompile_limit": 8,
        "skip_fsdp_guards": True,
        "specialize_int": False,
        "suppress_errors": False,
        "verbose": False,
    },
)
