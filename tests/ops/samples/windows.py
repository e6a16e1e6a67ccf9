"""Window functions."""

import scipy.signal

from tests.ops.registry import call, errors, samples


def window(shape):
    def reference(window_length, periodic=True, *parameters, dtype=None):
        return scipy.signal.get_window(shape(*parameters), window_length, fftbins=periodic)

    return reference


def calls(make, *parameters):
    for length in (1, 2, 7, 8):
        yield call(length, dtype=make.dtype)
        yield call(length, False, *parameters, dtype=make.dtype)


# Windows end in zeros, which PyTorch rounds to the next float32.
TOLERANCE = {"float32": (1e-5, 1e-6), "float64": (1e-10, 1e-12)}


@samples("hann_window", reference=window(lambda: "hann"), tolerance=TOLERANCE)
def hann_window(make):
    yield from calls(make)


@samples(
    "hamming_window",
    reference=window(lambda alpha=0.54, beta=0.46: ("general_hamming", alpha)),
    tolerance=TOLERANCE,
)
def hamming_window(make):
    yield from calls(make)
    yield from calls(make, 0.6, 0.4)


@samples("blackman_window", reference=window(lambda: "blackman"), tolerance=TOLERANCE)
def blackman_window(make):
    yield from calls(make)


@samples("bartlett_window", reference=window(lambda: "bartlett"), tolerance=TOLERANCE)
def bartlett_window(make):
    yield from calls(make)


@samples("kaiser_window", reference=window(lambda beta=12.0: ("kaiser", beta)), tolerance=TOLERANCE)
def kaiser_window(make):
    yield from calls(make)
    yield from calls(make, 5.0)


@errors("hann_window", "hamming_window", "blackman_window", "bartlett_window", "kaiser_window")
def window_errors(make):
    yield (-1,), RuntimeError, "non-negative window_length"
    yield (2.5,), TypeError, "must be int, not float"
