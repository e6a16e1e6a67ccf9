"""Samples of Fourier transforms."""

import numpy as np

from tests.ops.registry import call, errors, samples

COMPLEX = ("complex64", "complex128")
FLOATS = ("float32", "float64")


def _transform(name):
    function = getattr(np.fft, name)

    def reference(input, n=None, dim=-1, norm=None):
        return function(input, n, dim, norm)

    return reference


def _transforms(name):
    function = getattr(np.fft, name)
    default = (-2, -1) if name.endswith("2") else None

    def reference(input, s=None, dim=default, norm=None):
        if s is not None and dim is None:
            dim = tuple(range(-len(s), 0))
        return function(input, s, dim, norm)

    return reference


def _calls(make):
    yield make(6)
    yield make(4, 6)
    yield call(make(4, 6), n=5)
    yield call(make(4, 6), n=9, dim=0, norm="ortho")
    yield call(make(4, 6), norm="forward")
    yield call(make(3, 100), norm="backward")


def _calls_of_several(make):
    yield make(4, 6)
    yield make(2, 4, 6)
    yield call(make(2, 4, 6), s=(5, 4), norm="ortho")
    yield call(make(2, 4, 6), s=(5, 4), dim=(0, 1), norm="forward")


TOLERANCE = {"float32": (1e-4, 1e-4), "complex64": (1e-4, 1e-4)}

for _name in ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft"):
    _types = FLOATS if _name in ("rfft", "ihfft") else FLOATS + COMPLEX
    samples(f"fft.{_name}", reference=_transform(_name), dtypes=_types, tolerance=TOLERANCE)(_calls)

for _name in ("fft2", "ifft2", "fftn", "ifftn", "rfft2", "rfftn", "irfft2", "irfftn"):
    _types = FLOATS if _name.startswith("rfft") else FLOATS + COMPLEX
    samples(f"fft.{_name}", reference=_transforms(_name), dtypes=_types, tolerance=TOLERANCE)(
        _calls_of_several
    )

for _name in ("hfft2", "hfftn", "ihfft2", "ihfftn"):  # NumPy has none: torch alone judges
    _types = FLOATS if _name.startswith("ihfft") else FLOATS + COMPLEX
    samples(f"fft.{_name}", dtypes=_types, tolerance=TOLERANCE)(_calls_of_several)


@errors("fft.fft", "fft.ifft", "fft.rfft", "fft.ihfft")
def transform_errors(make):
    real = "float32"
    yield (make(6, 0, dtype=real),), RuntimeError, "expected at least one data point"
    yield call(make(6, dtype=real), dim=3), IndexError, "Dimension out of range"
    yield call(make(6, dtype=real), norm="x"), RuntimeError, "expected norm"
    yield (make(4, dtype="float16"),), RuntimeError, "unsupported dtype"


@samples(
    "fft.fftfreq",
    reference=lambda n, d=1.0: np.fft.fftfreq(n, d).astype(np.float32),
    dtypes=("float32",),
)
def fftfreq(make):
    yield (7,)
    yield 8, 0.5
    yield call(5, d=2.0)


@samples(
    "fft.rfftfreq",
    reference=lambda n, d=1.0: np.fft.rfftfreq(n, d).astype(np.float32),
    dtypes=("float32",),
)
def rfftfreq(make):
    yield (7,)
    yield 8, 0.5


@samples("fft.fftshift", reference=lambda x, dim=None: np.fft.fftshift(x, dim))
def fftshift(make):
    yield make(5)
    yield make(5, 4)
    yield call(make(5, 4), dim=1)


@samples("fft.ifftshift", reference=lambda x, dim=None: np.fft.ifftshift(x, dim))
def ifftshift(make):
    yield make(5)
    yield make(5, 4)
    yield call(make(5, 4), dim=(0, 1))
