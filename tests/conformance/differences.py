"""Where Flambeau differs from torch on purpose, with the reason. Everything else must agree."""

# Calls that torch refuses by an accident of its implementation and Flambeau accepts, by the
# beginning of torch's message: of any operator, and of one.
REFUSED_BY_ACCIDENT = {
    "MKL FFT error": "MKL cannot transform an empty batch; the result is simply empty",
    "unsupported operation: some elements of the input": "copy_ takes a copy of what overlaps",
}
_BATCH_SIZES = {"output with shape [1, ": "torch reads batch_sizes as if they were contiguous"}
_VIEW = {"view size is not compatible": "torch asks for a view where it needs a copy"}
OPERATORS_REFUSED_BY_ACCIDENT = {
    "gru": _BATCH_SIZES,
    "lstm": _BATCH_SIZES,
    "rnn_relu": _BATCH_SIZES,
    "rnn_tanh": _BATCH_SIZES,
    "native_group_norm": {"Expected X.is_contiguous(memory_format)": "it copies what is strided"},
    "conv_tbc": _VIEW,
    "norm_except_dim": {"cannot reshape tensor of 0 elements": "the norm of nothing is zero"},
    "resize_as": {"view() received an invalid combination": "torch cannot ask for no dimensions"},
    "nn.functional.local_response_norm": _VIEW,
}

# Backwards that torch refuses because of a value that it has saved and Flambeau has not, by the
# beginning of torch's message: an input whose shape is enough, a number, a result.
REFUSED_FOR_MORE_SAVED = (
    "one of the variables needed for gradient computation has been modified",
    "Trying to backward through the graph a second time",
    "Trying to use a saved tensor that has been detached in-place",
)

# Nodes that stand for the same steps, Flambeau's first.
SAME_NODES = {
    ("BmmBackward0", "UnsafeViewBackward0"): "torch makes one matrix of an expanded batch",
}


def accepted(error: Exception, operator: str = "") -> bool:
    """Whether Flambeau may accept what torch refused with `error`."""
    beginnings = REFUSED_BY_ACCIDENT | OPERATORS_REFUSED_BY_ACCIDENT.get(operator, {})
    return str(error).startswith(tuple(beginnings))


# Operators whose gradients are another than torch's, which are wrong or rounded.
GRADIENTS = {
    "ldexp": "torch powers an integer exponent as an integer: no gradient below exponent 0",
    "native_group_norm": "torch differentiates the mean and the deviation that it returns too",
    "nn.functional.binary_cross_entropy": "torch bounds logarithms, but not in the target's slope",
    "nn.functional.hardsigmoid": "torch rounds 1/6 to float32",
    "nn.functional.kl_div": "torch gives NaN at a target of 0, where the slope is infinite",
    "polar": "torch takes the sign of the result for its direction, also of a negative size",
    "det": "torch gives 0 at a singular matrix, not its cofactors",
    "linalg.det": "torch gives 0 at a singular matrix, not its cofactors",
    "linalg.slogdet": "at a singular matrix, where the slope is infinite, backward is refused",
    "slogdet": "at a singular matrix, where the slope is infinite, backward is refused",
    "special.i1": "torch gives a slope of 1/2 at NaN",
    "special.i1e": "torch gives a slope of 1/2 at NaN",
    "special.log_ndtr": "torch gives NaN at -inf, where the slope is infinite",
}

# Operators in more dtypes in torch, whose losses are compositions and take what these take.
DTYPES = dict.fromkeys(
    [
        "hinge_embedding_loss",
        "margin_ranking_loss",
        "nn.functional.hinge_embedding_loss",
        "nn.functional.margin_ranking_loss",
        "nn.functional.poisson_nll_loss",
        "nn.functional.soft_margin_loss",
        "poisson_nll_loss",
    ],
    "a loss of whole or complex numbers has no gradient to learn from",
)

# Likewise what is normalised or dropped.
DTYPES |= {
    "native_dropout": "of complex numbers, which torch's dropout refuses too",
    "nn.functional.local_response_norm": "of int64, with averages rounded to whole numbers",
    "rms_norm": "of complex numbers, with squares that are no sizes",
}

# Operators whose node has another name than in torch, where most of these are compositions.
NODES = {
    "nn.functional.adaptive_avg_pool2d": "torch: MeanBackward1 where one pixel is left",
    "nn.functional.adaptive_avg_pool3d": "torch: MeanBackward1 where one pixel is left",
    "nn.functional.softsign": "torch: DivBackward0",
    "nn.functional.tanhshrink": "torch: SubBackward0",
    "special.ndtr": "torch: MulBackward1",
    "conj_physical": "torch returns a real tensor itself",
    "sub": "sub(1, x) is named as 1 - x is: RsubBackward1",
    "div": "div(1, x) is named as 1 / x is: MulBackward0",
}

# Operators whose types under autocast are others than torch's.
AUTOCAST = {
    "addr": "without beta the input counts for nothing, its type included",
    "linalg.solve_triangular": "torch forgets to look at the type of the other side",
    "linalg.solve_ex": "torch solves no system in 16 bits, but returns one without unknowns",
    "lstm": "torch composes a float16 network in a region of bfloat16, float32 all through",
    "native_batch_norm": "statistics are float32, whatever autocast does",
    "native_group_norm": "statistics are float32, whatever autocast does",
    "native_layer_norm": "statistics are float32, whatever autocast does",
    "nn.functional.l1_loss": "with weights torch computes in 16 bits, here it is a loss as others",
    "nn.functional.mse_loss": "with weights torch computes in 16 bits, here it is a loss as others",
}
# And those whose gradients are there or not otherwise than in torch.
AUTOCAST_GRADIENTS = {
    "asarray": "a copy has no history, under autocast or not",
    "linalg.slogdet": "at a singular matrix, where the slope is infinite, backward is refused",
    "linalg.vector_norm": "a count of elements, the norm of order 0, has no gradient",
    "norm": "a count of elements, the norm of order 0, has no gradient",
    "slogdet": "at a singular matrix, where the slope is infinite, backward is refused",
}
