"""Fourier transforms. Lengths n and s trim or pad with zeros; norm scales."""

from opgen.model import COMPLEX, FLOATS, all_types, integral, native, op, python

# Input types: integers become real numbers; 16 bits are too few for the sums.
REAL = integral + FLOATS
TRANSFORMED = REAL + COMPLEX
OF_REAL = ("rfft", "ihfft")  # which take no complex numbers

NORM = "norm: str | None = None, *, out: Tensor | None = None"

# --- what has a kernel: unscaled transforms times a factor

op(
    "_fft_c2c(input: Tensor, dim: Ints, scale: float, forward: bool) -> Tensor",
    kind=native,
    dtypes=COMPLEX,
    forms="function",
    grad={"input": "_fft_c2c(grad, dim, scale, not forward)"},
    doc="The complex transform over some dimensions, times scale; backward with the opposite sign.",
)
op(
    "_fft_r2c(input: Tensor, dim: Ints, scale: float, onesided: bool) -> Tensor",
    kind=native,
    dtypes=FLOATS,
    forms="function",
    grad={"input": "fft_real_input_backward(grad, dim, scale, onesided, input.shape)"},
    doc="The forward transform of real input, times scale; onesided leaves out half of the last dimension.",
)
op(
    "_fft_c2r(input: Tensor, dim: Ints, scale: float, last_size: int) -> Tensor",
    kind=native,
    dtypes=COMPLEX,
    forms="function",
    grad={"input": "fft_half_spectrum_backward(grad, dim, scale)"},
    doc="The backward transform, times scale, of half a spectrum to last_size real points.",
)


def transform(
    signature: str,
    doc: str,
    dtypes: tuple[str, ...] = all_types,
    autocast: str = "",
    out: str = "",
) -> None:
    op(
        signature,
        kind=python,
        dtypes=dtypes,
        forms="function",
        namespace="fft",
        body=f"flambeau._operators.fourier:{signature.split('(')[0]}",
        out=out,
        doc=doc,
        autocast=autocast,
    )


for name, doc in (
    ("fft", "Discrete Fourier transform along a dimension."),
    ("ifft", "Inverse discrete Fourier transform along a dimension."),
    ("rfft", "Fourier transform of real input: the half of fft's result that determines it."),
    ("irfft", "Inverse of rfft; the result has 2 * (size - 1) points unless n is given."),
    ("hfft", "Real transform of a signal that is Hermitian in time, given its half."),
    ("ihfft", "Inverse of hfft."),
):
    transform(
        f"{name}(input: Tensor, n: int | None = None, dim: int = -1, {NORM}) -> Tensor",
        doc,
        REAL if name in OF_REAL else TRANSFORMED,
        autocast="float32",
        out={"ifft": "", "ihfft": "exact"}.get(name, "ordered"),
    )

for name, doc in (
    ("fft", "Discrete Fourier transform over several dimensions."),
    ("ifft", "Inverse discrete Fourier transform over several dimensions."),
    ("rfft", "Fourier transform of real input over several dimensions; the last one is halved."),
    ("irfft", "Inverse of the transform of real input; the last dimension is the halved one."),
    ("hfft", "Real transform of a signal that is Hermitian in time; the last dimension is halved."),
    ("ihfft", "Inverse of the transform of a Hermitian signal."),
):
    transform(
        f"{name}2(input: Tensor, s: Dims | None = None, dim: Dims = (-2, -1), {NORM}) -> Tensor",
        doc,
        REAL if name in OF_REAL else TRANSFORMED,
        autocast="float32",
        out="ordered",
    )
    transform(
        f"{name}n(input: Tensor, s: Dims | None = None, dim: Dims | None = None, {NORM}) -> Tensor",
        doc,
        REAL if name in OF_REAL else TRANSFORMED,
        autocast="float32",
        out="ordered",
    )

OPTIONS = (
    "out: Tensor | None = None, dtype: DType | None = None, layout: Layout | None = None,"
    " device: Device | None = None, requires_grad: bool = False"
)
transform(
    f"fftfreq(n: int, d: float = 1.0, *, {OPTIONS}) -> Tensor",
    "Frequencies of fft's result: 0, 1, ... -1, over n d.",
    out="row quiet",
)
transform(
    f"rfftfreq(n: int, d: float = 1.0, *, {OPTIONS}) -> Tensor",
    "Frequencies of rfft's result: 0, 1, ... n // 2, over n d.",
    out="row quiet",
)
transform(
    "fftshift(input: Tensor, dim: Dims | None = None) -> Tensor",
    "Moves frequency zero to the middle.",
)
transform(
    "ifftshift(input: Tensor, dim: Dims | None = None) -> Tensor",
    "Moves frequency zero from the middle to the start.",
)
