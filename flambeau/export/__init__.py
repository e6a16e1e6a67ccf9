"""Programs that run without their Python code: graphs of operators, with their state."""

from typing import Any, NoReturn

from flambeau.export import dynamic_shapes as dynamic_shapes
from flambeau.export import exported_program as exported_program
from flambeau.export import graph_signature as graph_signature
from flambeau.export._export import export
from flambeau.export._files import load, save
from flambeau.export.dynamic_shapes import AdditionalInputs, Constraint, Dim, ShapesCollection, dims
from flambeau.export.exported_program import (
    ExportedProgram,
    ModuleCallEntry,
    ModuleCallSignature,
)
from flambeau.export.graph_signature import ExportBackwardSignature, ExportGraphSignature

__all__ = [
    "AdditionalInputs",
    "Constraint",
    "Dim",
    "ExportBackwardSignature",
    "ExportGraphSignature",
    "ExportedProgram",
    "ModuleCallEntry",
    "ModuleCallSignature",
    "ShapesCollection",
    "dims",
    "draft_export",
    "export",
    "load",
    "save",
    "unflatten",
]

export_for_training = export


def draft_export(*args: Any, **kwargs: Any) -> NoReturn:
    """Not available: export() says what it cannot record."""
    raise NotImplementedError(
        "draft_export: reports of what an export would need are not available; export() raises an "
        "error that says which part of the program it cannot record"
    )


def unflatten(module: ExportedProgram, flat_args_adapter: Any = None) -> NoReturn:
    """Not available: an exported graph does not keep the modules that it came from."""
    raise NotImplementedError(
        "unflatten: the graph does not say which submodule an operator came from; "
        "exported_program.module() runs the whole program"
    )
