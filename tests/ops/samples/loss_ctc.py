"""Samples of the loss of sequences without alignment."""

import numpy as np

from tests.ops.registry import call, errors, forward_only, samples
from tests.ops.samples.loss import NUMBERS, ROUGH, reduced


def _alignments(scores, target, blank):
    """The probability of all ways to read `target`, one by one."""
    total = 0.0
    for path in np.ndindex(*[scores.shape[1]] * len(scores)):
        read = [c for i, c in enumerate(path) if c != blank and (i == 0 or path[i - 1] != c)]
        if read == list(target):
            total += np.exp(sum(scores[t, c] for t, c in enumerate(path)))
    with np.errstate(divide="ignore"):
        return -np.log(total)


def _ctc_loss(scores, targets, steps, lengths, blank=0, reduction="mean", zero_infinity=False):
    if scores.ndim == 2:
        scores = scores[:, None]
    ends = np.cumsum(lengths)
    losses = []
    for b, length in enumerate(lengths):
        target = targets[b, :length] if targets.ndim == 2 else targets[ends[b] - length : ends[b]]
        losses.append(_alignments(scores[: steps[b], b], target, blank))
    losses = np.array(losses)
    if zero_infinity:
        losses[np.isinf(losses)] = 0
    if reduction == "mean":
        return np.mean(losses / np.maximum(lengths, 1))
    return reduced(losses, reduction)


def sequences(make, mean, rest):
    """Padded targets; tests/nn/test_ctc.py looks at joined ones, which torch reads without strides.

    It looks at gradients too, which are those of normalised probabilities.
    """
    scores = make(4, 3, 3)
    padded = make.of([[1, 2], [1, 1], [2, 0]], dtype="int64")
    for reduction in (mean, *rest):
        yield forward_only(scores, padded, (4, 4, 3), (2, 2, 1), reduction=reduction)
    yield forward_only(scores, padded, (4, 2, 2), (2, 2, 1), 0, mean, True)
    lengths = make.of(4, 4, 3, dtype="int64"), make.of(2, 2, 1, dtype="int64")
    yield forward_only(scores, padded, *lengths, 0, mean)


@samples("nn.functional.ctc_loss", reference=_ctc_loss, tolerance=ROUGH)
def ctc_loss(make):
    yield from sequences(make, "mean", ("sum", "none"))
    yield forward_only(make(3, 2, 4), make.index(2, 2, high=3), (3, 3), (2, 1), blank=3)


@errors("nn.functional.ctc_loss")
def ctc_loss_errors(make):
    scores, target = make(4, 2, 3), make.index(2, 2, low=1, high=3)
    yield (scores, target, (5, 4), (2, 2)), RuntimeError, "input_lengths to have value at most 4"
    yield (scores, target, (4,), (2, 2)), RuntimeError, "input_lengths must be of size batch_size"
    yield (scores, target, (4, 4), (2, -1)), RuntimeError, "to have value at least 0"
    yield (
        call(scores, target, (4, 4), (2, 2), blank=3),
        RuntimeError,
        "blank must be in label range",
    )


@samples(
    "ctc_loss",
    reference=lambda scores, targets, steps, lengths, blank=0, reduction=0, zero_infinity=False: (
        _ctc_loss(scores, targets, steps, lengths, blank, NUMBERS[reduction], zero_infinity)
    ),
    tolerance=ROUGH,
)
def numbered_ctc_loss(make):
    yield from sequences(make, 1, (0, 2))
