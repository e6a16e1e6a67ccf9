"""The focal loss (https://arxiv.org/abs/1708.02002)."""

from __future__ import annotations

from flambeau import Tensor
from flambeau.nn.functional import binary_cross_entropy_with_logits

__all__ = ["sigmoid_focal_loss"]


def sigmoid_focal_loss(
    inputs: Tensor,
    targets: Tensor,
    alpha: float = 0.25,
    gamma: float = 2,
    reduction: str = "none",
) -> Tensor:
    """Return a binary cross-entropy that gives little weight to well classified elements.

    ``alpha`` is the weight of positive targets; a negative value disables it.
    """
    if not (0 <= alpha <= 1) and alpha != -1:
        raise ValueError(
            f"Invalid alpha value: {alpha}. alpha must be in the range [0,1] or -1 for ignore."
        )
    entropy = binary_cross_entropy_with_logits(inputs, targets, reduction="none")
    probability = inputs.sigmoid()
    right = probability * targets + (1 - probability) * (1 - targets)
    loss = entropy * (1 - right) ** gamma
    if alpha >= 0:
        loss = (alpha * targets + (1 - alpha) * (1 - targets)) * loss
    if reduction == "mean":
        return loss.mean()
    if reduction == "sum":
        return loss.sum()
    if reduction != "none":
        raise ValueError(
            f"Invalid Value for arg 'reduction': '{reduction}'. Supported: 'none', 'mean', 'sum'"
        )
    return loss
