"""Samples of losses."""

import numpy as np
from scipy import special

from tests.ops.registry import call, errors, forward_only, samples

REDUCTIONS = ("mean", "sum", "none")
NUMBERS = ("none", "mean", "sum")
# Sums of rounded terms, which PyTorch rounds on the way as well.
ROUGH = {"float16": (2e-2, 2e-2), "bfloat16": (1e-1, 1e-1)}


def reduced(losses, reduction):
    if reduction == "none":
        return losses
    return np.mean(losses) if reduction == "mean" else np.sum(losses)


def elementwise(function):
    """A reference that reduces what `function` gives for each element."""

    def reference(*args, reduction="mean", weight=None, **kwargs):
        losses = function(*args, **kwargs)
        return reduced(losses if weight is None else losses * weight, reduction)

    return reference


def numbered(function):
    """The same with the number of a reduction."""

    def reference(*args, reduction=0, **kwargs):
        return function(*args, reduction=NUMBERS[reduction], **kwargs)

    return reference


def pairs(make, first, second, **kwargs):
    """Predictions and targets in all reductions, strided, large, of no dimension and of none."""
    for reduction in REDUCTIONS:
        yield call(first(3, 4), second(3, 4), reduction=reduction, **kwargs)
    yield call(first(2, 700), second(2, 700), **kwargs)
    yield call(first(3, 4).transposed(), second(3, 4).strided(), **kwargs)
    yield call(first(), second(), **kwargs)
    yield call(first(0, 3), second(0, 3), reduction="sum", **kwargs)


def regression(function):
    """A weighted mean is by the sum of the weights."""

    def reference(x, y, reduction="mean", weight=None, **kwargs):
        losses = function(x, y, **kwargs)
        if weight is None:
            return reduced(losses, reduction)
        if reduction == "mean":
            return np.sum(losses * weight) / np.sum(weight)
        return reduced(losses * weight, reduction)

    return reference


@samples("nn.functional.mse_loss", reference=regression(lambda x, y: (x - y) ** 2), tolerance=ROUGH)
def mse_loss(make):
    yield from pairs(make, make, make)
    for reduction in REDUCTIONS:
        yield call(make(3, 4), make(3, 4), weight=make.positive(3, 4), reduction=reduction)


@errors("nn.functional.mse_loss")
def mse_loss_errors(make):
    yield call(make(3), make(3), reduction="many"), ValueError, "many is not a valid value"
    yield call(make(3), make(3), weight=make(2)), ValueError, "Weights and input"
    longs = make(3, dtype="int64")
    yield (longs, longs), NotImplementedError, "not implemented for dtype int64"


@samples("nn.functional.l1_loss", reference=regression(lambda x, y: np.abs(x - y)), tolerance=ROUGH)
def l1_loss(make):
    if make.is_complex:
        yield make(3, 4), make(3, 4)
        yield call(make(3, 4), make(3, 4), reduction="none")
        return
    yield from pairs(make, make, make)
    yield call(make(3, 4), make(3, 4), weight=make.positive(3, 4))


def _smooth_l1(x, y, beta=1.0):
    d = np.abs(x - y)
    return np.where(d < beta, d * d / (2 * beta or 1), d - beta / 2)


@samples("nn.functional.smooth_l1_loss", reference=elementwise(_smooth_l1), tolerance=ROUGH)
def smooth_l1_loss(make):
    yield from pairs(make, make, make)
    yield from pairs(make, make, make, beta=0.5)
    yield call(make(3, 4), make(3, 4), beta=0.0)


@errors("nn.functional.smooth_l1_loss")
def smooth_l1_loss_errors(make):
    yield call(make(3), make(3), beta=-1.0), RuntimeError, "smooth_l1_loss: expected beta >= 0"


def _huber(x, y, delta=1.0):
    d = np.abs(x - y)
    return np.where(d < delta, d * d / 2, delta * (d - delta / 2))


