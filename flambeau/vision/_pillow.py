"""Pillow, which is optional: imported when first needed."""

from __future__ import annotations

import importlib
import sys
from typing import Any

__all__ = ["is_pil_image", "pillow"]


def pillow(module: str = "Image") -> Any:
    """Import a module of Pillow; the ImportError says how to install it."""
    name = f"PIL.{module}"
    if (loaded := sys.modules.get(name)) is not None:  # asked for with every image
        return loaded
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise ImportError(
            "Pillow is needed for image files and PIL images: pip install flambeau[vision] "
            "(or pip install pillow); tensors work without it"
        ) from error


def is_pil_image(value: Any) -> bool:
    """Whether a value is a PIL image; Pillow is not imported to find out."""
    module = sys.modules.get("PIL.Image")
    return module is not None and isinstance(value, module.Image)
