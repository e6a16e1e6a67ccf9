"""Where Flambeau differs from torch on purpose, with the reason. Everything else must agree.

All lists of this kind are here. What differs for some values only says for which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

# Calls that torch refuses by an accident of its implementation and Flambeau accepts, by the
# beginning of torch's message: of any operator, and of one.
REFUSED_BY_ACCIDENT = {
    "MKL FFT error": "MKL cannot transform an empty batch; the result is simply empty",
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


@dataclass(frozen=True)
class Points:
    """Elements of a sample's inputs at which gradients differ, and by how much if by little."""

    reason: str
    at: Callable[..., Any]  # of the values of the sample's inputs: a mask
    within: tuple[float, float] | None = None  # rtol and atol there

    def mask(self, inputs: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
        """The elements of a gradient of `shape` that are these points."""
        with np.errstate(all="ignore"):
            found = np.asarray(self.at(*inputs))
        return np.broadcast_to(found if found.shape == shape else found.any(), shape)


def _singular(matrix: np.ndarray) -> np.ndarray:
    return np.abs(np.linalg.det(matrix))[..., None, None] < 1e-12 * np.ones(matrix.shape)


_COFACTORS = Points("torch gives 0 at a singular matrix, not its cofactors", _singular)
_INFINITE = Points(
    "at a singular matrix, where the slope is infinite, backward is refused", _singular
)
_SLOPE_AT_NAN = Points("torch gives a slope of 1/2 at NaN", lambda x: np.isnan(x))

# Points where gradients are others than torch's, which are wrong or rounded.
_VECTORS_AT_NAN = Points(
    "torch's vectors and the elements that are left over differ at NaN",
    lambda x, *rest: np.isnan(x),
)
_WRITTEN_OVER = "torch has a gradient for the elements that were written over"

GRADIENTS = {
    **dict.fromkeys(
        [
            "celu",
            "hardshrink",
            "nn.functional.elu",
            "nn.functional.hardswish",
            "nn.functional.hardtanh",
            "nn.functional.relu6",
            "nn.functional.softshrink",
            "selu",
        ],
        _VECTORS_AT_NAN,
    ),
    "as_strided_scatter": Points(_WRITTEN_OVER, lambda x, src: np.ones(x.shape, bool)),
    "ldexp": Points(
        "torch powers an integer exponent as an integer: no gradient below exponent 0",
        lambda x, exponent: (exponent < 0) & (exponent.dtype.kind == "i"),
    ),
    "nn.functional.binary_cross_entropy": Points(
        "torch bounds logarithms, but not in the target's slope",
        lambda x, target, *weight: (x == 0) | (x == 1),
    ),
    "nn.functional.hardsigmoid": Points(
        "torch rounds 1/6 to float32", lambda x: np.abs(x) < 3, (1e-7, 0)
    ),
    "nn.functional.kl_div": Points(
        "torch gives NaN at a target of 0, where the slope is infinite",
        lambda x, target: target == 0,
    ),
    "polar": Points(
        "torch takes the sign of the result for its direction, also of a negative size",
        lambda size, angle: size < 0,
    ),
    "det": _COFACTORS,
    "linalg.det": _COFACTORS,
    "linalg.slogdet": _INFINITE,
    "slogdet": _INFINITE,
    "special.i1": _SLOPE_AT_NAN,
    "special.i1e": _SLOPE_AT_NAN,
    "special.log_ndtr": Points(
        "torch gives NaN at -inf, where the slope is infinite", lambda x: np.isneginf(x)
    ),
}

_LOSSES = "a loss of whole or complex numbers has no gradient to learn from"
_NORMALISED = "of whole or complex numbers, whose averages or squares are no sizes"

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
    _LOSSES,
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

# Samples whose tangents in forward mode are others than torch's, by what a sample must be.
_NOT_THE_DERIVATIVE = "torch's tangent is not what finite differences give"
FORWARD_MODE: dict[str, tuple[str, Callable[[Any], bool]]] = {
    "cholesky_inverse": (_NOT_THE_DERIVATIVE, lambda sample: True),
    "triangular_solve": (_NOT_THE_DERIVATIVE, lambda sample: True),
    "ldexp": (
        GRADIENTS["ldexp"].reason,
        lambda sample: np.asarray(sample.args[1].values).dtype.kind == "i",
    ),
    "vander": (
        "torch's result without columns has no history",
        lambda sample: sample.kwargs.get("N") == 0,
    ),
}

# Operators x dtypes of the table whose results are others than torch's.
_COORDINATES = "torch rounds the places of the samples to 16 bits, here they are float32"
_STEPS = "torch rounds to 16 bits after each dimension, here once"
_STATISTICS = "statistics are float32, torch rounds them to 16 bits"
_UNWRITTEN = "torch returns memory that it has not written"
_MORE = "torch composes it of a subtraction, which refuses bool"
TABLE = {
    (name, dtype): reason
    for names, dtypes, reason in (
        (
            "grid_sampler grid_sampler_2d grid_sampler_3d nn.functional.grid_sample",
            "float16 bfloat16",
            _COORDINATES,
        ),
        ("matrix_exp linalg.matrix_exp", "float16 bfloat16", _UNWRITTEN),
        (
            "native_batch_norm native_group_norm native_layer_norm",
            "float16 bfloat16",
            _STATISTICS,
        ),
        ("nn.functional.interpolate", "float16 bfloat16", _STEPS),
        ("linalg.vecdot", "bfloat16", "torch rounds the products before it adds them"),
        ("nn.functional.tanhshrink", "bool", _MORE),
    )
    for name in names.split()
    for dtype in dtypes.split()
}

# Modules whose results lie batch first in memory too, where torch gives transposed ones.
OWN_STRIDES = {
    f"torch.nn.{name}" for name in ("LSTM", "GRU", "RNN", "utils.rnn.pad_packed_sequence")
}

# Distributions: methods and properties, gradients of methods, divergences of pairs.
DISTRIBUTIONS = {
    ("Kumaraswamy", "mode"): "torch takes the logarithm of a negative number, and answers NaN",
}
DISTRIBUTION_GRADIENTS = {
    ("Wishart", "log_prob"): "torch has a gradient above the diagonal of a lower triangle",
    ("Wishart", "rsample"): "torch has changed in place what its backward needs",
}
DIVERGENCES = {
    ("Wishart", "Wishart"): "torch adds up the batch",
    ("ContinuousBernoulli", "Uniform"): "torch misses the closed ends",
}

# At the edges of parameters, where torch's formulas overflow or cancel.
_CANCELS = "differences of logarithms of gamma in float32, of which few digits are left"
_SURE = "torch multiplies infinity by zero where something is certain"
DISTRIBUTION_EDGES = {
    ("Bernoulli", "log_prob at points"): _SURE,
    ("Beta", "entropy"): _CANCELS,
    ("Binomial", "kl_divergence"): _SURE,
    ("Binomial", "log_prob at points"): _SURE,
    ("Chi2", "entropy"): _CANCELS,
    ("ContinuousBernoulli", "log_prob"): _SURE,
    ("ContinuousBernoulli", "log_prob at points"): _SURE,
    ("GeneralizedPareto", "cdf at points"): "outside the support, neither is 0 or 1",
    ("GeneralizedPareto", "log_prob at points"): "outside the support, neither is minus infinity",
    ("Geometric", "entropy"): "torch takes 1 - p of a p that is nearly 0",
    ("Geometric", "kl_divergence"): "torch takes 1 - p of a p that is nearly 0",
    ("HalfNormal", "log_prob at points"): "torch's square of the value is infinite",
    ("Kumaraswamy", "mode"): "torch takes the logarithm of a negative number, and answers NaN",
    ("Normal", "log_prob"): "torch's square of the scale is 0 or infinite",
    ("Normal", "log_prob at points"): "torch's square of the scale is 0 or infinite",
    ("RelaxedBernoulli", "log_prob at points"): "torch's exponential of a log-odds is infinite",
    ("StudentT", "entropy"): _CANCELS,
    ("VonMises", "variance"): "torch's quotient of Bessel functions is of few digits",
    ("VonMises", "stddev"): "torch's quotient of Bessel functions is of few digits",
}


@dataclass(frozen=True)
class Difference:
    """What differs in torch's databases, and why."""

    entries: str  # of the databases, by their names or patterns of them
    reason: str
    checks: str = ""  # those that differ; all where nothing is said
    dtypes: str = ""
    words: str = ""  # a pattern of what is said about the difference
    sample: str = ""  # a pattern of the sample
    by_chance: bool = False  # torch's threads decide, so that a run may not see it

    def covers(self, entry: str, check: str, dtype: str, sample: str, words: str) -> bool:
        return (
            any(re.fullmatch(each, entry) for each in self.entries.split(","))
            and (not self.checks or check in self.checks.split(","))
            and (not self.dtypes or dtype in self.dtypes.split(","))
            and re.search(self.words, words) is not None
            and re.search(self.sample, sample) is not None
        )


_VALUES = "values differ"
_TIES = "which of several equal elements comes first is not said"
_16_BITS = "torch rounds to 16 bits on the way, here it is computed in float32 and rounded once"
_NUMBERS = "a call with numbers alone is accepted: it has one meaning"
_OVERLAP = "no order of dimensions follows from strides under which elements overlap"
_OUT_OF_RANDOM = "torch draws in another order into memory that is not contiguous"
_ERRORS = "refused in another class of error"
_INFINITE_PARTS = (
    "parts of infinite complex numbers, which follow from no rule that both would keep"
)
_AT_NAN = "NaN in, NaN out; torch looks at the other argument first"
_LIMITS = "at infinity it is the limit; torch subtracts one infinity from another"
_REFLECTED = "it lies as other + input does, whose other name it is; memory overlaps"
_NUMBER_ITSELF = "the method of a number, which has none"
_STRIDED_OUT = "torch writes out= as if it were contiguous"
_REFLECTED_NUMBER = "a number before a tensor is taken beside out= too"

# Calls of torch's databases that Flambeau answers otherwise.
DATABASE: tuple[Difference, ...] = (
    Difference(
        "nn_functional_max_unpool1d,nn_functional_max_unpool2d,nn_functional_max_unpool3d",
        "which of two elements for one place stays differs from call to call in torch",
        "forward mode",
        words=_VALUES,
        by_chance=True,
    ),
    Difference(
        "optimizer LBFGS",
        "quotients of small sums in float32, rounded otherwise",
        dtypes="float32",
        words=_VALUES,
    ),
    Difference(
        "add,sub,rsub,__radd__,__rsub__",
        "torch multiplies by alpha = 1 as a complex number, which makes NaN of an infinity",
        dtypes="complex64",
        words=_VALUES,
    ),
    Difference(
        "addbmm",
        "torch gives the tensor to change another shape, against its own rule",
        "in place",
        words="is not the shape of the tensor to change",
    ),
    Difference(
        "angle,mvlgamma_mvlgamma_p_1,mvlgamma_mvlgamma_p_3,mvlgamma_mvlgamma_p_5",
        _OVERLAP,
        words="strides",
    ),
    Difference(
        "index_select",
        "an out= whose elements overlap is taken",
        "error",
        words="single memory location",
    ),
    Difference("nn_functional_logsigmoid", "the results lie as others do", words="strides"),
    Difference("kthvalue,mode,sort,argsort,topk", _TIES, words=_VALUES),
    Difference(
        "div_trunc_rounding,logit,histc,nn_functional_tanhshrink,special_i0e"
        ",nn_functional_scaled_dot_product_attention,nn_functional_hinge_embedding_loss"
        ",nn_functional_nll_loss,mvlgamma_mvlgamma_p_3,mvlgamma_mvlgamma_p_5",
        _16_BITS,
        dtypes="bfloat16",
        words=_VALUES,
    ),
    Difference(
        "grid_sampler_2d,grid_sampler_3d,nn_functional_grid_sample", _COORDINATES, dtypes="bfloat16"
    ),
    Difference("matrix_exp", _UNWRITTEN, dtypes="bfloat16"),
    Difference(
        "native_batch_norm,native_group_norm,native_layer_norm,_native_batch_norm_legit"
        ",_batch_norm_with_update",
        _STATISTICS,
        dtypes="bfloat16",
    ),
    Difference("cholesky_inverse", _NOT_THE_DERIVATIVE, "forward mode"),
    Difference("cov", "torch rounds weights of float32 before it divides", words=_VALUES),
    Difference(
        "logcumsumexp",
        "torch exponentiates the tangents' terms, and loses digits or all of them",
        "forward mode",
        words=_VALUES,
    ),
    Difference(
        "logaddexp",
        "of two numbers of one size torch takes the other's angle, whole turns away",
        dtypes="complex64",
        words=_VALUES,
    ),
    Difference(
        "as_strided_partial_views",
        "a dual number has memory of its own, and not that of the base of a view",
        "forward mode",
    ),
    Difference(
        ",".join(f"polygamma_polygamma_n_{n}" for n in range(5))
        + ",special_polygamma_special_polygamma_n_0",
        "torch's float32 is off by up to 1e-3 near poles, as a longer computation shows",
        dtypes="float32",
        words=_VALUES,
    ),
    Difference("normal,randn", _OUT_OF_RANDOM, "out", words=_VALUES),
    Difference(
        "matmul,nn_functional_linear",
        "torch gives the tensor for a result of a vector and a matrix other strides",
        "out",
        words="strides",
    ),
    Difference("where", "numbers are taken beside out= too", "out", words="accepted"),
    Difference(
        "bitwise_and,bitwise_left_shift,bitwise_or,bitwise_right_shift,bitwise_xor,float_power,pow"
        ",remainder,rsub,xlogy,special_xlog1py,special_zeta,special_hermite_polynomial_h"
        ",special_hermite_polynomial_he,special_laguerre_polynomial_l"
        ",special_legendre_polynomial_p,special_chebyshev_polynomial_t"
        ",special_chebyshev_polynomial_u,special_chebyshev_polynomial_v"
        ",special_chebyshev_polynomial_w,special_shifted_chebyshev_polynomial_t"
        ",special_shifted_chebyshev_polynomial_u,special_shifted_chebyshev_polynomial_v"
        ",special_shifted_chebyshev_polynomial_w",
        _NUMBERS,
        "error",
        words="accepted, torch raises TypeError",
    ),
    Difference(
        "linspace,linspace_tensor_overload,logspace,logspace_tensor_overload,narrow,narrow_copy"
        ",empty_permuted,index_add,nn_functional_adaptive_avg_pool2d"
        ",nn_functional_adaptive_avg_pool3d,nn_functional_adaptive_max_pool2d"
        ",nn_functional_adaptive_max_pool3d",
        _ERRORS,
        "error",
        words="^raises",
    ),
    Difference(
        "special_airy_ai,special_bessel_j0,special_bessel_j1,special_bessel_y0,special_bessel_y1",
        "torch has seven digits of float64, as SciPy shows, and NaN at infinity",
        words=_VALUES,
    ),
    Difference(
        "signal_windows_kaiser",
        "torch overflows where beta is large",
        words="torch gives (nan|0.0)",
    ),
    Difference(
        "special_hermite_polynomial_h,special_hermite_polynomial_he",
        "sums of large terms of both signs, rounded otherwise",
        dtypes="float32",
        words=_VALUES,
    ),
    Difference(
        "special_(shifted_)?chebyshev_polynomial_[tuvw],special_laguerre_polynomial_l"
        ",special_legendre_polynomial_p,special_hermite_polynomial_he?",
        _LIMITS,
        words="torch gives nan",
    ),
    Difference(
        "polygamma_polygamma_n_[1-4]",
        "0 at infinity, where torch multiplies it by an infinite factor",
        dtypes="float64,bfloat16",
        words="torch gives nan",
    ),
    Difference("igamma,igammac,special_zeta", _AT_NAN, words="first nan"),
    Difference(
        "mul,square,reciprocal,pow,float_power,__rpow__,__rmul__,log1p,expm1",
        _INFINITE_PARTS,
        dtypes="complex64",
        words=_VALUES,
    ),
    Difference("__r(add|mul|and|or|xor)__", _REFLECTED, words="strides"),
    Difference("rsub", "it lies as its first argument; memory overlaps", words="strides"),
    Difference("__r(pow|sub|mod)__", _NUMBER_ITSELF, words="requires a 'torch.Tensor' object"),
    Difference(
        "bitwise_(and|or|xor|left_shift|right_shift),remainder",
        _REFLECTED_NUMBER,
        "out",
        words="accepted, torch raises TypeError",
    ),
    Difference(
        "bool,bfloat16,cfloat,double,float,long",
        "the memory format that was asked for",
        words="strides",
    ),
    Difference(
        "svd",
        "of the vectors beyond the last value only their space is unique",
        sample="some=False",
        words=_VALUES,
    ),
    Difference(
        "nn_functional_multi_head_attention_forward",
        "shares of scores in the thousands, rounded otherwise",
        words=_VALUES,
    ),
    Difference(
        "nn_functional_linear_cross_entropy_chunked(_none)?",
        "the scores of one sample are rounded to 16 bits, as they are without options",
        dtypes="bfloat16",
        words=_VALUES,
    ),
    Difference(
        "nn_functional_interpolate_(bilinear|bicubic)",
        "16 bits are taken too",
        dtypes="bfloat16",
        words="accepted, torch raises NotImplementedError",
    ),
    Difference(
        "nn_functional_fractional_max_pool2d",
        "samples outside of [0, 1) are refused",
        words="must lie in",
    ),
    Difference(
        "narrow_copy,nn_functional_gelu,nn_functional_avg_pool3d",
        _STRIDED_OUT,
        "out",
        words=_VALUES,
    ),
    Difference(
        "as_strided_scatter",
        _WRITTEN_OVER,
        "gradient",
        words=_VALUES,
    ),
    Difference("_batch_norm_with_update", "there are no out= of this name", "out"),
    Difference("_upsample_bilinear2d_aa", "sizes and factors together", words="'scales_h'"),
    Difference(
        "nn_functional_interpolate_bilinear,nn_functional_interpolate_bicubic",
        "the places of the samples in float32, rounded otherwise",
        dtypes="float32",
        words=_VALUES,
    ),
    Difference("fft_ihfft2,fft_ihfftn", "torch leaves out= as it was", "out", words=_VALUES),
    Difference(
        "nn_functional_adaptive_avg_pool1d,nn_functional_adaptive_avg_pool2d"
        ",nn_functional_adaptive_avg_pool3d",
        "no size given is no size changed",
        "error",
        words="accepted",
    ),
    Difference("nn_functional_hardtanh", "limits are taken as clamp takes them", "error"),
    Difference("gather", "an empty index must have the type of an index", words="got uint8"),
    Difference("module nn_CTCLoss", "sums of many logarithms, rounded otherwise", dtypes="float32"),
    Difference("older CrossMapLRN2d", "torch adds to running sums, and rounds more"),
    Difference(
        "module nn_FractionalMaxPool2d,module nn_FractionalMaxPool3d",
        "numbers of another type are converted",
        words="accepted",
    ),
    Difference(
        "module nn_FractionalMaxPool3d",
        "torch takes more random numbers than there are samples",
        words="must have 3 numbers",
    ),
    Difference(
        "sum_to_size,masked_prod", "torch makes a number of a bool where nothing is to be added"
    ),
    Difference(
        "nn_functional_ctc_loss", "lengths under vmap must be the same for all samples", "vmap"
    ),
    Difference("repeat_interleave", "under vmap only where the size is known before", "vmap"),
    Difference(
        "matrix_exp",
        "the tangent is computed by what is not linear in it, and so has a history",
        "forward mode",
        words="requires_grad",
    ),
    Difference("istft", "windows that differ in a batch cannot be checked under vmap", "vmap"),
)


def _not_there(entries: str, reason: str, checks: str = "") -> Difference:
    return Difference(entries, reason, checks, words="^not there")


# What of torch's databases Flambeau does not have.
DATABASE += (
    _not_there("sparse_sampled_addmm,sparse_mm_reduce", "sparse tensors by rows"),
    _not_there("hash_tensor", "the operator; its results are uint64"),
    _not_there("linalg_ldl_.*", "the factorisation of indefinite matrices"),
    _not_there("chalf", "complex numbers of 16 bits"),
    Difference("chalf", "complex numbers of 16 bits", words="memory_format"),
    _not_there(".*", "the form with out=", "out"),
    _not_there("nn_functional_rms_norm,nn_functional_local_response_norm", _NORMALISED),
    _not_there(
        "nn_functional_(margin_ranking|poisson_nll|hinge_embedding|soft_margin)_loss", _LOSSES
    ),
    _not_there("nextafter", "neighbours of numbers of 16 bits"),
)


def why_different(entry: str, check: str, dtype: str, sample: str, words: str) -> str:
    """The reason for a difference in torch's databases; empty where there is none."""
    covering = (each for each in DATABASE if each.covers(entry, check, dtype, sample, words))
    return next((each.reason for each in covering), "")


def unused(found: dict[str, list[Any]]) -> list[str]:
    """What of the reasons stands for nothing that was found in the databases, entry by entry."""

    def is_used(reason: Difference, pattern: str) -> bool:
        of_one = replace(reason, entries=pattern)
        return any(
            of_one.covers(entry, each.check, each.dtype, each.sample, each.words)
            for entry, differences in found.items()
            if re.fullmatch(pattern, entry)
            for each in differences
        )

    return [
        f"{pattern}: {reason.reason}"
        for reason in DATABASE
        for pattern in reason.entries.split(",")
        if not reason.by_chance and not is_used(reason, pattern)
    ]


# --- out=


@dataclass(frozen=True)
class OutDifference:
    """What differs where a result is stored in a tensor of the caller's, and why."""

    reason: str
    operators: str = ".*"  # these three are regular expressions
    places: str = ".*"  # which out= was given
    words: str = ".*"  # what was seen

    def covers(self, operator: str, place: str, words: str) -> bool:
        pairs = ((self.operators, operator), (self.places, place), (self.words, words))
        return all(re.match(a, b, re.DOTALL) for a, b in pairs)


_OTHER_PLACE = "larger|as many|one element|too short"
OUT = (
    OutDifference(
        "torch has no form with out= for these arguments",
        words=".*TypeError.*(invalid combination|missing 1 required|must be Tensor, not int)",
    ),
    OutDifference(
        "torch has no kernel for the type", words="accepted, torch raises NotImplementedError"
    ),
    OutDifference(
        "torch writes one result over the other", places="expanded", words="refused.*single memory"
    ),
    OutDifference(
        "torch has no derivative, and takes what needs gradients",
        "histc$|special[.]",
        "needs gradients",
        "refused",
    ),
    OutDifference(_OUT_OF_RANDOM, "normal|rand|bernoulli", "transposed|window", "other values"),
    OutDifference(
        "torch lays out by rows what had another shape, and by columns what was empty",
        "cholesky_inverse|geqrf|linalg.eig$|linalg.householder_product|linalg.lstsq|orgqr|ormqr",
        _OTHER_PLACE,
        "lies",
    ),
    OutDifference("torch lays it out as its input was", "fft.ifft$", words="lies"),
    OutDifference(
        "torch broadcasts the mean to whatever shape out has", "normal$", f"empty|{_OTHER_PLACE}"
    ),
    OutDifference("torch draws in the type of out", "normal$", ".* into ", "other values"),
    OutDifference(
        "torch exchanges halves of the first dimension, whichever that is", "fft.r?fftfreq"
    ),
    OutDifference(
        "torch warns of shapes in between",
        "isin$|kthvalue$|matmul$",
        words="torch warns|torch does not warn|lies",
    ),
    OutDifference("complex numbers hold real ones", "fft.(hfft|irfft)", ".* into complex"),
    OutDifference(
        "torch asks for the very type where it has one real input",
        "fft.ifft$",
        "complex64 into complex128",
    ),
    OutDifference(
        "torch writes as if out were contiguous",
        "nn.functional.(avg_pool3d|gelu)$",
        "window|transposed",
        "other values",
    ),
    OutDifference(
        "what overlaps its input is refused, as with every function of elements",
        "nn.functional.logsigmoid$",
        "overlaps",
        "refused",
    ),
    OutDifference(
        "torch computes it by other operators, and asks of out= what the one that it takes asks",
        "nn.functional.linear$",
        words="torch warns|torch does not warn|lies|refused",
    ),
    OutDifference(
        "torch gives what was empty room for more rows", "linalg.lstsq$", "empty", "lies"
    ),
    OutDifference("an assertion inside of torch", "ldexp$", words=".*INTERNAL ASSERT"),
    OutDifference("torch refuses it beside a tensor of weights only", "lerp$", ".* into "),
    OutDifference("torch asks for the type of real elements only", "abs$"),
    OutDifference(
        "torch asks for the very type where it does not just copy or scale",
        "inner$|(linalg.)?matrix_power$",
        ".* into |overlaps",
    ),
    OutDifference("torch drops imaginary parts", "logsumexp$|mean$", "complex64 into"),
    OutDifference("one number in a row is stored as any type", "linspace$", ".* into bool"),
    OutDifference("powers of complex numbers in a row", "logspace$", ".* into complex"),
    OutDifference("numbers are checked one by one", "logspace$", ".* into uint8"),
    OutDifference(
        "torch makes bytes of the elements before it looks", "all$|any$", "bool into uint8"
    ),
    OutDifference(
        "what is added up has the type of out", "cumsum$|(nan)?sum$", "is argument", "other values"
    ),
    OutDifference("whole numbers that are added are no truths", "nansum$", "int64 into bool"),
    OutDifference(
        "torch may overwrite what it has read already",
        "diff$|gather$|kron$|take_along_dim$|ldexp$|special.ndtr$|add(b?mm|mv)$|baddbmm$",
        "is argument|overlaps",
        "refused",
    ),
)


# Calls that torch answers by writing over the ends of memory: they are not made.
OUT_CORRUPTS = (
    OutDifference(
        "an input as out= gets another shape while it is read",
        "linalg.eigvalsh$",
        "is argument|overlaps",
    ),
    OutDifference(
        "it is written to as if each element had a place of its own",
        "nn.functional.avg_pool[23]d$",
        "expanded",
    ),
)


def out_corrupts(operator: str, place: str) -> bool:
    """Whether torch would be damaged by a call with out=."""
    return any(each.covers(operator, place, "") for each in OUT_CORRUPTS)


def out_difference(operator: str, place: str, words: str) -> str:
    """The reason for a difference with out=; empty where there is none."""
    covering = (each for each in OUT if each.covers(operator, place, words))
    return next((each.reason for each in covering), "")
