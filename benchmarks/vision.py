"""Flambeau's vision and torchvision under one name."""

import importlib
from typing import Any


def vision(t: Any, module: str = "") -> Any:
    """The vision package of a framework, or a module of it; torch's is torchvision."""
    if t.__name__ != "flambeau":
        return importlib.import_module("tests.conformance.vision_oracle").load(module)
    return importlib.import_module(f"flambeau.vision.{module}" if module else "flambeau.vision")
