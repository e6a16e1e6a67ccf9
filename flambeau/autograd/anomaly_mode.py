"""Anomaly detection: backward stops at the first NaN and shows the forward line behind it."""

from __future__ import annotations

import warnings

from flambeau import _C

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class set_detect_anomaly:
    """Switches detection on or off: from the call on, or for a block.

    With `check_nan` the gradients that every node returns are looked through for NaN.
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self._previous = _state()
        _C._set_anomaly_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: object) -> None:
        _C._set_anomaly_enabled(*self._previous)


class detect_anomaly:
    """Detects anomalies in the backward runs of a block.

    An error raised in backward then carries the stack of the forward call that recorded the node,
    and NaN in a gradient is an error if `check_nan`. Meant for debugging, because it costs time.
    """

    def __init__(self, check_nan: bool = True) -> None:
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should "
            "only be enabled for debugging.",
            stacklevel=2,
        )
        self.check_nan = check_nan
        self._previous: list[tuple[bool, bool]] = []

    def __enter__(self) -> None:
        self._previous.append(_state())
        _C._set_anomaly_enabled(True, self.check_nan)

    def __exit__(self, *_: object) -> None:
        _C._set_anomaly_enabled(*self._previous.pop())


def _state() -> tuple[bool, bool]:
    return _C.is_anomaly_enabled(), _C.is_anomaly_check_nan_enabled()