@samples("nn.functional.huber_loss", reference=elementwise(_huber), tolerance=ROUGH)
def huber_loss(make):
    yield from pairs(make, make, make, delta=0.7)
    yield call(make(3, 4), make(3, 4), weight=make.positive(3, 4))


@errors("nn.functional.huber_loss")
def huber_loss_errors(make):
    yield call(make(3), make(3), delta=0.0), RuntimeError, "huber_loss: expected delta > 0"


def _binary(x, y):
    with np.errstate(divide="ignore"):
        return -(y * np.maximum(np.log(x), -100) + (1 - y) * np.maximum(np.log1p(-x), -100))


@samples("nn.functional.binary_cross_entropy", reference=elementwise(_binary), tolerance=ROUGH)
def binary_cross_entropy(make):
    def probable(*shape):
        return make(*shape, low=0.1, high=0.9)

    yield from pairs(make, probable, probable)
    yield call(probable(3, 4), probable(3, 4), weight=make.positive(4))
    yield forward_only(make.of(0, 1, 0, 1), make.of(0, 1, 1, 0), reduction="none")


@errors("nn.functional.binary_cross_entropy")
def binary_cross_entropy_errors(make):
    yield (make.of(0.5, 2.0), make.of(0, 1)), RuntimeError, "all elements of input should be"
    yield (make.of(0.5, 0.2), make.of(0, 2)), RuntimeError, "all elements of target should be"
    yield (make.of(0.5, 0.2), make.of(0)), ValueError, "Using a target size (torch.Size([1]))"


def _logits(x, y, pos_weight=1.0):
    return y * pos_weight * np.logaddexp(0, -x) + (1 - y) * np.logaddexp(0, x)


def logits(make):
    def probable(*shape):
        return make(*shape, low=0.1, high=0.9)

    return probable


@samples(
    "nn.functional.binary_cross_entropy_with_logits",
    reference=elementwise(_logits),
    tolerance=ROUGH,
)
def binary_cross_entropy_with_logits(make):
    yield from pairs(make, make, logits(make))
    yield call(make(3, 4), logits(make)(3, 4), weight=make.positive(4))
    yield call(make(3, 4), logits(make)(3, 4), pos_weight=make.positive(4))
    yield call(make(3, 4), logits(make)(3, 4), pos_weight=make.positive(3, 1), reduction="sum")
    yield forward_only(make.of(-200, 200, 200), make.of(0, 1, 0.5), reduction="none")


@errors("nn.functional.binary_cross_entropy_with_logits")
def binary_cross_entropy_with_logits_errors(make):
    yield (make(3, 4), make(3)), ValueError, "Target size (torch.Size([3])) must be the same"


@samples(
    "binary_cross_entropy_with_logits",
    reference=lambda x, y, weight=None, pos_weight=1.0, reduction=0: reduced(
        _logits(x, y, 1.0 if pos_weight is None else pos_weight)
        * (1.0 if weight is None else weight),
        NUMBERS[reduction],
    ),
    tolerance=ROUGH,
)
def numbered_logits(make):
    yield make(3, 4), logits(make)(3, 4)
    yield make(3, 4), logits(make)(3, 4), make.positive(4), None, 0
    yield make(3, 4), logits(make)(3, 4), None, make.positive(4), 2


def _divergence(x, y, log_target=False):
    return np.exp(y) * (y - x) if log_target else special.xlogy(y, y) - y * x


def _kl_div(x, y, reduction, log_target=False):
    losses = _divergence(x, y, log_target)
    return np.sum(losses) / len(x) if reduction == "batchmean" else reduced(losses, reduction)


@samples("nn.functional.kl_div", reference=_kl_div, tolerance=ROUGH)
def kl_div(make):
    for reduction in ("sum", "none", "batchmean"):
        yield call(make(3, 4), make.positive(3, 4), reduction=reduction)
        yield call(make(3, 4), make(3, 4), reduction=reduction, log_target=True)
    yield forward_only(make(3), make.of(0, 1, 2), reduction="none")


