"""Images of bytes: lookup tables and resizing."""

from functools import partial

from opgen.model import native, none, op

byte_op = partial(op, kind=native, forms="function", dtypes=("uint8",), grad=none, batch="refuse")

byte_op(
    "_map_bytes(input: Tensor, table: Tensor) -> Tensor",
    doc="Each byte of an image (..., C, H, W) replaced by its entry in table (C, 256), or (1, 256) for all channels.",
)
byte_op(
    "_resize_bytes(input: Tensor, height: int, width: int, kind: str, bits: int) -> Tensor",
    doc="An image (N, C, H, W) in another size, by weighted sums with so many bits after the point.",
)
