"""Options of ``torch.compile``, with PyTorch's values at first."""

from __future__ import annotations

from typing import Any

from flambeau.utils._config_module import Alias, install_config_module

_OPTIONS: dict[str, Any] = {
    "accumulated_recompile_limit": Alias("_dynamo.config.accumulated_recompile_limit"),
    "allow_unspec_int_on_nn_module": Alias("_dynamo.config.allow_unspec_int_on_nn_module"),
    "assume_static_by_default": Alias("_dynamo.config.assume_static_by_default"),
    "automatic_dynamic_shapes": Alias("_dynamo.config.automatic_dynamic_shapes"),
    "cache_key_tag": "",
    "capture_dynamic_output_shape_ops": Alias("_dynamo.config.capture_dynamic_output_shape_ops"),
    "capture_scalar_outputs": Alias("_dynamo.config.capture_scalar_outputs"),
    "dynamic_shapes": Alias("_dynamo.config.dynamic_shapes"),
    "dynamic_sources": "",
    "dynamic_values": "",
    "enable_cpp_symbolic_shape_guards": Alias("_dynamo.config.enable_cpp_symbolic_shape_guards"),
    "fail_on_recompile_limit_hit": Alias("_dynamo.config.fail_on_recompile_limit_hit"),
    "force_cudagraph_gc": False,
    "force_disable_caches": False,
    "job_id": None,
    "log_file_name": Alias("_dynamo.config.log_file_name"),
    "pgo_extra_read_key": None,
    "pgo_extra_write_key": None,
    "recompile_limit": Alias("_dynamo.config.recompile_limit"),
    "reorderable_logging_functions": Alias("_dynamo.config.reorderable_logging_functions"),
    "skip_tensor_guards_with_matching_dict_tags": Alias(
        "_dynamo.config.skip_tensor_guards_with_matching_dict_tags"
    ),
    "unbacked_sources": "",
    "verbose": Alias("_dynamo.config.verbose"),
    "wrap_top_frame": Alias("_dynamo.config.wrap_top_frame"),
}

install_config_module(__name__, _OPTIONS)
