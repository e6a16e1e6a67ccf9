"""New tensors: constant, counted, evenly spaced, or uninitialised."""

from opgen.model import bound, composite, integers, native, none, numeric, op, real

# Options of every new tensor.
OPTIONS = (
    "dtype: DType | None = None, layout: Layout | None = None, device: Device | None = None, "
    "pin_memory: bool = False, requires_grad: bool = False"
)
LIKE_OPTIONS = f"{OPTIONS}, memory_format: MemoryFormat | None = None"
OUT = "out: Tensor | None = None"

op(
    f"empty(size: Size, *, {OUT}, {LIKE_OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A tensor of uninitialised elements, of the default type unless dtype says otherwise.",
)
op(
    f"empty_strided(size: Ints, stride: Ints, *, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A tensor of uninitialised elements with the given strides.",
)
op(
    f"empty_permuted(size: Ints, physical_layout: Ints, *, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A tensor of uninitialised elements whose dimensions lie in memory in the order of physical_layout.",
)
op(
    f"zeros(size: Size, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A tensor of zeros.",
)
op(
    f"ones(size: Size, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A tensor of ones.",
)
op(
    f"full(size: Ints, fill_value: Number, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A tensor filled with fill_value, whose type decides that of the result unless dtype is given.",
)
op(
    f"scalar_tensor(s: Number, *, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A zero-dimensional tensor of the default type unless dtype says otherwise.",
)
op(
    f"eye(n: int, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A matrix with 1 on its diagonal and 0 elsewhere.",
)
op(
    f"eye.m(n: int, m: int, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    forms="function",
    grad=none,
    doc="A matrix with 1 on its diagonal and 0 elsewhere.",
)
op(
    f"arange(end: Number, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    dtypes=real,
    forms="function",
    grad=none,
    out="row",
    doc="The values start, start + step, ... below end; int64 if all three are integers.",
)
op(
    f"arange.start(start: Number, end: Number, step: Number = 1, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    dtypes=real,
    forms="function",
    grad=none,
    out="row",
    doc="The values start, start + step, ... below end; int64 if all three are integers.",
)
op(
    f"linspace(start: Number, end: Number, steps: int, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad=none,
    out="row",
    doc="Evenly spaced values from start to end, both included.",
)
op(
    f"logspace(start: Number, end: Number, steps: int, base: float = 10.0, *, {OUT}, {OPTIONS}) -> Tensor",
    kind=native,
    dtypes=numeric,
    forms="function",
    grad=none,
    out="row",
    doc="Powers of base whose exponents are evenly spaced from start to end, both included.",
)

for name, extra, doc in (
    (
        "empty_like",
        "",
        "A tensor of uninitialised elements with the shape, type and memory order of input.",
    ),
    ("zeros_like", "", "A tensor of zeros with the shape, type and memory order of input."),
    ("ones_like", "", "A tensor of ones with the shape, type and memory order of input."),
    (
        "full_like",
        "fill_value: Number, ",
        "A tensor filled with fill_value, with the shape, type and memory order of input.",
    ),
):
    op(
        f"{name}(input: Tensor, {extra}*, {LIKE_OPTIONS}) -> Tensor",
        kind=native,
        forms="function",
        grad=none,
        doc=doc,
        sparse="own" if name in ("empty_like", "zeros_like") else "",
    )

for name, size, doc in (
    ("new_empty", "size: Size", "A tensor of uninitialised elements of the type of input."),
    ("new_zeros", "size: Size", "A tensor of zeros of the type of input."),
    ("new_ones", "size: Size", "A tensor of ones of the type of input."),
    (
        "new_full",
        "size: Ints, fill_value: Number",
        "A tensor filled with fill_value, of the type of input.",
    ),
    (
        "new_empty_strided",
        "size: Ints, stride: Ints",
        "A tensor of uninitialised elements of the type of input, with the given strides.",
    ),
):
    op(
        f"{name}(input: Tensor, {size}, *, {OPTIONS}) -> Tensor",
        kind=native,
        forms="method",
        grad=none,
        doc=doc,
        batch="own" if "stride" in size else "",
    )

op(
    "fill(input: Tensor, value: Tensor | Number) -> Tensor",
    kind=native,
    forms="function",
    grad={"input": "zeros_like(grad)", "value": "grad"},
    node="FillBackward1",
    number_nodes={"value": "FillBackward0"},
    doc="A tensor like input whose elements are all value.",
)
op(
    "fill_(input: Tensor, value: Tensor | Number) -> Tensor",
    kind=native,
    forms="function method",
    mutates=True,
    grad={"input": "zeros_like(grad)", "value": "grad"},
    node="FillBackward3",
    number_nodes={"value": "FillBackward2"},
    doc="Sets every element to value, a number or a zero-dimensional tensor.",
    batch="own",
)
op(
    "zero_(input: Tensor) -> Tensor",
    kind=native,
    forms="function method",
    mutates=True,
    grad={"input": "zeros_like(grad)"},
    doc="Sets every element to 0.",
    batch="same",
    sparse="own",
)
for name in ("tril_indices", "triu_indices"):
    half = "lower" if name == "tril_indices" else "upper"
    op(
        f"{name}(row: int, col: int, offset: int = 0, *, {OPTIONS}) -> Tensor",
        kind=native,
        dtypes=integers,
        forms="function",
        doc=f"Row and column numbers of the {half} triangle of a row x col matrix, int64 unless dtype is given.",
    )

op(
    "tensor(data: Any, *, dtype: DType | None = None, device: Device | None = None, "
    "requires_grad: bool = False, pin_memory: bool = False) -> Tensor",
    kind=bound,
    forms="function",
    grad=none,
    doc="A new tensor with the elements of data: a number, nested sequences, a NumPy array or a tensor.",
)
op(
    "as_tensor(data: Any, dtype: DType | None = None, device: Device | None = None) -> Tensor",
    kind=bound,
    forms="function",
    grad=composite,
    doc="Like tensor(), but tensors and NumPy arrays of the right type are shared, not copied.",
)
op(
    "asarray(obj: Any, *, dtype: DType | None = None, device: Device | None = None, "
    "copy: bool | None = None, requires_grad: bool = False) -> Tensor",
    kind=bound,
    forms="function",
    grad=none,
    doc="Like as_tensor(); copy=True always copies, copy=False refuses to.",
)
op(
    "new_tensor(input: Tensor, data: Any, *, dtype: DType | None = None, device: Device | None = None, "
    "requires_grad: bool = False, pin_memory: bool = False) -> Tensor",
    kind=bound,
    forms="method",
    grad=none,
    doc="A new tensor with the elements of data, of the type of input unless dtype is given.",
)
