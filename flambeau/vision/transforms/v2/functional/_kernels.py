"""The functions by kind of input, for programs that call them directly on tensors."""

from __future__ import annotations

from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms.v2.functional import _color, _geometry, _misc

__all__ = [
    "center_crop_image",
    "crop_image",
    "gaussian_blur_image",
    "gaussian_noise_image",
    "get_dimensions_image",
    "get_num_channels_image",
    "get_size_image",
    "grayscale_to_rgb_image",
    "horizontal_flip_image",
    "normalize_image",
    "pad_image",
    "resize_image",
    "resized_crop_image",
    "rgb_to_grayscale_image",
    "rotate_image",
    "to_dtype_image",
    "vertical_flip_image",
]

center_crop_image = F.center_crop
crop_image = F.crop
gaussian_blur_image = F.gaussian_blur
gaussian_noise_image = _color.gaussian_noise
get_dimensions_image = F.get_dimensions
get_num_channels_image = F.get_image_num_channels
get_size_image = _misc.get_size
grayscale_to_rgb_image = _color.grayscale_to_rgb
horizontal_flip_image = F.hflip
normalize_image = _misc.normalize
pad_image = _geometry.pad
resize_image = F.resize
resized_crop_image = F.resized_crop
rgb_to_grayscale_image = F.rgb_to_grayscale
rotate_image = F.rotate
to_dtype_image = _misc.to_dtype
vertical_flip_image = F.vflip
