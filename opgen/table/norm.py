"""Normalisation: by batch, layer, group, instance and norm. Statistics of 16-bit floats are float32."""

from opgen.model import composite, floating, floating_complex, native, none, not_implemented, op

_AFFINE = "weight: Tensor | None, bias: Tensor | None"
_OPTIONAL_AFFINE = "weight: Tensor | None = None, bias: Tensor | None = None"
_RUNNING = "running_mean: Tensor | None, running_var: Tensor | None"
_BATCH = f"input: Tensor, {_AFFINE}, {_RUNNING}, training: bool, momentum: float, eps: float"

# --- what is recorded: the result with the statistics that its gradient needs

op(
    f"_batch_norm({_BATCH}) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad={
        "input weight bias": "image_norm_backward(grad, input, weight, results[1], results[2], 0,"
        " not training, eps, needed)"
    },
    node="NativeBatchNormBackward0",
    doc="batch_norm, with the mean and the reciprocal deviation of each channel that it used.",
)
op(
    f"_instance_norm(input: Tensor, {_AFFINE}, {_RUNNING}, momentum: float, eps: float)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad={
        "input weight bias": "image_norm_backward(grad, input, weight, results[1], results[2],"
        " input.size(1), False, eps, needed)"
    },
    node="ViewBackward0",
    doc="instance_norm by the input's own statistics, which are the other results.",
)
op(
    f"native_group_norm(input: Tensor, {_AFFINE}, N: int, C: int, HxW: int, group: int, eps: float)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad={
        "input weight bias": "group_norm_backward(grads[0], given_grads[1], given_grads[2], input,"
        " weight, results[1], results[2], group, eps, needed)"
    },
    autocast="cuda_float32",
    doc="group_norm, with the mean and the reciprocal deviation of each group.",
)
op(
    f"native_layer_norm(input: Tensor, normalized_shape: Ints, {_AFFINE}, eps: float)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad={
        "input weight bias": "layer_norm_backward(grad, input, normalized_shape, weight, results[1],"
        " results[2], eps, needed)"
    },
    autocast="cuda_float32",
    doc="layer_norm, with the mean and the reciprocal deviation of each row.",
)
op(
    "_rms_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None, eps: float)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad={
        "input weight": "rms_norm_backward(grad, input, normalized_shape, weight, results[1], eps,"
        " needed)"
    },
    node="MulBackward0",
    doc="rms_norm, with the reciprocal root mean square of each row.",
)

# --- gradients in one kernel

op(
    "_image_norm_backward(gradient: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor,"
    " rstd: Tensor, groups: int, given: bool) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad=none,
    doc="The gradients of input, weight and bias of a normalisation by channels or groups.",
)
op(
    "_row_norm_backward(gradient: Tensor, input: Tensor, weight: Tensor | None, mean: Tensor | None,"
    " rstd: Tensor) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad=not_implemented,
    doc="The gradients of input, weight and bias of a normalisation by rows.",
)

# --- what users call

op(
    f"batch_norm({_BATCH}, cudnn_enabled: bool) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="Normalizes each channel by the statistics of the batch in training, by the running ones"
    " otherwise; then scales by weight and adds bias.",
)
op(
    f"batch_norm(input: Tensor, {_RUNNING}, {_OPTIONAL_AFFINE}, training: bool = False,"
    " momentum: float = 0.1, eps: float = 1e-5) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="Normalizes each channel by the statistics of the batch in training, by the running ones"
    " otherwise; then scales by weight and adds bias. Training moves the running statistics towards"
    " those of the batch.",
)
op(
    f"native_batch_norm({_BATCH}) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="batch_norm, with mean and reciprocal deviation of the batch; they are empty in evaluation.",
)
op(
    f"instance_norm(input: Tensor, {_AFFINE}, {_RUNNING}, use_input_stats: bool, momentum: float,"
    " eps: float, cudnn_enabled: bool) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="batch_norm of every sample by itself.",
)
op(
    "instance_norm(input: Tensor, running_mean: Tensor | None = None,"
    f" running_var: Tensor | None = None, {_OPTIONAL_AFFINE}, use_input_stats: bool = True,"
    " momentum: float = 0.1, eps: float = 1e-5) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="batch_norm of every sample by itself; by the running statistics unless use_input_stats.",
)
op(
    f"group_norm(input: Tensor, num_groups: int, {_OPTIONAL_AFFINE}, eps: float = 1e-5,"
    " cudnn_enabled: bool = True) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="Normalizes groups of channels of each sample to mean 0 and variance 1; then scales by"
    " weight and adds bias by channel.",
)
op(
    f"group_norm(input: Tensor, num_groups: int, {_OPTIONAL_AFFINE}, eps: float = 1e-5) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="Normalizes groups of channels of each sample to mean 0 and variance 1; then scales by"
    " weight and adds bias by channel.",
)
op(
    f"layer_norm(input: Tensor, normalized_shape: Ints, {_OPTIONAL_AFFINE}, eps: float = 1e-5,"
    " cudnn_enable: bool = True) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="Normalizes the last dimensions of each sample to mean 0 and variance 1; then scales by"
    " weight and adds bias.",
)
op(
    f"layer_norm(input: Tensor, normalized_shape: Ints, {_OPTIONAL_AFFINE}, eps: float = 1e-5)"
    " -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="Normalizes the last dimensions of each sample to mean 0 and variance 1; then scales by"
    " weight and adds bias.",
)
op(
    "rms_norm(input: Tensor, normalized_shape: Ints, weight: Tensor | None = None,"
    " eps: float | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    aliases="nn.functional.rms_norm",
    doc="Divides the elements of the last dimensions by their root mean square; then scales by weight."
    " eps is the machine epsilon unless given.",
)
op(
    "local_response_norm(input: Tensor, size: int, alpha: float = 1e-4, beta: float = 0.75,"
    " k: float = 1.0) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="input / (k + alpha * mean of the squares of size neighbouring channels) ** beta.",
    autocast="own",
)
op(
    "normalize(input: Tensor, p: float = 2.0, dim: Dims = (1,), eps: float = 1e-12, *,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=floating_complex,
    forms="function",
    grad=composite,
    out="whole",
    doc="input / max(norm of order p along dim, eps).",
)
