"""Fourier transforms on the device against NumPy's in double, and their gradients."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from tests.cuda.moving import gradients_on

# Of one pass, of every radix, of several steps, and of large prime factors.
LENGTHS = [1, 2, 3, 5, 8, 13, 16, 17, 31, 63, 97, 210, 256, 1001, 1031, 2310, 4096]
TYPES = [(np.complex64, np.float32, 1e-6), (np.complex128, np.float64, 3e-15)]


def assert_near(ours: Any, exact: Any, limit: float) -> None:
    """Errors are compared with the largest number, which all points contribute to."""
    assert np.abs(ours.cpu().numpy() - exact).max() <= limit * max(np.abs(exact).max(), 1e-30)


@pytest.mark.parametrize("types", TYPES)
@pytest.mark.parametrize("n", LENGTHS)
def test_complex_and_real_transforms(n: int, types: tuple[Any, Any, float]) -> None:
    dtype, real, limit = types
    random = np.random.default_rng(n)
    for shape, dim in (((2, n), 1), ((n, 3), 0)):
        x = (random.standard_normal(shape) + 1j * random.standard_normal(shape)).astype(dtype)
        there = fb.from_numpy(x).cuda()
        exact = x.astype(np.complex128)
        assert_near(fb.fft.fft(there, dim=dim), np.fft.fft(exact, axis=dim), limit)
        assert_near(fb.fft.ifft(there, dim=dim), np.fft.ifft(exact, axis=dim), limit)
        r = x.real.astype(real)
        there = fb.from_numpy(r.copy()).cuda()
        half = np.fft.rfft(r.astype(np.float64), axis=dim)
        assert_near(fb.fft.rfft(there, dim=dim), half, limit)
        half_there = fb.from_numpy(half.astype(dtype)).cuda()
        assert_near(fb.fft.irfft(half_there, n=n, dim=dim), r, 4 * limit)


@pytest.mark.parametrize("n", [16807, 65536])
def test_long_rows_take_several_steps(n: int) -> None:
    x = np.random.default_rng(0).standard_normal((1, n)) + 0j
    assert_near(fb.fft.fft(fb.from_numpy(x).cuda()), np.fft.fft(x), 3e-15)


def test_several_dimensions_with_gaps() -> None:
    x = np.random.default_rng(0).standard_normal((6, 10, 4, 14)) + 0j
    there = fb.from_numpy(x).cuda()[::2, :, :, ::2].permute(3, 1, 0, 2)
    part = x[::2, :, :, ::2].transpose(3, 1, 0, 2)
    assert_near(fb.fft.fftn(there), np.fft.fftn(part), 1e-14)
    assert_near(fb.fft.ifft2(there, dim=(0, 2)), np.fft.ifft2(part, axes=(0, 2)), 1e-14)
    assert_near(fb.fft.rfftn(there.real), np.fft.rfftn(part.real), 1e-14)


@pytest.mark.parametrize("n", [7, 12, 33])
def test_gradients(n: int) -> None:
    fb.manual_seed(0)
    real, whole = fb.randn(3, n, dtype=fb.float64), fb.randn(3, n, dtype=fb.complex128)
    calls = [(fb.fft.rfft, real), (fb.fft.fft2, whole), (fb.fft.hfft, whole)]
    calls += [(fb.fft.irfft, whole), (fb.fft.ihfft, real)]
    window = fb.hann_window(6, dtype=fb.float64)
    for function, x in calls:
        ours, theirs = (gradients_on(device, function, [x]) for device in ("cuda", "cpu"))
        for a, b in zip(ours, theirs, strict=True):
            np.testing.assert_allclose(a.resolve_conj(), b.resolve_conj(), 1e-9, 1e-9)
    spectra = [
        fb.stft(x, 6, 2, window=window.to(x.device), center=False, return_complex=True).cpu()
        for x in (real, real.cuda())
    ]
    np.testing.assert_allclose(spectra[0], spectra[1], 1e-9, 1e-9)
