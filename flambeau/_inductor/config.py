"""Options of PyTorch's code generator that programs set."""

from __future__ import annotations

from types import SimpleNamespace

from flambeau.utils._config_module import install_config_module

install_config_module(
    __name__,
    {
        "allow_buffer_reuse": True,
        "benchmark_kernel": False,
        "conv_1x1_as_mm": False,
        "coordinate_descent_check_all_directions": False,
        "coordinate_descent_tuning": False,
        "cpp_wrapper": False,
        "debug": False,
        "dce": False,
        "epilogue_fusion": True,
        "fallback_random": False,
        "force_fuse_int_mm_with_mul": False,
        "force_same_precision": False,
        "freezing": False,
        "fx_graph_cache": True,
        "fx_graph_remote_cache": None,
        "max_autotune": False,
        "max_autotune_gemm": False,
        "max_autotune_gemm_backends": "ATEN,TRITON,CPP",
        "max_autotune_pointwise": False,
        "reorder_for_compute_comm_overlap": False,
        "reorder_for_locality": True,
        "shape_padding": True,
        "size_asserts": True,
        "split_reductions": True,
        "use_mixed_mm": True,
        # Groups of options.
        "cpp": SimpleNamespace(threads=-1, simdlen=None, min_chunk_size=512),
        "cuda": SimpleNamespace(arch=None, version=None, compile_opt_level="-O1"),
        "trace": SimpleNamespace(enabled=False, graph_diagram=False),
        "triton": SimpleNamespace(
            cudagraphs=False,
            cudagraph_trees=True,
            unique_kernel_names=True,
            autotune_pointwise=True,
        ),
    },
)
