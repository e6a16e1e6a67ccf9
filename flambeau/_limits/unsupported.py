"""Methods of Tensor for kinds of tensors that Flambeau does not have: each says what to use."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau._limits import removed
from flambeau._limits.refusing import refusing_function

__all__ = ["FUNCTIONS", "METHODS"]

_COMPRESSED = (
    "matrices in compressed form are not supported yet; use to_sparse(), the coordinate form"
)
_QUANTIZED = "quantized tensors are not supported; keep float32 or bfloat16"
_NESTED = "nested tensors are not supported yet; see torch.nn.utils.rnn.pad_sequence"
_ONEDNN = "operators use oneDNN's layouts on their own where that pays; leave the call out"
_CPU_ONLY = "this build of Flambeau computes on the CPU; leave the call out"
_CHANCE = "reinforce() was removed; use torch.distributions and its log_prob"


def _refusing(
    name: str, remedy: str, error: type[Exception] = NotImplementedError
) -> Callable[..., Any]:
    return refusing_function(name, lambda: error(f"{name}: {remedy}"), f"Raise: {remedy}.")


def _named(names: str, remedy: str, error: type[Exception] = NotImplementedError) -> dict[str, Any]:
    return {name: _refusing(name, remedy, error) for name in names.split(" ")}


METHODS: dict[str, Any] = {
    **_named("to_sparse_csr to_sparse_csc to_sparse_bsr to_sparse_bsc", _COMPRESSED),
    **_named("crow_indices col_indices ccol_indices row_indices", _COMPRESSED),
    **_named("q_scale q_zero_point qscheme int_repr", _QUANTIZED),
    **_named("q_per_channel_axis q_per_channel_scales q_per_channel_zero_points", _QUANTIZED),
    **_named("to_padded_tensor", _NESTED),
    **_named("to_mkldnn", _ONEDNN),
    **_named("xpu ipu mtia", _CPU_ONLY, AssertionError),
    **_named("reinforce", _CHANCE, RuntimeError),
    "symeig": removed.symeig,
    "eig": removed.eig,
    "lstsq": removed.lstsq,
    "solve": removed.solve,
}

FUNCTIONS: dict[str, Any] = {
    **_named("sparse_csr_tensor sparse_csc_tensor sparse_bsr_tensor", _COMPRESSED),
    **_named("sparse_bsc_tensor sparse_compressed_tensor", _COMPRESSED),
    **_named("quantize_per_tensor quantize_per_channel", _QUANTIZED),
    **_named("quantize_per_tensor_dynamic empty_quantized", _QUANTIZED),
    **_named("q_scale q_zero_point int_repr", _QUANTIZED),
}
