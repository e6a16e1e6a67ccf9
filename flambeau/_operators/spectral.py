"""The short-time Fourier transform and its inverse."""

from __future__ import annotations

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._operators.unrecorded import unrecorded


def stft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Fourier transforms of overlapping windows of a signal, as ``(..., frequency, frame)``.

    ``center`` pads the signal by ``n_fft // 2`` on both sides, so that frame ``t`` is centred at
    ``t * hop_length``. ``onesided`` (the default for real signals) leaves out the frequencies that
    follow by symmetry. ``return_complex`` must be given for real signals; False adds a last
    dimension of real and imaginary parts.
    """
    is_real = not (input.is_complex() or (window is not None and window.is_complex()))
    if return_complex is None:
        if is_real:
            raise RuntimeError("stft: requires return_complex to be given for real inputs")
        return_complex = True
    if input.dim() not in (1, 2):
        raise RuntimeError(f"stft: expected a 1-d or 2-d tensor, got {tuple(input.shape)}")
    hop_length, win_length, window = _framing("stft", input, n_fft, hop_length, win_length, window)
    onesided = is_real if onesided is None else onesided
    if onesided and not is_real:
        raise RuntimeError("stft: cannot have onesided output if the signal or window is complex")

    signal = input if input.dim() == 2 else input.unsqueeze(0)
    if center:
        signal = _pad(signal, n_fft // 2, pad_mode)
    if not 0 < n_fft <= signal.size(-1):
        raise RuntimeError(
            f"stft: expected 0 < n_fft <= {signal.size(-1)} (the length of the signal), got {n_fft}"
        )
    frames = signal.unfold(-1, n_fft, hop_length) * window
    norm = "ortho" if normalized else None
    transform = fb.fft.rfft if onesided else fb.fft.fft
    result = transform(frames, dim=-1, norm=norm).transpose(-1, -2)
    result = result if input.dim() == 2 else result.squeeze(0)
    return result if return_complex else fb.view_as_real(result)


def istft(
    input: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    normalized: bool = False,
    onesided: bool | None = None,
    length: int | None = None,
    return_complex: bool = False,
) -> Tensor:
    """Reconstruct a signal from its short-time Fourier transform, by least squares."""
    if not input.is_complex():
        raise RuntimeError("istft: requires a complex-valued input")
    if input.dim() < 2:
        raise IndexError(f"istft: expected a 2-d or 3-d tensor, got {tuple(input.shape)}")
    if input.dim() > 3 or input.numel() == 0:
        raise RuntimeError(
            f"istft: expected a non-empty 2-d or 3-d tensor, got {tuple(input.shape)}"
        )
    spectrum = input if input.dim() == 3 else input.unsqueeze(0)
    frequencies, frames = spectrum.shape[1:]
    onesided = frequencies != n_fft if onesided is None else onesided
    expected = n_fft // 2 + 1 if onesided else n_fft
    if frequencies != expected:
        raise RuntimeError(f"istft: expected {expected} frequencies, got {frequencies}")
    if onesided and return_complex:
        raise RuntimeError("istft: cannot have onesided input if the output is complex")
    hop_length, win_length, window = _framing(
        "istft", spectrum.real, n_fft, hop_length, win_length, window
    )

    norm = "ortho" if normalized else None
    spectrum = spectrum.transpose(1, 2)
    if return_complex:
        pieces = fb.fft.ifft(spectrum, dim=-1, norm=norm)
    else:  # a real signal is determined by half of its spectrum, even if all of it is given
        half = spectrum[..., : n_fft // 2 + 1]
        pieces = fb.fft.irfft(half, n=n_fft, dim=-1, norm=norm)
    total = n_fft + hop_length * (frames - 1)
    signal = _overlap_add(pieces * window, hop_length, total)
    # The sum of the windows themselves; where it is zero nothing is known about the signal.
    weight = _overlap_add((window * window).expand(1, frames, n_fft), hop_length, total)

    start = n_fft // 2 if center else 0
    end = total - n_fft // 2 if center else total
    if length is not None:
        end = min(start + length, total)
    signal, weight = signal[:, start:end], weight[:, start:end]
    with unrecorded():
        if weight.abs().min().item() < 1e-11:
            raise RuntimeError("istft: the windows do not overlap enough to determine the signal")
    signal = signal / weight
    if length is not None and signal.size(-1) < length:
        signal = _C.constant_pad_nd(signal, [0, length - signal.size(-1)])
    return signal if input.dim() == 3 else signal.squeeze(0)


def _framing(
    name: str,
    signal: Tensor,
    n_fft: int,
    hop_length: int | None,
    win_length: int | None,
    window: Tensor | None,
) -> tuple[int, int, Tensor]:
    """Fill in the defaults, and centre the window in ``n_fft`` points."""
    win_length = n_fft if win_length is None else win_length
    hop_length = n_fft // 4 if hop_length is None else hop_length
    if hop_length <= 0:
        raise RuntimeError(f"{name}: expected hop_length > 0, got {hop_length}")
    if not 0 < win_length <= n_fft:
        raise RuntimeError(f"{name}: expected 0 < win_length <= n_fft = {n_fft}, got {win_length}")
    if window is None:
        window = fb.ones(win_length, dtype=signal.dtype, device=signal.device)
    elif window.dim() != 1 or window.numel() != win_length:
        raise RuntimeError(
            f"{name}: expected a 1-d window of {win_length} points, got {tuple(window.shape)}"
        )
    if win_length < n_fft:
        left = (n_fft - win_length) // 2
        window = _C.constant_pad_nd(window, [left, n_fft - win_length - left])
    return hop_length, win_length, window


def _pad(signal: Tensor, width: int, mode: str) -> Tensor:
    size = signal.size(-1)
    positions = fb.arange(-width, size + width, device=signal.device)
    if mode == "reflect":
        if width >= size:
            raise RuntimeError(f"stft: the padding {width} must be less than the signal's {size}")
        positions = (size - 1 - positions.abs()).abs()
        positions = size - 1 - positions
    elif mode == "replicate":
        positions = positions.clamp(0, size - 1)
    elif mode == "circular":
        positions = positions % size
    elif mode == "constant":
        return _C.constant_pad_nd(signal, [width, width])
    else:
        raise NotImplementedError(f"stft: unknown pad_mode {mode!r}")
    return signal.index_select(-1, positions)


def _overlap_add(pieces: Tensor, hop_length: int, total: int) -> Tensor:
    """Overlap-add pieces ``(batch, frame, point)`` into signals, ``hop_length`` apart."""
    batch, frames, points = pieces.shape
    starts = fb.arange(frames, device=pieces.device).unsqueeze(1) * hop_length
    positions = (starts + fb.arange(points, device=pieces.device)).flatten()
    result = pieces.new_zeros(batch, total)
    return result.index_add(1, positions, pieces.reshape(batch, -1))