@samples("kl_div", reference=numbered(_kl_div), tolerance=ROUGH)
def numbered_kl_div(make):
    yield make(3, 4), make.positive(3, 4)
    yield call(make(3, 4), make(3, 4), reduction=0, log_target=True)


def _poisson(x, y, log_input=True, full=False, eps=1e-8):
    losses = np.exp(x) - y * x if log_input else x - y * np.log(x + eps)
    if full:
        with np.errstate(divide="ignore", invalid="ignore"):
            stirling = y * np.log(y) - y + 0.5 * np.log(2 * np.pi * y)
        losses = losses + np.where(y > 1, stirling, 0)
    return losses


@samples("nn.functional.poisson_nll_loss", reference=elementwise(_poisson), tolerance=ROUGH)
def poisson_nll_loss(make):
    yield from pairs(make, make, make.positive)
    yield call(make.positive(3, 4), make.positive(3, 4), log_input=False)
    yield call(make.positive(3), make.of(2.5, 3, 4), log_input=False, eps=0.25)
    yield call(make(3), make.of(2.5, 3, 4), full=True)
    yield forward_only(make(4), make.of(0, 1, 2, 5), full=True, reduction="sum")


@samples(
    "poisson_nll_loss",
    reference=lambda x, y, log_input, full, eps, reduction: reduced(
        _poisson(x, y, log_input, full, eps), NUMBERS[reduction]
    ),
    tolerance=ROUGH,
)
def numbered_poisson(make):
    yield make(3, 4), make.positive(3, 4), True, False, 1e-8, 1
    yield make.positive(3), make.of(2.5, 3, 4), False, True, 0.25, 0


def _gaussian(x, y, var, full=False, eps=1e-6):
    var = np.asarray(var)
    if var.shape != x.shape and var.ndim == x.ndim - 1 and var.ndim:
        var = var[..., None]
    var = np.maximum(var, eps)
    return 0.5 * (np.log(var) + (x - y) ** 2 / var) + (0.5 * np.log(2 * np.pi) if full else 0)


@samples("nn.functional.gaussian_nll_loss", reference=elementwise(_gaussian), tolerance=ROUGH)
def gaussian_nll_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(3, 4), make(3, 4), make.positive(3, 4), reduction=reduction)
    yield call(make(3, 4), make(3, 4), make.positive(3, 1), full=True)
    yield call(make(3, 4), make(3, 4), make.positive(1, 4))
    yield call(make(3, 4), make(3, 4), make.positive(3), full=True, reduction="sum")
    yield call(make(3, 4), make(3, 4), 2.0)
    yield forward_only(make(3), make(3), make.of(0, 1, 2), eps=0.5)


@errors("nn.functional.gaussian_nll_loss")
def gaussian_nll_loss_errors(make):
    yield (make(3), make(3), make.of(1, -1, 1)), ValueError, "var has negative"
    yield (make(3, 4), make(3, 4), make.positive(2)), ValueError, "var is of incorrect size"
    yield (make(3, 4), make(3, 4), make.positive(1, 1)), ValueError, "var is of incorrect size"


def _hinge(x, y, margin=1.0):
    return np.where(y == 1, x, np.maximum(0, margin - x))


@samples("nn.functional.hinge_embedding_loss", reference=elementwise(_hinge), tolerance=ROUGH)
def hinge_embedding_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(4), make.of(1, -1, 1, -1), margin=0.5, reduction=reduction)
    yield call(make(3, 4), make.of(1, -1, 1, -1))


@samples("hinge_embedding_loss", reference=numbered(elementwise(_hinge)), tolerance=ROUGH)
def numbered_hinge(make):
    yield make(4), make.of(1, -1, 1, -1)
    yield call(make(4), make.of(1, -1, 1, -1), 0.5, reduction=0)


