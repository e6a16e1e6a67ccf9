"""What profiles call an operator."""

from __future__ import annotations

from opgen.model import Op

# PyTorch's profile names of kernels that have another name here.
ATEN_NAMES = {
    "_adaptive_avg_pool_backward": "_adaptive_avg_pool2d_backward",
    "_attention": "_scaled_dot_product_flash_attention_for_cpu",
    "_attention_backward": "_scaled_dot_product_flash_attention_for_cpu_backward",
    "_batch_norm": "native_batch_norm",
    "_cross_entropy": "nll_loss_forward",
    "_cross_entropy2d": "nll_loss2d_forward",
    "_cross_entropy_gradient": "nll_loss_backward",
    "_diagonal_backward": "diagonal_backward",
    "_elu_backward": "elu_backward",
    "_embedding_backward": "embedding_backward",
    "_gather_backward": "gather_backward",
    "_gelu_backward": "gelu_backward",
    "_glu_backward": "glu_backward",
    "_hardsigmoid_backward": "hardsigmoid_backward",
    "_hardswish_backward": "hardswish_backward",
    "_hardtanh_backward": "hardtanh_backward",
    "_index": "index",
    "_index_select_backward": "index_select_backward",
    "_leaky_relu_backward": "leaky_relu_backward",
    "_linear": "addmm",
    "_linear_outer": "mm",
    "_linear_product": "mm",
    "_linear_rows": "mm",
    "_log_softmax_backward": "_log_softmax_backward_data",
    "_logsigmoid_backward": "log_sigmoid_backward",
    "_max_pool1d": "max_pool1d_with_indices",
    "_max_pool2d": "max_pool2d_with_indices",
    "_max_pool3d": "max_pool3d_with_indices",
    "_mish_backward": "mish_backward",
    "_nll_loss": "nll_loss_forward",
    "_nll_loss2d": "nll_loss2d_forward",
    "_nll_loss_gradient": "nll_loss_backward",
    "_prelu": "_prelu_kernel",
    "_select_backward": "select_backward",
    "_sigmoid_backward": "sigmoid_backward",
    "_silu_backward": "silu_backward",
    "_slice": "slice",
    "_slice_backward": "slice_backward",
    "_softmax_backward": "_softmax_backward_data",
    "_softplus_backward": "softplus_backward",
    "_tanh_backward": "tanh_backward",
    "_threshold_backward": "threshold_backward",
    "_unfold_backward": "unfold_backward",
    "cross_entropy": "cross_entropy_loss",
    "logsigmoid": "log_sigmoid",
}


def aten_name(op: Op, in_place: bool = False) -> str:
    """As PyTorch's profiles show the operator: aten::linalg_norm."""
    of = f"{op.namespace}_" if op.namespace in ("fft", "linalg", "special") else ""
    return f"aten::{of}{ATEN_NAMES.get(op.name, op.name)}{'_' if in_place else ''}"
