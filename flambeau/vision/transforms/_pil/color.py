"""Colour changes of PIL images."""

from __future__ import annotations

from typing import Any

from flambeau.vision._pillow import pillow

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "autocontrast",
    "equalize",
    "invert",
    "posterize",
    "solarize",
    "to_grayscale",
]


def to_grayscale(img: Any, channels: int = 1) -> Any:
    grey = img.convert("L")
    if channels == 1:
        return grey
    if channels == 3:
        return pillow().merge("RGB", (grey, grey, grey))
    raise ValueError(f"num_output_channels should be either 1 or 3, got {channels}")


def adjust_brightness(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Brightness(img).enhance(factor)


def adjust_contrast(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Contrast(img).enhance(factor)


def adjust_saturation(img: Any, factor: float) -> Any:
    return pillow("ImageEnhance").Color(img).enhance(factor)


def adjust_hue(img: Any, shift: float) -> Any:
    if img.mode in ("L", "1", "I", "F"):
        return img
    hue, saturation, value = img.convert("HSV").split()
    steps = int(shift * 255) % 256
    hue = hue.point([(level + steps) % 256 for level in range(256)])
    return pillow().merge("HSV", (hue, saturation, value)).convert(img.mode)


def adjust_gamma(img: Any, gamma: float, gain: float) -> Any:
    levels = [int((255 + 1 - 1e-3) * gain * (level / 255.0) ** gamma) for level in range(256)]
    return img.convert("RGB").point(levels * 3).convert(img.mode)


def invert(img: Any) -> Any:
    return pillow("ImageOps").invert(img)


def posterize(img: Any, bits: int) -> Any:
    return pillow("ImageOps").posterize(img, bits)


def solarize(img: Any, threshold: float) -> Any:
    return pillow("ImageOps").solarize(img, threshold)


def autocontrast(img: Any) -> Any:
    return pillow("ImageOps").autocontrast(img)


def equalize(img: Any) -> Any:
    return pillow("ImageOps").equalize(img)
