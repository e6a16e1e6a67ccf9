"""Checkpoints in the files of Hugging Face, written by several processes."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import refused_type

__all__ = ["HuggingFaceStorageReader", "HuggingFaceStorageWriter"]

HuggingFaceStorageReader: Any = refused_type(
    "distributed.checkpoint.hf_storage.HuggingFaceStorageReader"
)
HuggingFaceStorageWriter: Any = refused_type(
    "distributed.checkpoint.hf_storage.HuggingFaceStorageWriter"
)
