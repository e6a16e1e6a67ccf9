"""The image kernels under their names for videos (..., T, C, H, W)."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, TypeVar

from flambeau.vision.transforms.v2.functional import (
    _affine,
    _augment,
    _bend,
    _color,
    _crop,
    _dtype,
    _flip,
    _misc,
    _pad,
    _resize,
    _tones,
)

__all__ = [
    "adjust_brightness_video",
    "adjust_contrast_video",
    "adjust_gamma_video",
    "adjust_hue_video",
    "adjust_saturation_video",
    "adjust_sharpness_video",
    "affine_video",
    "autocontrast_video",
    "center_crop_video",
    "crop_video",
    "elastic_video",
    "equalize_video",
    "erase_video",
    "five_crop_video",
    "gaussian_blur_video",
    "gaussian_noise_video",
    "horizontal_flip_video",
    "invert_video",
    "jpeg_video",
    "normalize_video",
    "pad_video",
    "permute_channels_video",
    "perspective_video",
    "posterize_video",
    "resize_video",
    "resized_crop_video",
    "rotate_video",
    "solarize_video",
    "ten_crop_video",
    "to_dtype_video",
    "vertical_flip_video",
]

_F = TypeVar("_F", bound=Callable[..., Any])


def _of_videos(of_images: _F) -> _F:
    """Return the same kernel, with ``video`` as the name of its first argument."""

    @functools.wraps(of_images)
    def call(video: Any, *args: Any, **kwargs: Any) -> Any:
        return of_images(video, *args, **kwargs)

    name = of_images.__name__.replace("_image", "_video")
    call.__name__ = call.__qualname__ = name
    call.__module__ = __name__  # where pickle finds it
    call.__doc__ = (of_images.__doc__ or "").replace("image tensor", "video tensor")
    signature = inspect.signature(of_images)
    image, *others = signature.parameters.values()
    call.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[image.replace(name="video"), *others]
    )
    return call  # type: ignore[return-value]


adjust_brightness_video = _of_videos(_color.adjust_brightness_image)
adjust_contrast_video = _of_videos(_color.adjust_contrast_image)
adjust_gamma_video = _of_videos(_color.adjust_gamma_image)
adjust_hue_video = _of_videos(_color.adjust_hue_image)
adjust_saturation_video = _of_videos(_color.adjust_saturation_image)
adjust_sharpness_video = _of_videos(_misc.adjust_sharpness_image)
affine_video = _of_videos(_affine.affine_image)
autocontrast_video = _of_videos(_tones.autocontrast_image)
center_crop_video = _of_videos(_crop.center_crop_image)
crop_video = _of_videos(_crop.crop_image)
elastic_video = _of_videos(_bend.elastic_image)
equalize_video = _of_videos(_tones.equalize_image)
erase_video = _of_videos(_augment.erase_image)
five_crop_video = _of_videos(_crop.five_crop_image)
gaussian_blur_video = _of_videos(_misc.gaussian_blur_image)
gaussian_noise_video = _of_videos(_misc.gaussian_noise_image)
horizontal_flip_video = _of_videos(_flip.horizontal_flip_image)
invert_video = _of_videos(_tones.invert_image)
jpeg_video = _of_videos(_augment.jpeg_image)
normalize_video = _of_videos(_misc.normalize_image)
pad_video = _of_videos(_pad.pad_image)
permute_channels_video = _of_videos(_color.permute_channels_image)
perspective_video = _of_videos(_bend.perspective_image)
posterize_video = _of_videos(_tones.posterize_image)
resize_video = _of_videos(_resize.resize_image)
resized_crop_video = _of_videos(_crop.resized_crop_image)
rotate_video = _of_videos(_affine.rotate_image)
solarize_video = _of_videos(_tones.solarize_image)
ten_crop_video = _of_videos(_crop.ten_crop_image)
to_dtype_video = _of_videos(_dtype.to_dtype_image)
vertical_flip_video = _of_videos(_flip.vertical_flip_image)
