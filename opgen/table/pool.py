"""Pooling: the largest element or the average of windows, and unpooling."""

from functools import partial

from opgen.model import composite, floating, native, op, real

WINDOW = "kernel_size: Dims, stride: Dims | None = None, padding: Dims = 0"
MAX = f"{WINDOW}, dilation: Dims = 1, ceil_mode: bool = False"
AVERAGE = f"{WINDOW}, ceil_mode: bool = False, count_include_pad: bool = True"
# What a backward keeps of the windows: one number for each pooled dimension.
KEPT = "kernel_size: Ints, stride: Ints, padding: Ints, dilation: Ints"
BOTH = "tuple[Tensor, Tensor]"
# PyTorch pools signals as images of height 1, whose last step is to drop the height again.
LARGEST_NODES = (
    "SqueezeBackward1",
    "MaxPool2DWithIndicesBackward0",
    "MaxPool3DWithIndicesBackward0",
)
AVERAGE_NODES = ("SqueezeBackward1", "AvgPool2DBackward0", "AvgPool3DBackward0")

pooling = partial(
    op, kind=native, forms="function", namespace="nn.functional", dtypes=real, grad=composite
)

for rank in (1, 2, 3):
    # Under autocast volumes are pooled in float32.
    autocast = "float32" if rank == 3 else ""
    # --- the largest
    name = f"max_pool{rank}d"
    doc = f"{rank}-dimensional max pooling: the largest element of each window."
    where = " Also its position, counted over the pooled dimensions."
    pooling(f"{name}(input: Tensor, {MAX}) -> Tensor", doc=doc, namespace="", autocast=autocast)
    pooling(
        f"{name}(input: Tensor, {MAX}, return_indices: bool = False) -> Tensor | tuple[Tensor, Tensor]",
        doc=doc + where,
    )
    pooling(
        f"{name}_with_indices(input: Tensor, {MAX}, return_indices: bool = False) -> {BOTH}",
        doc=doc + where,
        aliases="max_pool1d_with_indices" if rank == 1 else "",
    )
    pooling(
        f"_{name}(input: Tensor, {KEPT}, ceil_mode: bool, compact: bool) -> {BOTH}",
        forms="inner",
        doc="The largest element of each window and where it is, compact as its number in the window.",
        grad={
            "input": "_max_pool_scatter(grad, results[1], input.shape, kernel_size, stride, padding, dilation)"
        },
        namespace="",
        node=LARGEST_NODES[rank - 1],
    )

    # --- the average
    override = (
        "" if rank == 1 else ", divisor_override: int | None = None, *, out: Tensor | None = None"
    )
    pooling(
        f"avg_pool{rank}d(input: Tensor, {AVERAGE}{override}) -> Tensor",
        doc=f"{rank}-dimensional average pooling; padding counts as zeros.",
        grad={
            "input": f"avg_pool_backward(grad, input.window, {rank}, kernel_size, stride, padding, "
            f"ceil_mode, count_include_pad, {'None' if rank == 1 else 'divisor_override'})"
        },
        dtypes=("int64", *floating),
        aliases="avg_pool1d" if rank == 1 else "",
        node=AVERAGE_NODES[rank - 1],
        out="" if rank == 1 else "exact",
        autocast=autocast,
    )

    # --- windows that divide the input evenly among the outputs
    pooling(
        f"adaptive_avg_pool{rank}d(input: Tensor, output_size: Sizes) -> Tensor",
        doc=f"{rank}-dimensional average pooling to a given size.",
        grad={"input": f"adaptive_avg_pool_backward(grad, input.window, {rank})"},
        dtypes=floating,
        aliases="adaptive_avg_pool1d" if rank == 1 else "",
        node="SqueezeBackward1" if rank == 1 else f"AdaptiveAvgPool{rank}DBackward0",
        autocast=autocast,
    )
    name = f"adaptive_max_pool{rank}d"
    doc = f"{rank}-dimensional max pooling to a given size."
    pooling(
        f"{name}(input: Tensor, output_size: Sizes, return_indices: bool = False)"
        " -> Tensor | tuple[Tensor, Tensor]",
        doc=doc + where,
    )
    pooling(
        f"{name}_with_indices(input: Tensor, output_size: Sizes, return_indices: bool = False) -> {BOTH}",
        doc=doc + where,
    )
    pooling(
        f"_{name}(input: Tensor, output_size: Sizes) -> {BOTH}",
        forms="inner",
        doc=doc + where,
        grad={"input": f"max_scatter(grad, results[1], input.shape, {rank})"},
        namespace="",
        node="SqueezeBackward1" if rank == 1 else f"AdaptiveMaxPool{rank}DBackward0",
        autocast=autocast,
    )

    # --- unpooling: largest elements at their old positions
    pooling(
        f"_max_unpool{rank}d(input: Tensor, indices: Tensor, output_size: Ints) -> Tensor",
        doc="Zeros, except for the elements of input at the positions in indices.",
        grad={"input": "_max_unpool_pick(grad, indices, output_size)"},
        namespace="",
        dtypes=real,
        node="SqueezeBackward1" if rank == 1 else f"MaxUnpool{rank}DBackward0",
        autocast="float32",
    )

