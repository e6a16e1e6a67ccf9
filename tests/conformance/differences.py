"""Where Flambeau differs from torch on purpose, with the reason. Everything else must agree.

All lists of this kind are here. What differs for some values only says for which.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

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
GRADIENTS = {
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


@dataclass(frozen=True)
class Difference:
    """What differs in torch's databases, and why."""

    entries: str  # of the databases, by their names
    reason: str
    checks: str = ""  # those that differ; all where nothing is said
    dtypes: str = ""
    words: str = ""  # a pattern of what is said about the difference
    sample: str = ""  # a pattern of the sample

    def covers(self, entry: str, check: str, dtype: str, sample: str, words: str) -> bool:
        return (
            entry in self.entries.split(",")
            and (not self.checks or check in self.checks.split(","))
            and (not self.dtypes or dtype in self.dtypes.split(","))
            and re.search(self.words, words) is not None
            and re.search(self.sample, sample) is not None
        )


DATABASE: tuple[Difference, ...] = ()


def why_different(entry: str, check: str, dtype: str, sample: str, words: str) -> str:
    """The reason for a difference in torch's databases; empty where there is none."""
    covering = (each for each in DATABASE if each.covers(entry, check, dtype, sample, words))
    return next((each.reason for each in covering), "")


def unused(entry: str, found: list[Any]) -> list[Difference]:
    """Reasons that are given for an entry of the databases, but for nothing that was found."""
    given = [each for each in DATABASE if entry in each.entries.split(",")]
    return [
        reason
        for reason in given
        if not any(
            reason.covers(entry, each.check, each.dtype, each.sample, each.words) for each in found
        )
    ]
