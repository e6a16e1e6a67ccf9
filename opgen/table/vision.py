"""Boxes on images: which of many to keep, and what lies inside of them."""

from functools import partial

from opgen.model import floating, native, none, op

box_op = partial(op, kind=native, forms="function", dtypes=floating)

box_op(
    "_nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor",
    doc="The rows of boxes in order of their scores, without those that overlap a better one.",
    grad=none,
    batch="refuse",
)
REGIONS = "rois: Tensor, spatial_scale: float, height: int, width: int"
box_op(
    f"_roi_align(input: Tensor, {REGIONS}, sampling_ratio: int, aligned: bool) -> Tensor",
    doc="Means of interpolated points in a grid of cells over each region of an image.",
    grad={
        "input": "_roi_align_backward(grad, rois, spatial_scale, height, width, sampling_ratio, "
        "aligned, input.shape)",
        "rois": "not_implemented",
    },
)
box_op(
    f"_roi_align_backward(gradient: Tensor, {REGIONS}, sampling_ratio: int, aligned: bool, shape: Ints)"
    " -> Tensor",
    doc="Each cell of gradient given back to the pixels that it is the mean of.",
    grad={
        "gradient": "_roi_align(grad, rois, spatial_scale, height, width, sampling_ratio, aligned)",
        "rois": "not_implemented",
    },
)
box_op(
    f"_roi_pool_places(input: Tensor, {REGIONS}) -> Tensor",
    doc="Where in input the largest element of each cell over each region is, -1 in an empty cell.",
    grad=none,
)
