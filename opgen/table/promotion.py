"""Questions about element types."""

from opgen.model import native, op

op(
    "promote_types(type1: DType, type2: DType) -> DType",
    kind=native,
    forms="function",
    doc="The smallest type that holds both: int16 for uint8 and int8, float32 for float16 and bfloat16.",
)
op(
    "result_type(tensor: Tensor | Number, other: Tensor | Number) -> DType",
    kind=native,
    forms="function",
    doc="The type that arithmetic on the two gives; numbers and 0-d tensors weigh less than others of their kind.",
    sparse="any",
)
op(
    "can_cast(from_: DType, to: DType) -> bool",
    kind=native,
    forms="function",
    doc="Whether a result of one type may be stored in the other: never from complex to real, or float to integer.",
)
