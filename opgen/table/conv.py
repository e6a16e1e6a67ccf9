"""Convolutions: products of a kernel with every window of an image, and their transposes."""

from opgen.model import composite, native, numeric, op

_GEOMETRY = "stride: Ints, padding: Ints, dilation: Ints, transposed: bool, output_padding: Ints, groups: int"
_PASSED_ON = "stride, padding, dilation, transposed, output_padding, groups"

for n in (1, 2, 3):
    for overload, padding in (("", "padding: Dims = 0"), (".padding", "padding: str = 'valid'")):
        op(
            f"conv{n}d{overload}(input: Tensor, weight: Tensor, bias: Tensor | None = None, stride: Dims = 1,"
            f" {padding}, dilation: Dims = 1, groups: int = 1) -> Tensor",
            kind=native,
            dtypes=numeric,
            forms="function",
            aliases=f"nn.functional.conv{n}d",
            grad=composite,
            doc=f"A {n}-dimensional convolution of input with the kernels in weight.",
            autocast="lower",
        )
    op(
        f"conv_transpose{n}d(input: Tensor, weight: Tensor, bias: Tensor | None = None,"
        " stride: Dims = 1, padding: Dims = 0, output_padding: Dims = 0, groups: int = 1,"
        " dilation: Dims = 1) -> Tensor",
        kind=native,
        dtypes=numeric,
        forms="function",
        aliases=f"nn.functional.conv_transpose{n}d",
        grad=composite,
        doc=f"The transpose of conv{n}d: each element of input adds a scaled kernel to the result.",
        autocast="lower",
    )

op(
    f"convolution(input: Tensor, weight: Tensor, bias: Tensor | None, {_GEOMETRY}) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad={
        "input weight bias": f"convolution_backward(grad, input, weight, {_PASSED_ON}, needed)",
    },
    doc="A convolution along as many dimensions as weight has beyond two, or its transpose.",
)
# The three operators below give each other's derivatives, so any number of them exist.
op(
    f"_convolution_input(gradient: Tensor, weight: Tensor, sizes: Ints, {_GEOMETRY}) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    cpp="convolution_input",
    grad={
        "gradient": f"convolution(grad, weight.conj(), None, {_PASSED_ON})",
        "weight": f"_convolution_weight(gradient.conj(), grad, weight.shape, {_PASSED_ON})",
    },
    doc="The gradient of a convolution with respect to its input, which has these sizes.",
)
op(
    f"_convolution_weight(gradient: Tensor, input: Tensor, sizes: Ints, {_GEOMETRY}) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    cpp="convolution_weight",
    grad={
        "gradient": f"convolution(input.conj(), grad, None, {_PASSED_ON})",
        "input": f"_convolution_input(gradient.conj(), grad, input.shape, {_PASSED_ON})",
    },
    doc="The gradient of a convolution with respect to its weight, which has these sizes.",
)
op(
    "conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad=composite,
    doc="conv1d of (length, batch, channels) with a weight of (length, channels in, channels out).",
    autocast="lower",
)
