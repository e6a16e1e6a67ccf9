"""The short-time Fourier transform."""

from opgen.model import COMPLEX, FLOATS, op, python

FRAMES = (
    "input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, "
    "window: Tensor | None = None, center: bool = True"
)

op(
    f"stft({FRAMES}, pad_mode: str = 'reflect', normalized: bool = False, onesided: bool | None = None, "
    "return_complex: bool | None = None) -> Tensor",
    kind=python,
    body="flambeau._operators.spectral:stft",
    dtypes=FLOATS + COMPLEX,
    doc="Fourier transforms of overlapping windows of a signal, as (..., frequency, frame).",
    autocast="float32",
)
op(
    f"istft({FRAMES}, normalized: bool = False, onesided: bool | None = None, length: int | None = None, "
    "return_complex: bool = False) -> Tensor",
    kind=python,
    body="flambeau._operators.spectral:istft",
    dtypes=COMPLEX,
    doc="The signal whose short-time Fourier transform is closest to input.",
)
