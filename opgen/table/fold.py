"""Sliding windows of images as columns of a matrix, and their sum back into an image."""

from opgen.model import boolean, floating_complex, native, op

_WINDOWS = "kernel_size: Dims, dilation: Dims = 1, padding: Dims = 0, stride: Dims = 1"
_PASSED_ON = "kernel_size, dilation, padding, stride"

op(
    f"unfold(input: Tensor, {_WINDOWS}) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=boolean + floating_complex,
    forms="function",
    grad={"input": f"folded(grad, input.shape, {_PASSED_ON})"},
    node="Im2ColBackward0",
    doc="Extracts sliding windows of images as columns: (batch, channels * kernel, windows).",
)
op(
    f"fold(input: Tensor, output_size: Dims, {_WINDOWS}) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=boolean + floating_complex,
    forms="function",
    grad={"input": f"unfolded(grad, {_PASSED_ON})"},
    node="Col2ImBackward0",
    doc="Sums windows, given as columns, into images of output_size: the adjoint of unfold.",
)
