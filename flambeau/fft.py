"""``torch.fft``: Fourier transforms."""

from flambeau._C.fft import *  # noqa: F403
