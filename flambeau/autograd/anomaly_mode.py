"""Anomaly detection: backward stops at the first NaN and shows the forward line behind it."""

from __future__ import annotations

import warnings

from flambeau import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly(_C._Scope):
    """Switches detection on or off: from the call on, or for a block.

    With `check_nan` the gradients that every node returns are looked through for NaN.
    """

    _begin = tuple  # the call has switched already: the block only keeps where to go back to
    _end = staticmethod(_C._exchange_anomaly)

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._value = _C._exchange_anomaly((mode, check_nan))


class detect_anomaly(_C._Scope):
    """Detects anomalies in the backward runs of a block.

    An error raised in backward then carries the stack of the forward call that recorded the node,
    and NaN in a gradient is an error if `check_nan`. Meant for debugging, because it costs time.
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
