"""Checkpoints in the files of Hugging Face, written by several processes."""

from __future__ import annotations

from typing import Any

from flambeau.distributed._absent import type_without_objects

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

_INSTEAD = "flambeau.serialization.safetensors reads and writes such files"

HuggingFaceStorageReader: Any = type_without_objects("HuggingFaceStorageReader", _INSTEAD)
HuggingFaceStorageWriter: Any = type_without_objects("HuggingFaceStorageWriter", _INSTEAD)
