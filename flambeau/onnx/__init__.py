"""``torch.onnx``: programs import it and ask questions; the export itself is not there yet."""

from __future__ import annotations

import enum
from collections.abc import Callable
from typing import Any, NoReturn

from flambeau._limits.refusing import refusal
from flambeau.onnx import errors, operators, symbolic_helper
from flambeau.onnx.errors import OnnxExporterError

__all__ = [
    "ONNXProgram",
    "OnnxExporterError",
    "OperatorExportTypes",
    "TrainingMode",
    "dynamo_export",
    "errors",
    "export",
    "is_in_onnx_export",
    "is_onnxrt_backend_supported",
    "operators",
    "register_custom_op_symbolic",
    "select_model_mode_for_export",
    "symbolic_helper",
    "unregister_custom_op_symbolic",
]

_symbolics: dict[tuple[str, int], Callable[..., Any]] = {}


class TrainingMode(enum.IntEnum):
    """How a model is exported."""

    EVAL = 0
    PRESERVE = 1
    TRAINING = 2


class OperatorExportTypes(enum.IntEnum):
    """What becomes of operators that ONNX does not have."""

    ONNX = 0
    ONNX_ATEN = 1
    ONNX_ATEN_FALLBACK = 2
    ONNX_FALLTHROUGH = 3


class ONNXProgram:
    """What ``export`` will return."""


def is_in_onnx_export() -> bool:
    """Return whether a model is being exported, which it never is.

    Example:
        >>> torch.onnx.is_in_onnx_export()
        False

    See also:
        `onnx.export`.
    """
    return False


def is_onnxrt_backend_supported() -> bool:
    """Whether ONNX Runtime can run compiled functions."""
    return False


def export(
    model: Any,
    args: tuple[Any, ...] = (),
    f: Any = None,
    *,
    kwargs: dict[str, Any] | None = None,
    verbose: bool | None = None,
    input_names: Any = None,
    output_names: Any = None,
    opset_version: int | None = None,
    dynamo: bool = True,
    **options: Any,
) -> NoReturn:
    """Write a model in ONNX format, which is not supported yet: every call raises.

    Args:
        model: Model to write.
        args: Example inputs.
        f: Path of the file.
        kwargs, verbose, input_names, output_names, opset_version, dynamo: PyTorch's.
        **options: PyTorch's further options.

    Raises:
        NotImplementedError: Always; the message names what to do instead.

    Example:
        >>> torch.onnx.export(nn.Linear(2, 1), (torch.ones(1, 2),), "model.onnx")
        Traceback (most recent call last):
            ...
        NotImplementedError: onnx.export: Flambeau does not write ONNX files yet...

    See also:
        `torch.export.export`, `torch.jit.trace`.
    """
    raise refusal("onnx.export")


def dynamo_export(model: Any, /, *args: Any, **kwargs: Any) -> NoReturn:
    """The same by its other name."""
    export(model, args)


def register_custom_op_symbolic(
    symbolic_name: str, symbolic_fn: Callable[..., Any], opset_version: int
) -> None:
    """Keep what an operator of the program's own becomes in ONNX."""
    if "::" not in symbolic_name:
        raise OnnxExporterError(
            f"register_custom_op_symbolic: expected a name 'domain::op', got {symbolic_name!r}"
        )
    _symbolics[symbolic_name, opset_version] = symbolic_fn


def unregister_custom_op_symbolic(symbolic_name: str, opset_version: int) -> None:
    """Forget it."""
    _symbolics.pop((symbolic_name, opset_version), None)


def select_model_mode_for_export(model: Any, mode: TrainingMode) -> Any:
    """A block in which the model is in the mode for an export."""
    import contextlib

    @contextlib.contextmanager
    def block() -> Any:
        before = model.training
        if mode != TrainingMode.PRESERVE:
            model.train(mode == TrainingMode.TRAINING)
        try:
            yield
        finally:
            model.train(before)

    return block()
