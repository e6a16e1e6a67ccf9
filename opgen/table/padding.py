"""Padding."""

from opgen.model import all_types, composite, floating_complex, native, op

PAIRS = "before and after, by pairs from the last dimension on"


def padding(
    signature: str,
    doc: str,
    grad: dict[str, str] | str,
    *,
    dtypes: tuple[str, ...] = all_types,
    namespace: str = "",
    node: str = "",
    batch: str = "",
) -> None:
    op(
        signature,
        kind=native,
        forms="function",
        dtypes=dtypes,
        namespace=namespace,
        doc=doc,
        grad=grad,
        node=node,
        batch=batch,
    )


padding(
    "constant_pad_nd(input: Tensor, pad: Ints, value: Number = 0) -> Tensor",
    f"More elements of the given value {PAIRS}; negative ones cut off.",
    {"input": "unpad(grad, pad)"},
    batch="same",
)
padding(
    "pad(input: Tensor, pad: Ints, mode: str = 'constant', value: Number | None = None) -> Tensor",
    f"More elements {PAIRS}, in the mode constant, reflect, replicate or circular.",
    composite,
    namespace="nn.functional",
)
# The borders of images, by the names of PyTorch's nodes.
for mode, name in (
    ("reflect", "reflection"),
    ("replicate", "replication"),
    ("circular", "circular"),
):
    for rank in (1, 2, 3):
        padding(
            f"_{name}_pad{rank}d(input: Tensor, padding: Ints) -> Tensor",
            f"Elements of input itself {PAIRS}.",
            {"input": f"pad_backward(grad, input.window, padding, '{mode}')"},
        )
padding(
    "_pad_backward(gradient: Tensor, shape: Ints, channels_last: bool, padding: Ints, mode: str) -> Tensor",
    "Each element of gradient added to the one that it was copied from.",
    {"gradient": "nn.functional.pad(grad, padding, mode)"},
    dtypes=floating_complex,
)
