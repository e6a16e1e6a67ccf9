"""Connectionist temporal classification against sums over all alignments."""

import itertools
import math

import numpy as np
import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau.autograd import gradcheck


def read(path, blank):
    """What a path says: repetitions, then blanks removed."""
    return [label for label, _ in itertools.groupby(path) if label != blank]


def by_hand(log_probs, target, blank=0):
    """Minus the log of the probability of all paths that say `target`."""
    steps, classes = log_probs.shape
    total = sum(
        math.exp(sum(log_probs[t, label] for t, label in enumerate(path)))
        for path in itertools.product(range(classes), repeat=steps)
        if read(path, blank) == list(target)
    )
    return -math.log(total) if total else math.inf


def scores(*shape, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(*shape, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize("target", [[1], [1, 2], [1, 1], [2, 1, 2], [], [1, 1, 1]])
@pytest.mark.parametrize("blank", [0, 3])
def test_every_alignment_counts(target, blank):
    labels = [label - (blank == 3) for label in target]
    log_probs = scores(5, 4).log_softmax(1)
    loss = F.ctc_loss(
        log_probs, torch.tensor(labels, dtype=torch.int64), (5,), (len(labels),), blank, "none"
    )
    assert loss.item() == pytest.approx(by_hand(log_probs.numpy(), labels, blank), rel=1e-10)


@pytest.mark.parametrize("lengths", ["tuples", "tensors"])
def test_padded_and_joined_targets_agree(lengths):
    log_probs = scores(6, 3, 5).log_softmax(2)
    padded = torch.tensor([[1, 2, 3], [4, 4, 0], [2, 0, 0]])
    joined = torch.tensor([1, 2, 3, 4, 4, 2])
    of_inputs, of_targets = (6, 5, 4), (3, 2, 1)
    if lengths == "tensors":
        of_inputs, of_targets = torch.tensor(of_inputs), torch.tensor(of_targets, dtype=torch.int32)
    losses = [
        F.ctc_loss(log_probs, targets, of_inputs, of_targets, reduction="none")
        for targets in (padded, joined)
    ]
    torch.testing.assert_close(*losses)
    each = [
        by_hand(log_probs[: (6, 5, 4)[b], b].numpy(), padded[b, : (3, 2, 1)[b]].tolist())
        for b in range(3)
    ]
    np.testing.assert_allclose(losses[0].numpy(), each, rtol=1e-10)
    mean = F.ctc_loss(log_probs, padded, of_inputs, of_targets)
    assert mean.item() == pytest.approx(np.mean(np.array(each) / [3, 2, 1]))


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_gradients_of_normalised_scores(reduction):
    x = scores(6, 3, 4).requires_grad_()
    targets = torch.tensor([[1, 2, 3], [3, 3, 0], [2, 0, 0]])

    def loss(x):
        return F.ctc_loss(x.log_softmax(2), targets, (6, 5, 2), (3, 2, 1), reduction=reduction)

    assert gradcheck(loss, (x,))


def test_steps_beyond_the_sequence_have_no_gradient():
    x = scores(6, 2, 4).requires_grad_()
    F.ctc_loss(x.log_softmax(2), torch.tensor([[1], [2]]), (6, 3), (1, 1)).backward()
    assert (x.grad[3:, 1] == 0).all()
    assert (x.grad[:3, 1] != 0).any()


def test_targets_that_cannot_be_read():
    x = scores(2, 2, 4).requires_grad_()
    targets = torch.tensor([[1, 1], [1, 2]])  # two equal labels need a blank between them
    losses = F.ctc_loss(x.log_softmax(2), targets, (2, 2), (2, 2), reduction="none")
    assert losses.isinf().tolist() == [True, False]
    kept = F.ctc_loss(
        x.log_softmax(2), targets, (2, 2), (2, 2), reduction="sum", zero_infinity=True
    )
    torch.testing.assert_close(kept, losses[1])
    kept.backward()
    assert (x.grad[:, 0] == 0).all()
    assert x.grad[:, 1].isfinite().all()


def test_long_sequences_do_not_underflow():
    x = torch.zeros(2000, 1, 5, requires_grad=True)
    target = torch.arange(400).remainder(4).add(1)
    loss = F.ctc_loss(x.log_softmax(2), target, (2000,), (400,))
    loss.backward()
    assert loss.isfinite()
    assert x.grad.isfinite().all()


# States fill vectors, or do not: 2 n + 1 of a target of n labels.
@pytest.mark.parametrize("labels", [3, 7, 8, 16, 23])
def test_float32_agrees_with_float64(labels):
    wide = scores(60, 2, 9).requires_grad_()
    narrow = wide.detach().float().requires_grad_()
    targets = torch.randint(1, 9, (2, labels), generator=torch.Generator().manual_seed(1))
    found, expected = (
        F.ctc_loss(x.log_softmax(2), targets, (60, 51), (labels, labels - 1), reduction="none")
        for x in (narrow, wide)
    )
    torch.testing.assert_close(found.double(), expected, rtol=1e-5, atol=1e-5)
    found.sum().backward()
    expected.sum().backward()
    torch.testing.assert_close(narrow.grad.double(), wide.grad, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_nan_shows(dtype):
    log_probs = scores(8, 2, 4).to(dtype).log_softmax(2)
    log_probs[3, 1, :] = math.nan
    targets = torch.tensor([[1, 2, 2], [3, 1, 2]])
    losses = F.ctc_loss(log_probs, targets, (8, 8), (3, 3), reduction="none")
    assert math.isfinite(losses[0].item())
    assert math.isnan(losses[1].item())


def test_no_second_derivative():
    x = scores(4, 1, 3).requires_grad_()
    loss = F.ctc_loss(x.log_softmax(2), torch.tensor([[1]]), (4,), (1,))
    (grad,) = torch.autograd.grad(loss, x, create_graph=True)
    with pytest.raises((RuntimeError, NotImplementedError), match="_ctc_loss_backward"):
        grad.sum().backward()


def test_what_is_refused():
    x, targets = scores(4, 2, 3), torch.tensor([[1, 2], [2, 1]])
    with pytest.raises(
        RuntimeError, match="input_lengths to have value at most 4, but got value 5"
    ):
        F.ctc_loss(x, targets, (4, 5), (2, 2))
    with pytest.raises(RuntimeError, match="target_lengths to have value at most 2"):
        F.ctc_loss(x, targets, (4, 4), (2, 3))
    with pytest.raises(RuntimeError, match="Expected tensor to have size 4 at dimension 0"):
        F.ctc_loss(x, targets[0], (4, 4), (2, 2))
    with pytest.raises(RuntimeError, match="target 7 of sequence 1 is not one of the 3 classes"):
        F.ctc_loss(x, torch.tensor([[1, 2], [2, 7]]), (4, 4), (2, 2))
    with pytest.raises(RuntimeError, match="input_lengths must be integral"):
        F.ctc_loss(x, targets, torch.tensor([4.0, 4.0]), torch.tensor([2, 2]))
    with pytest.raises(TypeError):
        F.ctc_loss(x, targets, torch.tensor([4, 4]), (2, 2))
    with pytest.raises(RuntimeError, match="log_probs tensor must not be empty"):
        F.ctc_loss(x[:, :0], targets[:0], (), ())
