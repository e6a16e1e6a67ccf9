"""Boxes and regions of images, and deformable convolutions."""

from functools import partial

from opgen.model import floating, native, none, not_implemented, op

box_op = partial(op, kind=native, forms="function", dtypes=floating)

box_op(
    "_nms(boxes: Tensor, scores: Tensor, iou_threshold: float) -> Tensor",
    doc="The rows of boxes in order of their scores, without those that overlap a better one.",
    grad=none,
    batch="refuse",
)
box_op(
    "_box_iou_rotated(boxes1: Tensor, boxes2: Tensor) -> Tensor",
    doc="The overlap of every pair of boxes (centre x, centre y, width, height, degrees).",
    grad=not_implemented,
    batch="refuse",
)

# --- regions: `position_sensitive` takes the channels of every cell of the grid from its own plane

REGIONS = "rois: Tensor, spatial_scale: float, height: int, width: int"
SAMPLING = "sampling_ratio: int, aligned: bool, position_sensitive: bool"
SAMPLED = "rois, spatial_scale, height, width, sampling_ratio, aligned, position_sensitive"
box_op(
    f"_roi_align(input: Tensor, {REGIONS}, {SAMPLING}) -> Tensor",
    doc="Means of interpolated points in a grid of cells over each region of an image.",
    grad={"input": f"_roi_align_backward(grad, {SAMPLED}, input.shape)", "rois": "not_implemented"},
)
box_op(
    f"_roi_align_backward(gradient: Tensor, {REGIONS}, {SAMPLING}, shape: Ints) -> Tensor",
    forms="inner",
    doc="Each cell of gradient added to the pixels that it is the mean of.",
    grad={"gradient": f"_roi_align(grad, {SAMPLED})", "rois": "not_implemented"},
)
box_op(
    f"_roi_pool_argmax(input: Tensor, {REGIONS}) -> Tensor",
    doc="Where in input the largest element of each cell over each region is, -1 in an empty cell.",
    grad=none,
)
box_op(
    f"_ps_roi_pool(input: Tensor, {REGIONS}) -> Tensor",
    doc="Means of whole pixels in a grid of cells over each region, of a plane for every cell.",
    grad={
        "input": "_ps_roi_pool_backward(grad, rois, spatial_scale, height, width, input.shape)",
        "rois": "not_implemented",
    },
)
box_op(
    f"_ps_roi_pool_backward(gradient: Tensor, {REGIONS}, shape: Ints) -> Tensor",
    forms="inner",
    doc="Each cell of gradient added to the pixels that it is the mean of.",
    grad={
        "gradient": "_ps_roi_pool(grad, rois, spatial_scale, height, width)",
        "rois": "not_implemented",
    },
)

# --- deformable convolutions

GEOMETRY = "stride: Ints, padding: Ints, dilation: Ints"
box_op(
    "_deform_conv2d(input: Tensor, offset: Tensor, mask: Tensor | None, weight: Tensor,"
    f" bias: Tensor | None, {GEOMETRY}) -> Tensor",
    doc="A deformable convolution: every tap is moved by an offset and scaled by a mask.",
    autocast="float32",
    grad={
        "input offset mask weight bias": "deform_conv2d_backward(grad, input, offset, mask, weight,"
        " stride, padding, dilation, needed)",
    },
)
box_op(
    "_deform_conv2d_backward(gradient: Tensor, input: Tensor, offset: Tensor, mask: Tensor | None,"
    f" weight: Tensor, {GEOMETRY}) -> tuple[Tensor, Tensor, Tensor, Tensor]",
    forms="inner",
    doc="The gradients of input, offset, mask (empty without one) and weight.",
    grad=not_implemented,
)
