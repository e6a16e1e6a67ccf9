"""Grids of images, image files, and drawing on images."""

from flambeau.vision.utils._drawing import (
    draw_bounding_boxes,
    draw_keypoints,
    draw_segmentation_masks,
)
from flambeau.vision.utils._flow import flow_to_image
from flambeau.vision.utils._grid import make_grid, save_image

__all__ = [
    "draw_bounding_boxes",
    "draw_keypoints",
    "draw_segmentation_masks",
    "flow_to_image",
    "make_grid",
    "save_image",
]
