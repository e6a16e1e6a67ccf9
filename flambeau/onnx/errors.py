"""Errors of an export, for programs that catch them."""

from __future__ import annotations

__all__ = ["OnnxExporterError", "SymbolicValueError", "UnsupportedOperatorError"]


class OnnxExporterError(RuntimeError):
    """What all of them are."""


class UnsupportedOperatorError(OnnxExporterError):
    """An operator that ONNX does not have."""


class SymbolicValueError(OnnxExporterError):
    """A value that cannot be exported."""
