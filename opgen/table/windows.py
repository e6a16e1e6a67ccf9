"""Window functions for spectra."""

from opgen.model import FLOATS, op, python

OPTIONS = (
    "dtype: DType | None = None, layout: Layout | None = None, device: Device | None = None, "
    "pin_memory: bool = False, requires_grad: bool = False"
)

for name, parameters, doc in (
    ("hann_window", "", "The Hann window: sin(pi n / last)**2."),
    (
        "hamming_window",
        "alpha: float = 0.54, beta: float = 0.46, ",
        "The Hamming window: alpha - beta cos(2 pi n / last).",
    ),
    (
        "blackman_window",
        "",
        "The Blackman window: 0.42 - 0.5 cos(2 pi n / last) + 0.08 cos(4 pi n / last).",
    ),
    ("bartlett_window", "", "The Bartlett window: a triangle from 0 over 1 to 0."),
    (
        "kaiser_window",
        "beta: float = 12.0, ",
        "The Kaiser window: I0(beta sqrt(1 - (2n / last - 1)**2)) / I0(beta).",
    ),
):
    op(
        f"{name}(window_length: int, periodic: bool = True, {parameters}*, {OPTIONS}) -> Tensor",
        kind=python,
        body=f"flambeau._operators.windows:{name}",
        dtypes=FLOATS,
        forms="function",
        doc=f"{doc} The periodic window is the symmetric one of one more point, without its last.",
    )
