"""Padding."""

from functools import partial

from opgen.model import composite, floating_complex, native, op

PAIRS = "before and after, by pairs from the last dimension on"

padding = partial(op, kind=native, forms="function")

padding(
    "constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0) -> Tensor",
    doc=f"Pads with a constant {PAIRS}; negative widths crop.",
    grad={"input": "unpad(grad, pad)"},
    batch="same",
)
padding(
    "pad(input: Tensor, pad: Ints, mode: str = 'constant', value: Number | None = None) -> Tensor",
    doc=f"Pads a tensor {PAIRS}; negative widths crop.",
    grad=composite,
    namespace="nn.functional",
)
# The borders of images, under the names of PyTorch's nodes.
for mode, name in (
    ("reflect", "reflection"),
    ("replicate", "replication"),
    ("circular", "circular"),
):
    for rank in (1, 2, 3):
        padding(
            f"_{name}_pad{rank}d(input: Tensor, padding: Ints) -> Tensor",
            forms="inner",
            doc=f"Elements of input itself {PAIRS}.",
            grad={"input": f"pad_backward(grad, input.window, padding, '{mode}')"},
            autocast="" if name == "circular" or (name, rank) == ("reflection", 3) else "float32",
        )
padding(
    "_pad_backward(gradient: Tensor, shape: Ints, channels_last: bool, padding: Ints, mode: str) -> Tensor",
    forms="inner",
    doc="Each element of gradient added to the one that it was copied from.",
    grad={"gradient": "nn.functional.pad(grad, padding, mode)"},
    dtypes=floating_complex,
)
