"""Files with one or two numbers per pixel: .flo, .pfm and 16-bit PNG."""

from __future__ import annotations

import os
import re
from typing import Any

from flambeau.vision._pillow import pillow

__all__ = ["read_flo", "read_pfm", "read_png16", "read_rgb16"]


def read_flo(path: str) -> Any:
    """Read optical flow from a file in Middlebury's format, (2, height, width)."""
    import numpy as np

    with open(path, "rb") as file:
        data = file.read()
    if data[:4] != b"PIEH" or len(data) < 12:
        raise ValueError(f"{path}: Magic number incorrect. Invalid .flo file")
    width, height = (int(number) for number in np.frombuffer(data, "<i4", 2, 4))
    if width < 1 or height < 1 or len(data) < 12 + 8 * width * height:
        raise ValueError(f"{path}: damaged, {len(data)} bytes for {width} × {height} pixels")
    values = np.frombuffer(data, "<f4", 2 * width * height, 12)
    return values.reshape(height, width, 2).transpose(2, 0, 1)


def read_pfm(path: str, channels: int) -> Any:
    """Read the first channels of a portable float map, (channels, height, width)."""
    import numpy as np

    with open(path, "rb") as file:
        data = file.read()
    # The sign of the scale gives the byte order; rows go from the bottom to the top.
    header = re.match(rb"(PF|Pf)\s+(\d+)\s(\d+)\s+(-?[\d.]+)\s", data)
    if header is None:
        raise ValueError(f"{path}: Invalid PFM file")
    width, height = int(header[2]), int(header[3])
    depth = 3 if header[1] == b"PF" else 1
    kind = "<f4" if header[4].startswith(b"-") else ">f4"
    if len(data) < header.end() + 4 * depth * width * height:
        raise ValueError(f"{path}: damaged, {len(data)} bytes for {width} × {height} pixels")
    values = np.frombuffer(data, kind, depth * width * height, header.end())
    rows = values.reshape(height, width, depth)[::-1]
    return rows.transpose(2, 0, 1)[:channels].astype(np.float32)


def read_png16(path: str) -> Any:
    """Read the values of a grey PNG, (height, width)."""
    import numpy as np

    from flambeau.vision.datasets.folder import open_image

    return np.asarray(open_image(path))


def read_rgb16(path: str) -> Any:
    """Read the values of a 16-bit PNG of three channels, (height, width, 3).

    Pillow keeps only eight of the bits. Told that the low byte comes first, it gives the others.
    """
    import numpy as np

    high, low = (np.asarray(_bytes(path, order)) for order in ("RGB;16B", "RGB;16L"))
    return high.astype(np.uint16) << 8 | low


def _bytes(path: str, order: str) -> Any:
    module = pillow()
    try:
        image = module.open(path)
        with image:
            if image.format != "PNG" or [tile[3] for tile in image.tile] != ["RGB;16B"]:
                raise ValueError("three channels of 16 bits expected")
            codec, box, offset, _ = image.tile[0]
            image.tile = [type(image.tile[0])(codec, box, offset, order)]
            return image.copy()
    except FileNotFoundError:
        raise
    except Exception as error:  # a damaged file can raise any exception
        raise module.UnidentifiedImageError(
            f"{os.fspath(path)}: not a whole PNG of flow ({error})"
        ) from error
