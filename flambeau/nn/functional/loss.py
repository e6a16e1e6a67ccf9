"""Losses."""

from __future__ import annotations

from collections.abc import Callable

import flambeau
from flambeau import Tensor
from flambeau._C.nn.functional import (
    binary_cross_entropy,
    binary_cross_entropy_with_logits,
    cosine_embedding_loss,
    cross_entropy,
    ctc_loss,
    gaussian_nll_loss,
    hinge_embedding_loss,
    huber_loss,
    kl_div,
    l1_loss,
    margin_ranking_loss,
    mse_loss,
    multi_margin_loss,
    multilabel_margin_loss,
    multilabel_soft_margin_loss,
    nll_loss,
    one_hot,
    poisson_nll_loss,
    smooth_l1_loss,
    soft_margin_loss,
    triplet_margin_loss,
)
from flambeau._core.overriding import overridable
from flambeau.nn.functional.distance import pairwise_distance

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cosine_embedding_loss",
    "cross_entropy",
    "ctc_loss",
    "gaussian_nll_loss",
    "hinge_embedding_loss",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "margin_ranking_loss",
    "mse_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "nll_loss",
    "one_hot",
    "poisson_nll_loss",
    "smooth_l1_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
    "triplet_margin_with_distance_loss",
]


@overridable
def triplet_margin_with_distance_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    *,
    distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
    margin: float = 1.0,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Bring an anchor closer to a positive than to a negative by a margin, with any distance.

    l = max(0, d(anchor, positive) - d(anchor, negative) + margin)

    Args:
        anchor: Vectors (N, D) or (D,).
        positive: Vectors that should be near.
        negative: Vectors that should be far.
        distance_function: Function d of two tensors. Default: the Euclidean distance.
        margin: The margin. Default: 1.
        swap: Whether to use the distance from positive to negative where it is smaller.
            Default: False.
        reduction: `"mean"` (the default), `"sum"` or `"none"`.

    Example:
        >>> a = torch.tensor([[0.0, 0.0]])
        >>> p, n = torch.tensor([[0.0, 1.0]]), torch.tensor([[1.5, 0.0]])
        >>> F.triplet_margin_with_distance_loss(a, p, n)
        tensor(0.5000)

    See also:
        `nn.TripletMarginWithDistanceLoss`, `nn.functional.triplet_margin_loss`.
    """
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    if not anchor.ndim == positive.ndim == negative.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of "
            f"dimensions, but got: anchor {anchor.ndim}D, positive {positive.ndim}D, "
            f"and negative {negative.ndim}D inputs"
        )
    distance = distance_function if distance_function is not None else pairwise_distance
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = flambeau.minimum(far, distance(positive, negative))
    losses = flambeau.clamp_min(margin + near - far, 0)
    if reduction == "none":
        return losses
    return losses.mean() if reduction == "mean" else losses.sum()
