"""Losses and distances on the device beside the CPU, with gradients, and what they refuse."""

from typing import Any

import pytest

import flambeau as fb
from flambeau.nn import functional as F
from tests.cuda.gradients import assert_same_gradients
from tests.cuda.moving import CUDA

REDUCTIONS = ["none", "mean", "sum"]


def numbers(*sizes: int, dtype: Any = fb.float32) -> Any:
    fb.manual_seed(sum(sizes))
    return fb.randn(*sizes).to(dtype).requires_grad_(True)


def unit(*sizes: int, dtype: Any = fb.float32) -> Any:
    return numbers(*sizes, dtype=dtype).detach().sigmoid().requires_grad_(True)


def positive(*sizes: int, dtype: Any = fb.float32) -> Any:
    return (numbers(*sizes, dtype=dtype).detach().abs() + 0.1).requires_grad_(True)


def signs(*sizes: int) -> Any:
    return numbers(*sizes).detach().sign()


ELEMENT_LOSSES = {
    "mse": (F.mse_loss, numbers, numbers),
    "l1": (F.l1_loss, numbers, numbers),
    "smooth": (F.smooth_l1_loss, numbers, numbers),
    "huber": (F.huber_loss, numbers, numbers),
    "bce": (F.binary_cross_entropy, unit, unit),
    "logits": (F.binary_cross_entropy_with_logits, numbers, unit),
    "kl": (F.kl_div, numbers, unit),
    "poisson": (F.poisson_nll_loss, numbers, positive),
    "soft": (F.soft_margin_loss, numbers, numbers),
}


@pytest.mark.parametrize("name", ELEMENT_LOSSES)
def test_losses_of_elements(name: str) -> None:
    loss, first, second = ELEMENT_LOSSES[name]
    for dtype in (fb.float64, fb.bfloat16) if name == "mse" else (fb.float32,):
        for sizes, reduction in (((1,), "none"), ((5, 31), "sum"), ((4, 257), "none")):
            x, y = first(*sizes, dtype=dtype), second(*sizes[::-1], dtype=dtype).detach()
            y = y.t().requires_grad_(True) if len(sizes) == 2 else y + 0
            assert_same_gradients(lambda *t, how=reduction: loss(*t, reduction=how), x, y)


def test_other_losses_of_elements() -> None:
    x, y = numbers(7, 33), numbers(7, 33)
    for how in REDUCTIONS:
        assert_same_gradients(
            lambda *t, how=how: F.gaussian_nll_loss(*t, reduction=how), x, y, positive(7, 33)
        )
        assert_same_gradients(
            lambda *t, how=how: F.margin_ranking_loss(*t, reduction=how), x, y, signs(7, 33)
        )
        assert_same_gradients(
            lambda *t, how=how: F.hinge_embedding_loss(*t, reduction=how), x, signs(7, 33)
        )
    assert_same_gradients(
        lambda *t: F.binary_cross_entropy_with_logits(t[0], t[1], pos_weight=t[2]),
        x,
        unit(7, 33),
        positive(33),
    )
    long = numbers(30001)
    assert_same_gradients(F.mse_loss, long, numbers(30001).detach() + 1)
    assert F.mse_loss(x[:0].to(CUDA), y[:0].to(CUDA)).isnan().item()


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
@pytest.mark.parametrize("sizes", [(1, 1), (5, 31), (300, 4), (3, 700), (2, 5, 7, 9)])
def test_losses_of_classes(dtype: Any, sizes: tuple[int, ...]) -> None:
    x, classes = numbers(*sizes, dtype=dtype), sizes[1]
    fb.manual_seed(3)
    target = fb.randint(0, classes, (sizes[0], *sizes[2:]))
    weight = positive(classes).detach().to(dtype)
    soft = F.softmax(numbers(*sizes).detach(), 1).to(dtype).requires_grad_(True)
    target[0] = 0
    for how in REDUCTIONS:
        for options in ({}, {"label_smoothing": 0.1, "ignore_index": 0}):
            assert_same_gradients(
                lambda *t, how=how, options=options: F.cross_entropy(
                    t[0], t[1], t[2], reduction=how, **options
                ),
                x,
                target,
                weight,
            )
        assert_same_gradients(
            lambda *t, how=how: F.nll_loss(t[0].log_softmax(1), t[1], t[2], reduction=how),
            x,
            target,
            weight,
        )
        assert_same_gradients(
            lambda *t, how=how: F.cross_entropy(*t, reduction=how, label_smoothing=0.2),
            x,
            soft,
            weight,
        )


def test_many_samples() -> None:
    x, target = numbers(5000, 3), fb.arange(5000) % 3
    target[::7] = -100
    assert_same_gradients(F.cross_entropy, x, target)


