"""Properties of an input: size, channels, number of frames."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor
from flambeau.vision.transforms import functional as first
from flambeau.vision.transforms.v2.functional._dispatch import PIL, functional, kernel
from flambeau.vision.tv_tensors import BoundingBoxes, Image, KeyPoints, Mask, Video

__all__ = [
    "get_dimensions",
    "get_dimensions_image",
    "get_dimensions_video",
    "get_image_num_channels",
    "get_image_size",
    "get_num_channels",
    "get_num_channels_image",
    "get_num_channels_video",
    "get_num_frames",
    "get_num_frames_video",
    "get_size",
    "get_size_bounding_boxes",
    "get_size_image",
    "get_size_keypoints",
    "get_size_mask",
    "get_size_video",
]


@functional
def get_dimensions(inpt: Any) -> Any:
    """Return channels, height and width."""


@kernel(get_dimensions, Tensor, PIL, Image, whole=True)
def get_dimensions_image(image: Any) -> list[int]:
    """Return channels, height and width of an image tensor."""
    return first.get_dimensions(image)


@kernel(get_dimensions, Video, whole=True)
def get_dimensions_video(video: Tensor) -> list[int]:
    """Return channels, height and width of the frames of a video."""
    return get_dimensions_image(video)


@functional
def get_num_channels(inpt: Any) -> Any:
    """Return the number of channels."""


get_image_num_channels = get_num_channels


@kernel(get_num_channels, Tensor, PIL, Image, whole=True)
def get_num_channels_image(image: Any) -> int:
    """Return the number of channels of an image tensor."""
    return get_dimensions_image(image)[0]


@kernel(get_num_channels, Video, whole=True)
def get_num_channels_video(video: Tensor) -> int:
    """Return the number of channels of the frames of a video."""
    return get_num_channels_image(video)


@functional
def get_size(inpt: Any) -> Any:
    """Return height and width."""


@kernel(get_size, Tensor, PIL, Image, whole=True)
def get_size_image(image: Any) -> list[int]:
    """Return height and width of an image tensor."""
    return get_dimensions_image(image)[1:]


@kernel(get_size, Video, whole=True)
def get_size_video(video: Tensor) -> list[int]:
    """Return height and width of the frames of a video."""
    return get_size_image(video)


@kernel(get_size, Mask, whole=True)
def get_size_mask(mask: Tensor) -> list[int]:
    """Return height and width of a mask."""
    return get_size_image(mask)


@kernel(get_size, BoundingBoxes, whole=True)
def get_size_bounding_boxes(bounding_box: BoundingBoxes) -> list[int]:
    """Return height and width of the image of boxes."""
    return list(bounding_box.canvas_size)


@kernel(get_size, KeyPoints, whole=True)
def get_size_keypoints(keypoints: KeyPoints) -> list[int]:
    """Return height and width of the image of points."""
    return list(keypoints.canvas_size)


@functional
def get_num_frames(inpt: Any) -> Any:
    """Return the number of frames of a video."""


@kernel(get_num_frames, Tensor, Video, whole=True)
def get_num_frames_video(video: Tensor) -> int:
    """Return the number of frames of a video (..., T, C, H, W)."""
    if video.ndim < 4:
        raise IndexError(
            f"get_num_frames: a video (..., T, C, H, W) is expected, got shape {tuple(video.shape)}"
        )
    return int(video.shape[-4])


def get_image_size(inpt: Any) -> list[int]:
    """Return width and height."""
    height, width = get_size(inpt)
    return [width, height]