pooling(
    f"adaptive_max_pool1d(input: Tensor, output_size: Sizes) -> {BOTH}",
    doc="1-dimensional max pooling to a given size, with the positions.",
    namespace="",
)
for rank in (2, 3):
    pooling(
        f"_fractional_max_pool{rank}d(input: Tensor, kernel_size: Dims, output_size: Dims, samples: Tensor) -> {BOTH}",
        doc="The largest elements of windows placed by samples, uniform in [0, 1), and their positions.",
        grad={"input": f"max_scatter(grad, results[1], input.shape, {rank})"},
        namespace="",
        dtypes=floating,
        node=f"FractionalMaxPool{rank}DBackward0",
        autocast="float32",
    )

# --- their gradients

pooling(
    f"_max_pool_scatter(gradient: Tensor, positions: Tensor, shape: Ints, {KEPT}) -> Tensor",
    forms="inner",
    doc="Zeros of the given shape, to which each element of gradient is added at its position.",
    grad={"gradient": "_max_pool_pick(grad, positions, kernel_size, stride, padding, dilation)"},
    namespace="",
    dtypes=real,
)
pooling(
    f"_max_pool_pick(input: Tensor, positions: Tensor, {KEPT}) -> Tensor",
    forms="inner",
    doc="The elements of input at the positions.",
    grad={
        "input": "_max_pool_scatter(grad, positions, input.shape, kernel_size, stride, padding, dilation)"
    },
    namespace="",
    dtypes=real,
)
pooling(
    "_max_unpool_pick(gradient: Tensor, indices: Tensor, output_size: Ints) -> Tensor",
    forms="inner",
    doc="The elements of gradient at the positions in indices.",
    grad={"gradient": "max_unpool(grad, indices, output_size)"},
    namespace="",
    dtypes=real,
)
pooling(
    "_avg_pool_backward(gradient: Tensor, shape: Ints, rank: int, channels_last: bool, kernel_size: Dims, "
    "stride: Dims | None, padding: Dims, ceil_mode: bool, count_include_pad: bool, "
    "divisor_override: int | None) -> Tensor",
    forms="inner",
    doc="Each element of gradient distributed over the window that it is the average of.",
    grad={
        "gradient": "avg_pool(grad, rank, kernel_size, stride, padding, ceil_mode, count_include_pad, "
        "divisor_override)"
    },
    namespace="",
    dtypes=floating,
)
pooling(
    "_adaptive_avg_pool_backward(gradient: Tensor, shape: Ints, rank: int, channels_last: bool) -> Tensor",
    forms="inner",
    doc="Each element of gradient distributed over the window that it is the average of.",
    grad={"gradient": "adaptive_avg_pool(grad, gradient.shape, rank)"},
    namespace="",
    dtypes=floating,
)