def test_margins() -> None:
    for samples, classes in ((1, 1), (5, 4), (3, 300), (40, 33)):
        x = numbers(samples, classes)
        fb.manual_seed(4)
        target = fb.randint(0, classes, (samples,))
        weight = positive(classes).detach()
        for p in (1, 2):
            for how in REDUCTIONS:
                assert_same_gradients(
                    lambda *t, p=p, how=how: F.multi_margin_loss(
                        t[0], t[1], p, 0.5, t[2], reduction=how
                    ),
                    x,
                    target,
                    weight,
                )
        many = fb.randint(0, classes, (samples, classes))
        many[:, classes // 3 :] = -1
        many[0] = 0
        for how in REDUCTIONS:
            assert_same_gradients(
                lambda *t, how=how: F.multilabel_margin_loss(*t, reduction=how), x, many
            )
    assert_same_gradients(F.multilabel_soft_margin_loss, numbers(5, 7), unit(5, 7).detach())
    vectors = [numbers(6, 40), numbers(6, 40).detach() * 2, numbers(6, 41)[:, 1:].detach()]
    assert_same_gradients(lambda *t: F.triplet_margin_loss(*t, swap=True), *vectors)
    assert_same_gradients(F.cosine_embedding_loss, vectors[0], vectors[1], signs(6))


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64])
def test_ctc(dtype: Any) -> None:
    x = numbers(12, 4, 6, dtype=dtype)
    padded = fb.tensor([[1, 1, 2, 5], [3, 3, 3, 0], [0, 2, 2, 1], [4, 0, 0, 0]])
    lengths = (12, 9, 4, 0), (4, 3, 4, 0)
    for options in ({"reduction": "sum"}, {"zero_infinity": True}, {"reduction": "none"}):
        assert_same_gradients(
            lambda *t, options=options: F.ctc_loss(t[0].log_softmax(2), t[1], *lengths, **options),
            x,
            padded,
        )
    together = fb.tensor([1, 1, 2, 5, 3, 3, 3, 4, 2, 2, 1])
    assert_same_gradients(
        lambda *t: F.ctc_loss(t[0].log_softmax(2), t[1], lengths[0], (4, 3, 4, 0), blank=5),
        x,
        together,
    )
    many = numbers(3, 130, 3, dtype=dtype)  # more sequences than a launch takes
    assert_same_gradients(
        lambda *t: F.ctc_loss(t[0].log_softmax(2), t[1], [3] * 130, [1, 2] * 65),
        many,
        fb.arange(260).reshape(130, 2) % 2 + 1,
    )


def test_distances() -> None:
    for sizes in ((1, 1), (5, 33), (70, 3), (2, 3, 300)):
        x, y = numbers(*sizes), numbers(*sizes).detach() * 2
        assert_same_gradients(F.pairwise_distance, x, y.requires_grad_(True))
    for p in (0.0, 1.0, 2.0, 3.0, float("inf")):
        a, b = numbers(2, 17, 21), numbers(2, 33, 21)
        assert_same_gradients(
            lambda *t, p=p: fb.cdist(*t, p=p, compute_mode="donot_use_mm_for_euclid_dist"), a, b
        )
    assert fb.cdist(a[:, :0].to(CUDA), b.to(CUDA)).shape == (2, 0, 33)


def test_what_is_refused() -> None:
    half, bad = fb.full((3,), 0.5, device=CUDA), fb.tensor([0.5, 1.5, 0.5], device=CUDA)
    with pytest.raises(
        RuntimeError, match=r"met 1\.5 where all elements should be between 0 and 1"
    ):
        F.binary_cross_entropy(bad, half).item()
    with pytest.raises(ValueError, match="the negative variance -1"):
        F.gaussian_nll_loss(half, half, half - 1.5).item()
    scores = fb.zeros(2, 3, device=CUDA)
    for target, loss in (
        (fb.tensor([1, 3]), F.multi_margin_loss),
        (fb.tensor([[0, 3, -1], [-1, 0, 0]]), F.multilabel_margin_loss),
        (fb.tensor([1, 7]), F.cross_entropy),
    ):
        with pytest.raises(IndexError, match=r"the index [37]"):
            loss(scores, target.to(CUDA)).item()
    with pytest.raises(IndexError, match="the index 5"):
        F.one_hot(fb.tensor([1, 5]).to(CUDA), 3).tolist()
    with pytest.raises(IndexError, match="the index -1"):
        F.one_hot(fb.tensor([1, -1]).to(CUDA)).tolist()
    with pytest.raises(IndexError, match="the index 4"):
        F.ctc_loss(fb.zeros(4, 1, 3, device=CUDA), fb.tensor([[4]]).to(CUDA), (4,), (1,)).item()


def test_classes_are_marked() -> None:
    x = fb.tensor([[0, 2], [1, 1]])
    assert fb.equal(F.one_hot(x.to(CUDA)).cpu(), F.one_hot(x))
    assert fb.equal(F.one_hot(x.to(CUDA), 5).cpu(), F.one_hot(x, 5))
