"""Histograms: how often values occur, and how many fall between edges."""

from opgen.model import FLOATS, floating, integers, native, none, op, python

op(
    "bincount(input: Tensor, weights: Tensor | None = None, minlength: int = 0) -> Tensor",
    kind=native,
    dtypes=integers,
    doc="How often each of 0, 1, 2, ... occurs in a 1-D tensor, or the sum of the weights where it does.",
    batch="refuse",
)
op(
    "histc(input: Tensor, bins: int = 100, min: Number = 0, max: Number = 0, *,"
    " out: Tensor | None = None) -> Tensor",
    kind=native,
    dtypes=floating,
    out="exact",
    doc="How many elements fall into each of ``bins`` equal intervals from min to max, those of the data if"
    " both are 0; elements outside count nowhere.",
    grad=none,
)
for overload, bins, meaning in (
    ("", "Tensor", "between the edges ``bins``"),
    (".count", "int", "into ``bins`` equal intervals"),
):
    op(
        f"histogram{overload}(input: Tensor, bins: {bins}, *, range: Floats | None = None,"
        " weight: Tensor | None = None, density: bool = False, out: list[Tensor] | None = None)"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=FLOATS,
        returns="hist bin_edges",
        out="exact",
        doc=f"How many elements fall {meaning}, and the edges; as a density if wanted.",
        grad=none,
    )
op(
    "histogramdd(input: Tensor, bins: Any, range: Any = None, weight: Tensor | None = None,"
    " density: bool = False) -> Any",
    kind=python,
    body="flambeau._operators.histograms:histogramdd",
    dtypes=("float32", "float64"),
    forms="function",
    doc="How many points, the rows of input, fall into each box between edges, and the edges.",
)
