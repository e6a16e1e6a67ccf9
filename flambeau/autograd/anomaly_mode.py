"""Anomaly detection: backward stops at the first NaN and shows the forward line behind it."""

from __future__ import annotations

import warnings

from flambeau import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly(_C._Scope):
    """Switch the detection of anomalies in backward passes on or off.

    Args:
        mode: Whether it is on, from the call on or for a block.
        check_nan: Whether to look for NaN. Default: True.

    Example:
        >>> with torch.autograd.set_detect_anomaly(True):
        ...     torch.is_anomaly_enabled()
        True
    """

    _begin = tuple  # the call has switched already: the block only keeps where to go back to
    _end = staticmethod(_C._exchange_anomaly)

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._value = _C._exchange_anomaly((mode, check_nan))


class detect_anomaly(_C._Scope):
    """Detect anomalies of the backward passes within a block, for debugging.

    An error in backward shows the line of the forward pass, and NaN in a gradient is an error.

    Args:
        check_nan: Whether to look for NaN. Default: True.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore")  # it warns that it is slow
        >>> x = torch.tensor(-1.0, requires_grad=True)
        >>> with torch.autograd.detect_anomaly():
        ...     x.sqrt().backward()
        Traceback (most recent call last):
            ...
        RuntimeError: ...nan...

    See also:
        `torch.autograd.set_detect_anomaly`.
    """

    _begin = _end = staticmethod(_C._exchange_anomaly)

    def __init__(self, check_nan: bool = True) -> None:
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )
        self.check_nan = check_nan
        self._value = (True, check_nan)
