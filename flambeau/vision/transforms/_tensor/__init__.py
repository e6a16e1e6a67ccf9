"""Transforms of tensors; `_pil` holds the same functions for PIL images."""

from flambeau.vision.transforms._tensor.color import (
    adjust_brightness,
    adjust_contrast,
    adjust_gamma,
    adjust_hue,
    adjust_saturation,
    autocontrast,
    equalize,
    invert,
    posterize,
    solarize,
    to_grayscale,
)
from flambeau.vision.transforms._tensor.filters import adjust_sharpness, gaussian_blur
from flambeau.vision.transforms._tensor.geometry import crop, hflip, pad, resize, vflip
from flambeau.vision.transforms._tensor.warp import affine, elastic, perspective, rotate

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "adjust_sharpness",
    "affine",
    "autocontrast",
    "crop",
    "elastic",
    "equalize",
    "gaussian_blur",
    "hflip",
    "invert",
    "pad",
    "perspective",
    "posterize",
    "resize",
    "rotate",
    "solarize",
    "to_grayscale",
    "vflip",
]
