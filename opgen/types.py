"""The types that signatures may use, and how each crosses from Python to C++."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class ArgumentType:
    annotation: str  # as the table writes it
    tag: str  # ArgType in csrc/bind/arguments.h
    cpp: str  # parameter type of the C++ function
    reader: str  # csrc/bind/arguments.h: reads a matched argument; gets a null pointer when it was left out
    stub: str  # as users see it
    nullable: bool = False  # the reader handles a missing argument itself

    @property
    def is_operand(self) -> bool:
        return self.annotation in ("Tensor", "Tensor | Number")


@dataclass(frozen=True)
class ResultType:
    annotation: str
    cpp: str
    stub: str
    count: int = 1


def _arg(
    annotation: str, tag: str, cpp: str, reader: str, stub: str, nullable: bool = False
) -> ArgumentType:
    return ArgumentType(annotation, tag, cpp, reader, stub, nullable)


_NUMBER = "int | float | bool | complex"

# fmt: off
ARGUMENTS: dict[str, ArgumentType] = {
    a.annotation: a
    for a in (
        _arg("Tensor", "kTensor", "const Tensor&", "tensor", "Tensor"),
        _arg("Tensor | None", "kOptTensor", "const Tensor&", "optional_tensor", "Tensor | None", True),
        _arg("Tensor | Number", "kOperand", "const Operand&", "operand", f"Tensor | {_NUMBER}"),
        _arg("list[Tensor]", "kTensorList", "TensorList", "tensor_list", "Sequence[Tensor]"),
        _arg(
            "list[Tensor] | None", "kOptTensorList", "std::optional<TensorList>", "optional_tensor_list",
            "Sequence[Tensor] | None", True,
        ),
        # None where a dimension stays whole, as in `input[:, index]`: read as an undefined tensor.
        _arg(
            "list[Tensor | None]", "kTensorsOrNone", "TensorList", "tensors_or_none",
            "Sequence[Tensor | None]",
        ),
        _arg("Number", "kNumber", "const Scalar&", "number", _NUMBER),
        _arg("Number | None", "kOptNumber", "std::optional<Scalar>", "optional_number", f"{_NUMBER} | None", True),
        _arg("int", "kInt", "int64_t", "integer", "int"),
        _arg("int | None", "kOptInt", "std::optional<int64_t>", "optional_integer", "int | None", True),
        _arg("float", "kFloat", "double", "real_number", "float"),
        _arg("float | None", "kOptFloat", "std::optional<double>", "optional_real_number", "float | None", True),
        _arg(
            "Floats | None",
            "kOptFloats",
            "const std::optional<std::vector<double>>&",
            "optional_float_list",
            "Sequence[float] | None",
            True,
        ),
        # A factor for all dimensions, or one for each.
        _arg(
            "Factors | None",
            "kOptFactors",
            "const std::optional<std::vector<double>>&",
            "optional_float_list",
            "float | Sequence[float] | None",
            True,
        ),
        _arg("bool", "kBool", "bool", "boolean", "bool"),
        _arg("bool | None", "kOptBool", "std::optional<bool>", "optional_boolean", "bool | None", True),
        # Size: `zeros(2, 3)` and `zeros((2, 3))`; Ints: a sequence only; Dims: a sequence or one int.
        _arg("Size", "kSize", "IntSpan", "int_list", "int | Sequence[int]"),
        _arg("Ints", "kInts", "IntSpan", "int_list", "Sequence[int]"),
        _arg("Ints | None", "kOptInts", "std::optional<IntSpan>", "optional_int_list", "Sequence[int] | None", True),
        _arg("Dims", "kDims", "IntSpan", "int_list", "int | Sequence[int]"),
        _arg("Dims | None", "kOptDims", "std::optional<IntSpan>", "optional_int_list", "int | Sequence[int] | None", True),
        # One size or several, some of which may be None, read as the least int64.
        _arg("Sizes", "kSizes", "IntSpan", "open_sizes", "int | Sequence[int | None] | None"),
        _arg("str", "kStr", "const std::string&", "text", "str"),
        _arg("str | None", "kOptStr", "std::optional<std::string>", "optional_text", "str | None", True),
        _arg("DType", "kDType", "DType", "dtype_value", "dtype"),
        _arg("DType | None", "kOptDType", "std::optional<DType>", "optional_dtype", "dtype | None", True),
        _arg("Device | None", "kOptDevice", "std::optional<Device>", "optional_device", "DeviceLike | None", True),
        _arg("Layout | None", "kOptLayout", "std::optional<Layout>", "optional_layout", "layout | None", True),
        _arg(
            "MemoryFormat | None", "kOptMemoryFormat", "std::optional<MemoryFormat>",
            "optional_memory_format", "memory_format | None", True,
        ),
        _arg("Generator | None", "kOptGenerator", "Generator*", "optional_generator", "Generator | None", True),
        # Anything at all: for hand-written entry points (kind=bound) and Python bodies.
        _arg("Any", "kAny", "", "", "Any"),
        # Several tensors, one by one or in a sequence: `meshgrid(a, b)` and `meshgrid([a, b])`.
        _arg("Tensors", "kAny", "", "", "Sequence[Tensor]"),
    )
}

RESULTS: dict[str, ResultType] = {
    r.annotation: r
    for r in (
        ResultType("Tensor", "Tensor", "Tensor"),
        ResultType("tuple[Tensor, Tensor]", "std::tuple<Tensor, Tensor>", "tuple[Tensor, Tensor]", 2),
        ResultType(
            "tuple[Tensor, Tensor, Tensor]", "std::tuple<Tensor, Tensor, Tensor>",
            "tuple[Tensor, Tensor, Tensor]", 3,
        ),
        ResultType(
            "tuple[Tensor, Tensor, Tensor, Tensor]", "std::tuple<Tensor, Tensor, Tensor, Tensor>",
            "tuple[Tensor, Tensor, Tensor, Tensor]", 4,
        ),
        # Two if an argument asks for both, which no type checker can tell.
        ResultType("Tensor | tuple[Tensor, Tensor]", "OneOrTwo", "Any"),
        ResultType("tuple[Tensor, ...]", "std::vector<Tensor>", "tuple[Tensor, ...]", 0),
        ResultType("list[Tensor]", "TensorVector", "list[Tensor]", 0),
        ResultType("bool", "bool", "bool"),
        ResultType("int", "int64_t", "int"),
        ResultType("float", "double", "float"),
        # Without complex, as in PyTorch: `x.item() > 0` is right for all but complex tensors.
        ResultType("Number", "Scalar", "int | float | bool"),
        ResultType("Size", "Dims", "Size"),
        ResultType("tuple[int, ...]", "std::vector<int64_t>", "tuple[int, ...]"),
        ResultType("DType", "DType", "dtype"),
        ResultType("None", "void", "None"),
        ResultType("Any", "", "Any"),
    )
}
# fmt: on
