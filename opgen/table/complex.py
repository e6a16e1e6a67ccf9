"""Complex numbers and their parts."""

from opgen.model import all_types, composite, floating_complex, native, op, pointwise

op(
    "conj(input: Tensor) -> Tensor",
    kind=native,
    grad=composite,
    doc="The complex conjugate; a real tensor is returned as it is.",
)
op(
    "_conj(input: Tensor) -> Tensor",
    kind=native,
    forms="inner",
    cpp="conj_now",
    grad={"input": "grad.conj()"},
    doc="The complex conjugate in new memory.",
    batch="same",
)
op(
    "conj_physical(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=native,
    cpp="conjugate",
    forms="function method inplace",
    grad=composite,
    out="exact whole",
    doc="The complex conjugate in new memory; a real tensor is returned as it is.",
)
op(
    "_conj_physical(input: Tensor) -> Tensor",
    kind=pointwise,
    cpp="conj_physical",
    dtypes=all_types,
    forms="inner",
    grad={"input": "grad.conj()"},
    node="ConjPhysicalBackward0",
    doc="The complex conjugate in new memory.",
)
for name, doc in (
    ("resolve_conj", "The tensor itself: conjugation is never lazy."),
    ("resolve_neg", "The tensor itself: negation is never lazy."),
):
    op(f"{name}(input: Tensor) -> Tensor", kind=native, grad=composite, doc=doc)
op(
    "angle(input: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=floating_complex,
    promote="float",
    output="real",
    grad={"input": "angle_backward(grad, input)"},
    doc="The angle in the complex plane; of a real element 0, pi or NaN.",
)
op(
    "polar(abs: Tensor, angle: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=("float32", "float64"),
    output="complex",
    forms="function",
    check="one_type",
    grad={
        "abs": "(grad * polar(ones_like(angle), angle).conj()).real()",
        "angle": "(grad * result.conj()).imag()",
    },
    out="exact",
    doc="Complex numbers from absolute values and angles.",
    autocast="float32",
)
op(
    "complex(real: Tensor, imag: Tensor, *, out: Tensor | None = None) -> Tensor",
    kind=pointwise,
    dtypes=("float32", "float64"),
    output="complex",
    forms="function",
    check="one_type",
    grad={"real": "grad.real()", "imag": "grad.imag()"},
    out="exact",
    doc="Complex numbers from real and imaginary parts.",
)