def _ranking(x1, x2, y, margin=0.0):
    return np.maximum(0, margin - y * (x1 - x2))


@samples("nn.functional.margin_ranking_loss", reference=elementwise(_ranking), tolerance=ROUGH)
def margin_ranking_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(4), make(4), make.of(1, -1, 1, -1), margin=0.3, reduction=reduction)
    yield call(make(3, 4), make(3, 1), make.of([[1, -1, 1, -1]]))


@errors("nn.functional.margin_ranking_loss")
def margin_ranking_loss_errors(make):
    yield (make(3, 4), make(4), make(4)), RuntimeError, "All input tensors should have same"


@samples("margin_ranking_loss", reference=numbered(elementwise(_ranking)), tolerance=ROUGH)
def numbered_ranking(make):
    yield make(4), make(4), make.of(1, -1, 1, -1)
    yield call(make(4), make(4), make.of(1, -1, 1, -1), 0.5, reduction=2)


@samples(
    "nn.functional.soft_margin_loss",
    reference=elementwise(lambda x, y: np.logaddexp(0, -y * x)),
    tolerance=ROUGH,
)
def soft_margin_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(4), make.of(1, -1, 1, -1), reduction=reduction)


def _multilabel_soft(x, y, weight=None, reduction="mean"):
    losses = _logits(x, y) * (1.0 if weight is None else weight)
    return reduced(losses.mean(-1), reduction)


@samples("nn.functional.multilabel_soft_margin_loss", reference=_multilabel_soft, tolerance=ROUGH)
def multilabel_soft_margin_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(3, 4), logits(make)(3, 4), reduction=reduction)
    yield call(make(3, 4), logits(make)(3, 4), weight=make.positive(4))


# --- vectors


def _cosine_embedding(x1, x2, y, margin=0.0):
    def size(x):
        return np.sum(x * x, axis=-1) + 1e-12

    cosine = np.sum(x1 * x2, axis=-1) / np.sqrt(size(x1) * size(x2))
    return np.where(y == 1, 1 - cosine, np.maximum(0, cosine - margin))


@samples(
    "nn.functional.cosine_embedding_loss",
    reference=elementwise(_cosine_embedding),
    tolerance=ROUGH,
)
def cosine_embedding_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(4, 3), make(4, 3), make.of(1, -1, 1, -1), margin=0.1, reduction=reduction)
    yield make(3), make(3), make.zero_dim(1)


@samples(
    "cosine_embedding_loss", reference=numbered(elementwise(_cosine_embedding)), tolerance=ROUGH
)
def numbered_cosine(make):
    yield call(make(4, 3), make(4, 3), make.of(1, -1, 1, -1), 0.1, reduction=0)


def _triplet(anchor, positive, negative, margin=1.0, p=2.0, eps=1e-6, swap=False):
    def distance(x, y):
        return np.linalg.norm(x - y + eps, ord=p, axis=-1)

    far = distance(anchor, negative)
    if swap:
        far = np.minimum(far, distance(positive, negative))
    return np.maximum(0, margin + distance(anchor, positive) - far)


@samples("nn.functional.triplet_margin_loss", reference=elementwise(_triplet), tolerance=ROUGH)
def triplet_margin_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(4, 3), make(4, 3), make(4, 3), reduction=reduction)
    yield call(make(4, 3), make(4, 3), make(4, 3), margin=2.0, p=3.0, swap=True)


@errors("nn.functional.triplet_margin_loss")
def triplet_margin_loss_errors(make):
    yield call(make(3), make(3), make(3), margin=-1.0), ValueError, "margin must be greater than 0"
    yield (make(2, 3), make(2, 3), make(3)), RuntimeError, "the same number of dimensions"


@samples("triplet_margin_loss", reference=numbered(elementwise(_triplet)), tolerance=ROUGH)
def numbered_triplet(make):
    yield call(make(4, 3), make(4, 3), make(4, 3), 1.5, reduction=2)
