"""What a trace says where a program looks at elements or lengths, and whether one is being made."""

from __future__ import annotations

import warnings

from flambeau import Tensor
from flambeau._recording.record import Recorder, current

__all__: list[str] = []

# What gives Python a number that the steps after it may depend on.
_LOOKS_AT_ELEMENTS = {
    "__bool__": "a Python boolean",
    "__float__": "a Python float",
    "__index__": "a Python index",
    "__int__": "a Python integer",
    "item": "a Python number",
    "numpy": "a NumPy array",
    "tolist": "a Python list",
}


class TracerWarning(Warning):
    """Something that a trace may get wrong for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Kept for programs that call it: the package itself causes none."""


def is_tracing() -> bool:
    """Whether a function is being recorded."""
    recorder = current()
    return recorder is not None and recorder._on_read in (warn_of_read, refuse_read)


def warn_of_read(recorder: Recorder, method: str, tensor: Tensor) -> None:
    """Warn of what makes a trace depend on its example."""
    if method == "__len__":
        warnings.warn(
            "trace: the length of a tensor is a constant of the trace; tensor.shape[0] is not",
            TracerWarning,
            stacklevel=4,
        )
    elif method in _LOOKS_AT_ELEMENTS:
        warnings.warn(
            f"trace: a tensor was turned into {_LOOKS_AT_ELEMENTS[method]}, which is a constant of "
            "the trace from now on; for other inputs the trace may be wrong",
            TracerWarning,
            stacklevel=4,
        )
    else:
        _refuse_method(method)


def refuse_read(recorder: Recorder, method: str, tensor: Tensor) -> None:
    """Refuse it, where nobody would see the warning when the program runs."""
    if method == "__len__":
        int(tensor.shape[0])  # which is noted
    elif method in _LOOKS_AT_ELEMENTS:
        raise RuntimeError(
            f"jit: a tensor was turned into {_LOOKS_AT_ELEMENTS[method]}, so that what follows may "
            "depend on its elements; that cannot be recorded"
        )
    else:
        _refuse_method(method)


def _refuse_method(method: str) -> None:
    raise RuntimeError(f"trace: torch.Tensor.{method} cannot be recorded as it is called")


def warn_of_constant(tensor: Tensor) -> None:
    """Warn of a tensor that something made which is no operator."""
    warnings.warn(
        "trace: a tensor is the result of something that is not recorded, and is a constant of the "
        "trace from now on",
        TracerWarning,
        stacklevel=5,
    )
