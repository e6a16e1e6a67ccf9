"""What a trace says where a program looks at elements or lengths, and whether one is being made."""

from __future__ import annotations

import warnings

from flambeau._recording.record import LOOKS_AT_ELEMENTS, Rules, current

__all__: list[str] = []


class TracerWarning(Warning):
    """Something that a trace may get wrong for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Kept for programs that call it: the package itself causes none."""


def is_tracing() -> bool:
    """Return whether a function is being recorded by `trace`.

    Example:
        >>> def double(x):
        ...     print(torch.jit.is_tracing())
        ...     return 2 * x
        >>> traced = torch.jit.trace(double, torch.ones(1), check_trace=False)
        True
        >>> torch.jit.is_tracing()
        False

    See also:
        `jit.trace`, `jit.is_scripting`.
    """
    recorder = current()
    return recorder is not None and recorder.rules in (WARNING, STRICT)


def _warn_of_read(method: str) -> None:
    """Warn of what makes a trace depend on its example."""
    if method == "__len__":
        text = "the length of a tensor is a constant of the trace; tensor.shape[0] is not"
    elif method in LOOKS_AT_ELEMENTS:
        text = (
            f"a tensor was turned into {LOOKS_AT_ELEMENTS[method]}, which is a constant of the "
            "trace from now on; for other inputs the trace may be wrong"
        )
    else:
        raise _refusal(method)
    warnings.warn(f"trace: {text}", TracerWarning, stacklevel=3)  # past the recorder


def _refuse_read(method: str) -> None:
    """Refuse it, where nobody would see the warning when the program runs."""
    if method not in LOOKS_AT_ELEMENTS:
        raise _refusal(method)
    raise RuntimeError(
        f"jit: a tensor was turned into {LOOKS_AT_ELEMENTS[method]}, so that what follows may "
        "depend on its elements; that cannot be recorded"
    )


def _refusal(method: str) -> RuntimeError:
    return RuntimeError(f"trace: torch.Tensor.{method} cannot be recorded as it is called")


def _warn_of_size(value: int, location: str) -> None:
    """Warn of a size that Python has taken for a number, in the line that did so."""
    text = (
        f"trace: a size of {value} became a Python number (range(n), [0] * n, a_list[n]), which is "
        "a constant of the trace from now on: for tensors of other sizes the trace repeats what it "
        "did here; use operators on whole tensors, and check_inputs of other sizes to be sure"
    )
    file, _, line = location.rpartition(":")
    if not line.isdecimal():  # no code of the user's is running
        warnings.warn(text, TracerWarning, stacklevel=4)
        return
    warnings.warn_explicit(text, TracerWarning, file, int(line))


def _warn_of_constant() -> None:
    warnings.warn(
        "trace: a tensor is the result of something that is not recorded, and is a constant of the "
        "trace from now on",
        TracerWarning,
        stacklevel=5,
    )


def _refuse_trainable() -> None:
    raise RuntimeError(
        "trace: the function uses a tensor that requires grad and is neither an input nor a "
        "parameter of the traced module; the trace would keep it as a constant without a gradient: "
        "make it a parameter or an input, or detach it"
    )


# Of traces, and of what is written into files.
WARNING = Rules(
    _warn_of_read,
    _warn_of_constant,
    notes_lengths=False,
    on_trainable=_refuse_trainable,
    on_size=_warn_of_size,
)
STRICT = Rules(_refuse_read, _warn_of_constant)
