"""Samples of losses by the number of the right class, and of one_hot."""

import numpy as np
from scipy import special

from tests.ops.registry import call, errors, forward_only, inf, samples
from tests.ops.samples.loss import REDUCTIONS, ROUGH, reduced


def _log_softmax(x, dim):
    return x - special.logsumexp(x, axis=dim, keepdims=True)


def _classes_last(x):
    return x if x.ndim == 1 else np.moveaxis(x, 1, -1)


def _nll_loss(x, target, weight=None, ignore_index=-100, reduction="mean"):
    x = _classes_last(x)
    counts = target != ignore_index
    numbers = np.where(counts, target, 0).reshape(x.shape[:-1])
    weights = np.ones(x.shape[-1]) if weight is None else weight
    each = weights[numbers] * counts.reshape(numbers.shape)
    losses = -np.take_along_axis(x, numbers[..., None], -1)[..., 0] * each
    return np.sum(losses) / np.sum(each) if reduction == "mean" else reduced(losses, reduction)


def _cross_entropy(
    x, target, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0
):
    dim = 0 if x.ndim == 1 else 1
    scores = _log_softmax(x, dim)
    if target.shape == x.shape:
        shares = target * (1 - label_smoothing) + label_smoothing / x.shape[dim]
        costs = _classes_last(scores * shares)
        losses = -np.sum(costs if weight is None else costs * weight, axis=-1)
        return reduced(losses, reduction)
    picked = _nll_loss(scores, target, weight, ignore_index, "none")
    weights = np.ones(x.shape[dim]) if weight is None else weight
    counts = (target != ignore_index).reshape(picked.shape)
    spread = -np.sum(_classes_last(scores) * weights, axis=-1) * counts / x.shape[dim]
    mixed = (1 - label_smoothing) * picked + label_smoothing * spread
    losses = mixed if label_smoothing else picked
    if reduction != "mean":
        return reduced(losses, reduction)
    numbers = np.where(counts, target.reshape(picked.shape), 0)
    return np.sum(losses) / np.sum(weights[numbers] * counts)


def class_targets(make):
    """Scores and class numbers of all shapes, as a function of keyword arguments."""
    yield call(make(5, 4), make.index(5, high=4))
    yield call(make(4), make.index(high=4))
    for reduction in REDUCTIONS:
        yield call(
            make(5, 4),
            make.index(5, high=4),
            weight=make.positive(4),
            ignore_index=2,
            reduction=reduction,
        )
        yield call(make(2, 3, 2, 2), make.index(2, 2, 2, high=3), reduction=reduction)
    yield call(make(2, 3, 2, 2).channels_last(), make.index(2, 2, 2, high=3), ignore_index=1)
    yield call(make(2, 3, 4), make.index(2, 4, high=3), weight=make.positive(3))
    yield call(make(1, 2, 2, 2, 2), make.index(1, 2, 2, 2, high=2))
    yield call(make(5, 4).transposed(), make.index(5, high=4))
    yield call(make(70, 130), make.index(70, high=130))
    yield call(make(2, 40, 300), make.index(2, 300, high=40))
    yield call(make(0, 4), make.index(0, high=4), reduction="sum")


@samples("nn.functional.nll_loss", reference=_nll_loss, tolerance=ROUGH)
def nll_loss(make):
    yield from class_targets(make)


@samples("nn.functional.cross_entropy", reference=_cross_entropy, tolerance=ROUGH)
def cross_entropy(make):
    yield from class_targets(make)
    for reduction in REDUCTIONS:
        yield call(make(5, 4), make.index(5, high=4), label_smoothing=0.1, reduction=reduction)
        yield call(make(5, 4), make.positive(5, 4), label_smoothing=0.2, reduction=reduction)
    weighted = {"weight": make.positive(3), "label_smoothing": 0.3}
    yield call(make(2, 3, 4), make.index(2, 4, high=3), ignore_index=1, **weighted)
    yield call(make(2, 3, 4), make.positive(2, 3, 4), **weighted)
    yield call(make(4), make.positive(4))
    yield call(make(4), make.index(high=4), label_smoothing=0.5, reduction="none")
    yield forward_only(make.of([[1e4, 0], [-1e4, 1e4]]), make.index(2, high=2))
    yield forward_only(make.of([[-inf, 0], [1, -inf]]), make.index(2, high=1), reduction="none")


