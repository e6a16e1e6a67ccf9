"""Image files, against torchvision, or Pillow and NumPy where its native library is missing."""

from __future__ import annotations

import importlib
import io
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.case import Namespace, add_case


def _photo(height: int, width: int) -> Any:
    """A smooth image with some noise: files of it are as large as those of photographs."""
    random = np.random.default_rng(0)
    coarse = Image.fromarray(random.integers(0, 256, (16, 16, 3), dtype=np.uint8))
    smooth = np.asarray(coarse.resize((width, height), Image.Resampling.BICUBIC))
    noisy = smooth + random.normal(0, 8, smooth.shape)
    return Image.fromarray(noisy.clip(0, 255).astype(np.uint8))


def _file(image: Any, kind: str) -> bytearray:
    buffer = io.BytesIO()
    image.save(buffer, kind, quality=90)
    return bytearray(buffer.getvalue())


class _PillowFiles:
    """torchvision's functions by Pillow, as programs without its native library have them."""

    def __init__(self, t: Any) -> None:
        self._t = t

    def decode_image(self, file: Any) -> Any:
        image = Image.open(io.BytesIO(file.numpy().tobytes()))
        return self._t.from_numpy(np.array(image)).permute(2, 0, 1)

    def decode_jpeg(self, files: Any) -> Any:
        return [self.decode_image(file) for file in files]

    def encode_jpeg(self, image: Any, kind: str = "JPEG") -> Any:
        data = _file(Image.fromarray(image.permute(1, 2, 0).contiguous().numpy()), kind)
        return self._t.frombuffer(data, dtype=self._t.uint8)

    def encode_png(self, image: Any) -> Any:
        return self.encode_jpeg(image, "PNG")


def _functions(t: Any) -> Any:
    if t.__name__ == "flambeau":
        return importlib.import_module("flambeau.vision.io")
    oracle = importlib.import_module("tests.conformance.vision_oracle")
    return oracle.load("io") if oracle.has_operators() else _PillowFiles(t)


def _files(t: Any) -> Namespace:
    files = {
        f"{name}_{kind.lower()}": t.frombuffer(_file(_photo(*size), kind), dtype=t.uint8)
        for name, size in {"icon": (32, 32), "photo": (375, 500)}.items()
        for kind in ("JPEG", "PNG")
    }
    functions = _functions(t)
    image = functions.decode_image(files["photo_png"]).contiguous()
    return {"io": functions, "image": image, "album": [files["photo_jpeg"]] * 8, **files}


for statement in (
    "io.decode_image(icon_jpeg)",
    "io.decode_image(photo_jpeg)",
    "io.decode_jpeg(album)",
    "io.encode_jpeg(image)",
    "io.decode_image(icon_png)",
    "io.decode_image(photo_png)",
    "io.encode_png(image)",
):
    add_case("vision-io", statement, _files, statement)
