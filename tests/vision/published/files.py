"""What the layouts are written with."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

LAYOUTS: dict[str, Callable[[Path], None]] = {}


def layout(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Enter a function that writes the files of a data set."""
    LAYOUTS[make.__name__] = make
    return make


def image(path: Path, seed: int = 0, mode: str = "RGB", size: tuple[int, int] = (8, 6)) -> None:
    """Write an image of noise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (size[1], size[0], *([3] if mode == "RGB" else []))
    pixels = np.random.default_rng(seed + len(path.name)).integers(0, 256, shape, dtype=np.uint8)
    picture = Image.fromarray(pixels)
    (picture.convert(mode) if mode != picture.mode else picture).save(path)


def text(path: Path, lines: Iterable[str]) -> None:
    """Write lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def document(path: Path, content: Any) -> None:
    """Write JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def matlab(path: Path, **variables: Any) -> None:
    """Write a file of MATLAB."""
    from scipy.io import savemat

    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, variables)
