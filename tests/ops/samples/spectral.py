"""The short-time Fourier transform and its inverse."""

import numpy as np

from tests.ops.registry import call, errors, samples


def transform(
    input,
    n_fft,
    hop_length=None,
    win_length=None,
    window=None,
    center=True,
    pad_mode="reflect",
    normalized=False,
    onesided=None,
    return_complex=None,
):
    """Frame by frame."""
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    window = np.ones(width) if window is None else window
    left = (n_fft - width) // 2
    window = np.pad(window, (left, n_fft - width - left))
    if center:
        mode = {"replicate": "edge", "circular": "wrap"}.get(pad_mode, pad_mode)
        input = np.pad(input, [(0, 0)] * (input.ndim - 1) + [(n_fft // 2,) * 2], mode=mode)
    starts = range(0, input.shape[-1] - n_fft + 1, hop)
    frames = np.stack([input[..., s : s + n_fft] * window for s in starts], -2)
    real = not np.iscomplexobj(input)
    fft = np.fft.rfft if (real if onesided is None else onesided) else np.fft.fft
    result = np.swapaxes(fft(frames, norm="ortho" if normalized else None), -1, -2)
    return np.stack([result.real, result.imag], -1) if return_complex is False else result


@samples("stft", reference=transform, keeps_precision=False)
def stft(make):
    yield call(make(40), 8, return_complex=True)
    if make.is_complex:
        return
    yield call(make(40), 8, return_complex=False)
    yield call(make(2, 20), 8, 3, 6, make.positive(6), return_complex=True)
    yield call(make(2, 20), 8, normalized=True, onesided=False, return_complex=True)
    yield call(make(20), 8, center=False, return_complex=True)
    for mode in ("constant", "replicate", "circular"):
        yield call(make(20), 8, pad_mode=mode, return_complex=True)


@errors("stft")
def stft_errors(make):
    yield (make(40), 8), RuntimeError, "return_complex"
    yield call(make(40), 8, 0, return_complex=True), RuntimeError, "stft: expected hop_length > 0"
    yield call(make(40), 8, window=make(7), return_complex=True), RuntimeError, "stft: "
    yield call(make(4), 100, return_complex=True), RuntimeError, "stft: "


@samples("istft", keeps_precision=False)
def istft(make):
    yield make(5, 9), 8
    yield call(make(2, 5, 9), 8, 3, 6, make.positive(6, dtype=real(make)), length=20)
    yield call(make(8, 9), 8, onesided=False, normalized=True, return_complex=True)
    yield call(make(5, 9), 8, center=False)
    yield make(8, 9), 8  # of a whole spectrum, half determines a real signal


def real(make):
    return "float32" if make.dtype == "complex64" else "float64"


@errors("istft")
def istft_errors(make):
    yield (make(5, 9), 8), RuntimeError, "istft: requires a complex-valued input"