@errors("nn.functional.cross_entropy")
def cross_entropy_errors(make):
    scores = make(3, 4)
    outside = "cross_entropy: Target 9 is out of bounds. There are 4 classes"
    yield (scores, make.of(0, 9, 1, dtype="int64")), IndexError, outside
    batch = "Expected input batch_size (3) to match target batch_size (2)."
    yield (scores, make.index(2, high=4)), ValueError, batch
    yield (scores, make(3)), RuntimeError, "expected target dtype to be Long or Byte"
    yield (scores, make.index(3, 4, high=4)), RuntimeError, "Expected floating point type"
    numbers = make.index(3, high=4)
    yield call(scores, numbers, weight=make(2)), RuntimeError, "for all 4 classes or no classes"
    yield call(scores, numbers, label_smoothing=2.0), RuntimeError, "label_smoothing must be"
    yield call(scores, numbers, reduction="max"), ValueError, "max is not a valid value"
    images = make(2, 3, 2, 2)
    yield (images, make.index(2, high=3)), RuntimeError, "only batches of spatial targets"
    yield (images, make.index(2, 2, 1, high=3)), RuntimeError, "expected target size [2, 2, 2]"


@errors("nn.functional.nll_loss")
def nll_loss_errors(make):
    yield (make(3, 4), make.index(3, 1, high=4)), RuntimeError, "multi-target not supported"
    yield (make(4), make.index(3, high=4)), ValueError, "1D target must have size 1"


def _multi_margin(x, target, p=1, margin=1.0, weight=None, reduction="mean"):
    x, target = np.atleast_2d(x), np.atleast_1d(target)
    rows = np.arange(len(x))
    excess = np.maximum(0, margin - x[rows, target][:, None] + x) ** p
    excess[rows, target] = 0
    losses = excess.mean(1) * (1.0 if weight is None else weight[target])
    return reduced(losses, reduction)


@samples("nn.functional.multi_margin_loss", reference=_multi_margin, tolerance=ROUGH)
def multi_margin_loss(make):
    for reduction in REDUCTIONS:
        yield call(make(3, 4), make.index(3, high=4), reduction=reduction)
        yield call(
            make(3, 4),
            make.index(3, high=4),
            p=2,
            margin=0.5,
            weight=make.positive(4),
            reduction=reduction,
        )
    yield call(make(4), make.index(high=4))


@errors("nn.functional.multi_margin_loss")
def multi_margin_loss_errors(make):
    yield call(make(3, 4), make.index(3, high=4), p=3), ValueError, "only p == 1 and p == 2"
    yield (make(2, 4), make.of(0, 7, dtype="int64")), RuntimeError, "target out of range"


def _multilabel_margin(x, target, reduction="mean"):
    losses = []
    for scores, numbers in zip(np.atleast_2d(x), np.atleast_2d(target), strict=True):
        end = list(numbers).index(-1) if -1 in numbers else len(numbers)
        others = [c for c in range(len(scores)) if c not in numbers[:end]]
        pairs_of = [max(0, 1 - scores[t] + scores[c]) for t in numbers[:end] for c in others]
        losses.append(sum(pairs_of) / len(scores))
    return reduced(np.array(losses if x.ndim == 2 else losses[0]), reduction)


@samples("nn.functional.multilabel_margin_loss", reference=_multilabel_margin, tolerance=ROUGH)
def multilabel_margin_loss(make):
    target = make.of([[3, 0, -1, 1], [1, -1, 0, 0]], dtype="int64")
    for reduction in REDUCTIONS:
        yield call(make(2, 4), target, reduction=reduction)
    yield call(make(4), make.of(3, 0, -1, 1, dtype="int64"))


@samples(
    "nn.functional.one_hot", reference=lambda x, n=-1: np.eye(max(n, x.max() + 1), dtype=int)[x]
)
def one_hot(make):
    yield make.index(3, 4, high=5)
    yield make.index(3, high=4), 6
    yield make.index(high=4), 6


@errors("nn.functional.one_hot")
def one_hot_errors(make):
    yield (
        (make.of(1, 5, dtype="int64"), 3),
        RuntimeError,
        "Class values must be smaller than num_classes",
    )
    yield (make.of(1, -5, dtype="int64"),), RuntimeError, "Class values must be non-negative"
