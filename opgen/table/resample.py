"""Images resized, sampled at given points, or with channels and pixels shuffled."""

from functools import partial

from opgen.model import (
    all_types,
    composite,
    floating,
    floating_complex,
    native,
    not_implemented,
    op,
)

RESAMPLED = ("uint8", *floating)
MAPPED = ("int8", "int16", "int32", "int64", *floating_complex)

image_op = partial(op, kind=native, forms="function", dtypes=floating, grad=composite)

# --- resizing

image_op(
    "interpolate(input: Tensor, size: Dims | None = None, scale_factor: Factors | None = None, mode: str = 'nearest', "
    "align_corners: bool | None = None, recompute_scale_factor: bool | None = None, antialias: bool = False) -> Tensor",
    doc="Resizes signals, images or volumes to a size or by a factor.",
    dtypes=RESAMPLED,
    namespace="nn.functional",
)
# Names in PyTorch's graph, and the kinds of weights: see csrc/ops/resample_maps.h.
KINDS = {
    "nearest1d": "nearest",
    "nearest2d": "nearest",
    "nearest3d": "nearest",
    "nearest_exact1d": "nearest-exact",
    "nearest_exact2d": "nearest-exact",
    "nearest_exact3d": "nearest-exact",
    "linear1d": "linear",
    "bilinear2d": "linear",
    "trilinear3d": "linear",
    "bicubic2d": "cubic",
    "bilinear2d_aa": "smooth-linear",
    "bicubic2d_aa": "smooth-cubic",
    "lanczos2d_aa": "lanczos",
}
SHAPED = "output_size: Ints, factors: Factors | None, align_corners: bool"
for name, kind in KINDS.items():
    image_op(
        f"_upsample_{name}(input: Tensor, {SHAPED}) -> Tensor",
        forms="inner",
        doc="Another size by weighted sums of neighbouring elements.",
        grad={"input": f"resample_backward(grad, input.window, '{kind}', factors, align_corners)"},
        dtypes=RESAMPLED,
    )
image_op(
    f"_resample(input: Tensor, kind: str, {SHAPED}) -> Tensor",
    forms="inner",
    doc="Another size by weighted sums of neighbouring elements.",
    grad={"input": "resample_backward(grad, input.window, kind, factors, align_corners)"},
    dtypes=RESAMPLED,
)
image_op(
    "_resample_backward(gradient: Tensor, shape: Ints, channels_last: bool, kind: str, "
    "factors: Factors | None, align_corners: bool) -> Tensor",
    forms="inner",
    doc="Each element of gradient added to the elements that it is a weighted sum of.",
    grad={"gradient": "resample(grad, kind, gradient.shape, factors, align_corners)"},
)

# --- pixel and channel shuffles

image_op(
    "pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor",
    doc="Channels in groups of upscale_factor^2 become blocks of as many pixels.",
    grad={"input": "pixel_unshuffle(grad, upscale_factor)"},
    dtypes=all_types,
    aliases="nn.functional.pixel_shuffle",
)
image_op(
    "pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor",
    doc="Blocks of downscale_factor^2 pixels become as many channels.",
    grad={"input": "pixel_shuffle(grad, downscale_factor)"},
    dtypes=all_types,
    aliases="nn.functional.pixel_unshuffle",
)
image_op(
    "channel_shuffle(input: Tensor, groups: int) -> Tensor",
    doc="Interleaves groups of channels: the first of each group, then the second, and so on.",
    grad={"input": "channel_shuffle_backward(grad, groups)"},
    dtypes=all_types,
    aliases="native_channel_shuffle nn.functional.channel_shuffle nn.functional.native_channel_shuffle",
)

# --- sampled at given points

image_op(
    "affine_grid_generator(theta: Tensor, size: Ints, align_corners: bool) -> Tensor",
    dtypes=MAPPED,
    doc="For each pixel of an image of the given size, where the affine map theta takes it.",
    grad={"theta": "affine_grid_backward(grad, size, align_corners)"},
    batch="loop",
    autocast="lower",
)
image_op(
    "affine_grid(theta: Tensor, size: Ints, align_corners: bool | None = None) -> Tensor",
    doc="For each pixel of an image of the given size, where the affine map theta takes it.",
    namespace="nn.functional",
)
image_op(
    "grid_sample(input: Tensor, grid: Tensor, mode: str = 'bilinear', padding_mode: str = 'zeros', "
    "align_corners: bool | None = None) -> Tensor",
    doc="The input at the points of grid, whose coordinates run from -1 to 1 over the image.",
    namespace="nn.functional",
)
image_op(
    "grid_sampler(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Tensor",
    doc="grid_sample with modes by number.",
    autocast="float32",
)
for rank in (2, 3):
    image_op(
        f"grid_sampler_{rank}d(input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, "
        "align_corners: bool) -> Tensor",
        doc="grid_sample with modes by number.",
        grad={
            "input grid": "grid_sampler_backward(grad, input, grid, interpolation_mode, padding_mode, "
            "align_corners, needed)"
        },
        node=f"GridSampler{rank}DBackward0",
        autocast="float32",
    )
image_op(
    "_grid_sampler_backward(gradient: Tensor, input: Tensor, grid: Tensor, interpolation_mode: int, padding_mode: int, "
    "align_corners: bool, for_input: bool, for_grid: bool) -> tuple[Tensor, Tensor]",
    forms="inner",
    doc="The gradients of input and grid in one pass; an empty tensor for one that is not asked for.",
    grad=not_implemented,
)
