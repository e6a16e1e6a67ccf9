"""Losses, forwards and backwards."""

import functools
from collections.abc import Callable
from typing import Any

from benchmarks.case import Namespace, add_case


def scores(t: Any, *shape: int) -> Namespace:
    """Scores for classes, in dimension 1, and a class for each sample."""
    t.manual_seed(0)
    x = t.randn(*shape, requires_grad=True)
    target = t.randint(0, shape[1], (shape[0], *shape[2:]))
    return step(t, {"F": t.nn.functional, "x": x, "target": target})


def step(t: Any, names: Namespace, loss: str = "F.cross_entropy(x, target)") -> Namespace:
    source = f"""
def step():
    loss = {loss}
    loss.backward()
    x.grad = None
"""
    exec(source, names)
    return names


for shape in ((64, 10), (512, 1000), (256, 50257), (8, 21, 64, 64)):
    add_case(
        "nn-fused",
        f"F.cross_entropy {'x'.join(map(str, shape))}",
        lambda t, shape=shape: scores(t, *shape),
        "step()",
    )


def pairs(t: Any, size: int, loss: str) -> Namespace:
    """A prediction and what it should be, of `size` rows of 32."""
    t.manual_seed(0)
    x = t.randn(size, 32)
    names = {
        "F": t.nn.functional,
        "x": x.requires_grad_(),
        "p": t.rand(size, 32),
        "y": t.randn(size, 32),
        "z": t.randn(size, 32),
        "u": t.rand(size, 32) * 0.8 + 0.1,
        "sign": t.where(t.rand(size, 32) > 0.5, 1.0, -1.0),
        "side": t.where(t.rand(size) > 0.5, 1.0, -1.0),
        "k": t.randint(0, 32, (size,)),
    }
    return step(t, names, loss)


LOSSES = (
    "F.mse_loss(x, y)",
    "F.l1_loss(x, y)",
    "F.smooth_l1_loss(x, y)",
    "F.huber_loss(x, y)",
    "F.binary_cross_entropy_with_logits(x, u)",
    "F.binary_cross_entropy(x.sigmoid(), u)",
    "F.kl_div(x, u, reduction='batchmean')",
    "F.nll_loss(x, k)",
    "F.poisson_nll_loss(x, p)",
    "F.gaussian_nll_loss(x, y, u)",
    "F.hinge_embedding_loss(x, sign)",
    "F.margin_ranking_loss(x, y, sign)",
    "F.soft_margin_loss(x, sign)",
    "F.multi_margin_loss(x, k)",
    "F.multilabel_soft_margin_loss(x, u)",
    "F.cosine_embedding_loss(x, y, side)",
    "F.triplet_margin_loss(x, y, z)",
    "F.cross_entropy(x, u)",
    "F.cross_entropy(x, k, label_smoothing=0.1)",
)

for size in (8, 8192):
    for loss in LOSSES:
        prepare: Callable[[Any], Namespace] = functools.partial(pairs, size=size, loss=loss)
        add_case("nn-loss", f"{loss} {size}x32", prepare, "step()")


def sequences(t: Any) -> Namespace:
    """Sixteen sequences of 100 steps and targets of 20 labels."""
    t.manual_seed(0)
    names = {
        "F": t.nn.functional,
        "x": t.randn(100, 16, 32, requires_grad=True),
        "targets": t.randint(1, 32, (16, 20)),
        "steps": (100,) * 16,
        "lengths": (20,) * 16,
    }
    return step(t, names, "F.ctc_loss(x.log_softmax(2), targets, steps, lengths)")


add_case("nn-loss", "F.ctc_loss 100x16x32", sequences, "step()")
