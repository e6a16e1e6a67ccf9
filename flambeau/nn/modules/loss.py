"""Losses."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor
from flambeau.nn import _reduction
from flambeau.nn import functional as F
from flambeau.nn.modules.distance import PairwiseDistance
from flambeau.nn.modules.linear import Linear
from flambeau.nn.modules.linear_cross_entropy_options import LinearCrossEntropyOptions
from flambeau.nn.modules.module import Module

__all__ = [
    "BCELoss",
    "BCEWithLogitsLoss",
    "CTCLoss",
    "CosineEmbeddingLoss",
    "CrossEntropyLoss",
    "GaussianNLLLoss",
    "HingeEmbeddingLoss",
    "HuberLoss",
    "KLDivLoss",
    "L1Loss",
    "LinearCrossEntropyLoss",
    "MSELoss",
    "MarginRankingLoss",
    "MultiLabelMarginLoss",
    "MultiLabelSoftMarginLoss",
    "MultiMarginLoss",
    "NLLLoss",
    "NLLLoss2d",
    "PoissonNLLLoss",
    "SmoothL1Loss",
    "SoftMarginLoss",
    "TripletMarginLoss",
    "TripletMarginWithDistanceLoss",
]


class _Loss(Module):
    reduction: str

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__()
        if size_average is not None or reduce is not None:
            reduction = _reduction.legacy_get_string(size_average, reduce)
        self.reduction = reduction


class _WeightedLoss(_Loss):
    weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)


class L1Loss(_Loss):
    """Absolute error between input and target.

    l = |x - y|

    Args:
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.L1Loss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0]))
        tensor(1.2500)

    See also:
        `nn.SmoothL1Loss`, `nn.HuberLoss`, `nn.functional.l1_loss`.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.l1_loss(input, target, reduction=self.reduction)


class MSELoss(_Loss):
    """Squared error between input and target.

    l = (x - y)^2

    Args:
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.MSELoss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0]))
        tensor(2.1250)
        >>> nn.MSELoss(reduction="none")(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0]))
        tensor([0.2500, 4.0000])

    See also:
        `nn.L1Loss`, `nn.functional.mse_loss`.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.mse_loss(input, target, reduction=self.reduction)


class SmoothL1Loss(_Loss):
    """Absolute error that is quadratic near 0.

    l = 0.5 (x - y)^2 / beta  if |x - y| < beta
    l = |x - y| - 0.5 beta    otherwise

    Args:
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.
        beta: Width of the quadratic part; 0 makes it `nn.L1Loss`. Default: 1.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.SmoothL1Loss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0]))
        tensor(0.8125)

    See also:
        `nn.HuberLoss`, which is `beta` times this; `nn.functional.smooth_l1_loss`.
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        beta: float = 1.0,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.beta = beta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.smooth_l1_loss(input, target, reduction=self.reduction, beta=self.beta)


class HuberLoss(_Loss):
    """Squared error that grows linearly for outliers.

    l = 0.5 (x - y)^2                  if |x - y| <= delta
    l = delta (|x - y| - 0.5 delta)    otherwise

    Args:
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.
        delta: Where the linear part begins; positive. Default: 1.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.HuberLoss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0]))
        tensor(0.8125)

    See also:
        `nn.SmoothL1Loss`, `nn.functional.huber_loss`.
    """

    def __init__(self, reduction: str = "mean", delta: float = 1.0) -> None:
        if not isinstance(delta, float | int):
            raise TypeError(f"delta must be a float or int, got: {type(delta)}")
        super().__init__(reduction=reduction)
        self.delta = delta

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.huber_loss(input, target, reduction=self.reduction, delta=self.delta)


class NLLLoss(_WeightedLoss):
    """Negative log-likelihood of the target class, from log-probabilities.

    l = -weight[y] x[y]

    Args:
        weight: Weight of each class, a tensor of C numbers. Default: all 1.
        size_average: Deprecated; use `reduction`.
        ignore_index: Target that counts for nothing. Default: -100.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` weighted by class (the default), `"sum"` or `"none"`.

    Shape:
        - Input: (N, C), (C,), or (N, C, d1, ..., dk) with a loss at each place.
        - Target: (N,), (), or (N, d1, ..., dk), integers between 0 and C - 1.
        - Output: a scalar, or the shape of the target with `reduction="none"`.

    Example:
        >>> log_probabilities = F.log_softmax(torch.tensor([[2.0, 0.0, 1.0]]), dim=1)
        >>> nn.NLLLoss()(log_probabilities, torch.tensor([0]))
        tensor(0.4076)

    See also:
        `nn.CrossEntropyLoss`, which takes scores; `nn.LogSoftmax`, `nn.functional.nll_loss`.
    """

    ignore_index: int

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.nll_loss(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
        )


class NLLLoss2d(NLLLoss):
    """Old name of `nn.NLLLoss`, for images.

    Example:
        >>> nn.NLLLoss2d()(torch.full((1, 3, 2, 2), -1.5), torch.ones(1, 2, 2, dtype=torch.long))
        tensor(1.5000)
    """


class CrossEntropyLoss(_WeightedLoss):
    """Cross entropy between scores (logits) and target classes.

    l = -weight[y] log(softmax(x)[y])

    The scores are any real numbers: do not apply softmax first. A target of probabilities is
    allowed too: l = -sum over c of weight[c] y[c] log(softmax(x)[c]).

    Args:
        weight: Weight of each class, a tensor of C numbers. Default: all 1.
        size_average: Deprecated; use `reduction`.
        ignore_index: Target that counts for nothing. Default: -100.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` weighted by class (the default), `"sum"` or `"none"`.
        label_smoothing: Share of the target probability that is spread evenly over all classes,
            between 0 and 1. Default: 0.

    Shape:
        - Input: (N, C), (C,), or (N, C, d1, ..., dk) with a loss at each place.
        - Target: (N,), (), or (N, d1, ..., dk), class indices; or the shape of the input,
          probabilities of the classes.
        - Output: a scalar, or one loss per place with `reduction="none"`.

    Example:
        >>> scores = torch.tensor([[2.0, 0.0, 1.0], [0.0, 3.0, 0.0]])
        >>> nn.CrossEntropyLoss()(scores, torch.tensor([0, 1]))
        tensor(0.2513)
        >>> nn.CrossEntropyLoss(label_smoothing=0.1)(scores, torch.tensor([0, 1]))
        tensor(0.4013)
        >>> soft = torch.tensor([[0.8, 0.1, 0.1], [0.0, 1.0, 0.0]])
        >>> nn.CrossEntropyLoss()(scores, soft)
        tensor(0.4013)

    See also:
        `nn.NLLLoss`, `nn.BCEWithLogitsLoss`, `nn.functional.cross_entropy`.
    """

    ignore_index: int
    label_smoothing: float

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        ignore_index: int = -100,
        reduce: bool | None = None,
        reduction: str = "mean",
        label_smoothing: float = 0.0,
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.cross_entropy(
            input,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            reduction=self.reduction,
            label_smoothing=self.label_smoothing,
        )


class LinearCrossEntropyLoss(_WeightedLoss):
    """Linear layer to the scores of classes, and their cross entropy, in one.

    l = cross_entropy(x W^T + b, y)

    Scores are computed for a part of the batch at a time, which saves memory where there are
    many classes.

    Args:
        in_features: Size of the last dimension of the input.
        num_classes: Number of classes C.
        out_features: Further dimensions of the scores, behind the classes. Default: none.
        bias: Whether to add a learned vector b. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        reduction: `"mean"` weighted by class (the default), `"sum"` or `"none"`.
        weight: Weight of each class, a tensor of C numbers. Default: all 1.
        ignore_index: Target that counts for nothing. Default: none.
        label_smoothing: Share of the target probability that is spread evenly over all classes.
            Default: 0.
        options: How many samples are computed at a time. Default: chosen by the sizes.

    Shape:
        - Input: (N, in_features).
        - Target: (N,), class indices; or (N, C), probabilities.
        - Output: a scalar, or one loss per sample with `reduction="none"`.

    Example:
        >>> loss = nn.LinearCrossEntropyLoss(8, 100)
        >>> loss(torch.randn(4, 8), torch.tensor([3, 14, 15, 92])).shape
        torch.Size([])

    See also:
        `nn.LinearCrossEntropyOptions`, `nn.Linear`, `nn.CrossEntropyLoss`.
    """

    def __init__(
        self,
        in_features: int,
        num_classes: int,
        *,
        out_features: tuple[int, ...] = (),
        bias: bool = False,
        device: Any = None,
        dtype: Any = None,
        reduction: str = "mean",
        weight: Tensor | None = None,
        ignore_index: int | None = None,
        label_smoothing: float = 0.0,
        options: LinearCrossEntropyOptions | None = None,
    ) -> None:
        if weight is not None and weight.shape != (num_classes,):
            raise RuntimeError(
                f"expected weight shape to be {(num_classes,)}, got {tuple(weight.shape)}"
            )
        if not 0 <= label_smoothing <= 1:
            raise RuntimeError(
                f"expected label_smoothing to be in range [0, 1], got {label_smoothing}"
            )
        super().__init__(weight, reduction=reduction)
        self.num_classes = num_classes
        self.out_features = out_features
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.linear: Linear = Linear(
            in_features,
            math.prod(out_features, start=num_classes),
            bias=bias,
            device=device,
            dtype=dtype,
        )
        self.options = options

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        scores = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input,
            self.linear.weight.reshape((*scores, self.linear.in_features)),
            target,
            linear_bias=None if bias is None else bias.reshape(scores),
            weight=self.weight,
            reduction=self.reduction,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            options=self.options,
        )

    def extra_repr(self) -> str:
        return (
            f"in_features={self.linear.in_features}, num_classes={self.num_classes}, "
            f"out_features={self.out_features}, bias={self.linear.bias is not None}, "
            f"reduction={self.reduction}, ignore_index={self.ignore_index}, "
            f"label_smoothing={self.label_smoothing}, options={self.options}"
        )


class BCELoss(_WeightedLoss):
    """Binary cross entropy between probabilities and targets.

    l = -weight (y log(x) + (1 - y) log(1 - x))

    Both lie between 0 and 1. Logarithms below -100 count as -100.

    Args:
        weight: Weight of each element, broadcast to the batch. Default: all 1.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.BCELoss()
        >>> loss(torch.tensor([0.9, 0.2]), torch.tensor([1.0, 0.0]))
        tensor(0.1643)

    See also:
        `nn.BCEWithLogitsLoss`, which takes scores and is more accurate;
        `nn.functional.binary_cross_entropy`.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy(input, target, weight=self.weight, reduction=self.reduction)


class BCEWithLogitsLoss(_Loss):
    """Binary cross entropy between scores (logits) and targets.

    l = -weight (pos_weight y log(sigmoid(x)) + (1 - y) log(1 - sigmoid(x)))

    More accurate than a sigmoid followed by `nn.BCELoss`: the logarithm never overflows.

    Args:
        weight: Weight of each element, broadcast to the batch. Default: all 1.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.
        pos_weight: Weight of positive targets, broadcast to the input: above 1 it raises recall,
            below 1 precision. Default: 1.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.BCEWithLogitsLoss()
        >>> loss(torch.tensor([2.0, -1.0]), torch.tensor([1.0, 0.0]))
        tensor(0.2201)
        >>> weighted = nn.BCEWithLogitsLoss(pos_weight=torch.tensor(3.0))
        >>> weighted(torch.tensor([2.0]), torch.tensor([1.0]))
        tensor(0.3808)

    See also:
        `nn.BCELoss`, `nn.CrossEntropyLoss`,
        `nn.functional.binary_cross_entropy_with_logits`.
    """

    weight: Tensor | None
    pos_weight: Tensor | None

    def __init__(
        self,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        pos_weight: Tensor | None = None,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.register_buffer("weight", weight)
        self.register_buffer("pos_weight", pos_weight)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.binary_cross_entropy_with_logits(
            input, target, self.weight, pos_weight=self.pos_weight, reduction=self.reduction
        )


class KLDivLoss(_Loss):
    """Kullback-Leibler divergence of the target from the input.

    l = y (log(y) - x), where x are log-probabilities

    Args:
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"batchmean"`, the sum divided by the batch size, is the divergence. `"mean"`
            (the default) divides by the number of elements; `"sum"` or `"none"`.
        log_target: Whether the target is given as log-probabilities. Default: False.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> x = torch.tensor([[0.5, 0.5]]).log()
        >>> nn.KLDivLoss(reduction="batchmean")(x, torch.tensor([[0.9, 0.1]]))
        tensor(0.3681)

    See also:
        `torch.distributions.kl_divergence`, `nn.functional.kl_div`.
    """

    def __init__(
        self,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
        log_target: bool = False,
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_target = log_target

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.kl_div(input, target, reduction=self.reduction, log_target=self.log_target)


class PoissonNLLLoss(_Loss):
    """Negative log-likelihood of counts under a Poisson distribution.

    l = exp(x) - y x          with log_input
    l = x - y log(x + eps)    without

    Args:
        log_input: Whether the input is the logarithm of the rate. Default: True.
        full: Whether to add Stirling's approximation of log(y!), for y > 1. Default: False.
        size_average: Deprecated; use `reduction`.
        eps: Added to the rate before its logarithm. Default: 1e-8.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` (the default), `"sum"` or `"none"`.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> nn.PoissonNLLLoss()(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 3.0]))
        tensor(0.3591)

    See also:
        `nn.functional.poisson_nll_loss`.
    """

    def __init__(
        self,
        log_input: bool = True,
        full: bool = False,
        size_average: bool | None = None,
        eps: float = 1e-8,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.log_input = log_input
        self.full = full
        self.eps = eps

    def forward(self, log_input: Tensor, target: Tensor) -> Tensor:
        return F.poisson_nll_loss(
            log_input,
            target,
            log_input=self.log_input,
            full=self.full,
            eps=self.eps,
            reduction=self.reduction,
        )


class GaussianNLLLoss(_Loss):
    """Negative log-likelihood of a normal distribution with given variance.

    l = 0.5 (log(max(var, eps)) + (x - y)^2 / max(var, eps))

    Args:
        full: Whether to add the constant 0.5 log(2 π). Default: False.
        eps: Smallest variance. Default: 1e-6.
        reduction: `"mean"` (the default), `"sum"` or `"none"`.

    Shape:
        - Input and target: (N, *) or (*), both the same.
        - Variance: that shape, or with a last dimension of 1 or none; or a number.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> loss = nn.GaussianNLLLoss()
        >>> loss(torch.tensor([1.0, 2.0]), torch.tensor([1.5, 0.0]), torch.tensor([1.0, 4.0]))
        tensor(0.6591)

    See also:
        `nn.functional.gaussian_nll_loss`.
    """

    def __init__(self, *, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> None:
        super().__init__(reduction=reduction)
        self.full = full
        self.eps = eps

    def forward(self, input: Tensor, target: Tensor, var: Tensor | float) -> Tensor:
        return F.gaussian_nll_loss(
            input, target, var, full=self.full, eps=self.eps, reduction=self.reduction
        )


class _MarginLoss(_Loss):
    def __init__(
        self,
        margin: float = 0.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        self.margin = margin


class HingeEmbeddingLoss(_MarginLoss):
    """Pull similar pairs together and push others apart by a margin, given distances.

    l = x                     if y = 1
    l = max(0, margin - x)    if y = -1

    Args:
        margin: The margin. Default: 1.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> nn.HingeEmbeddingLoss()(torch.tensor([0.3, 0.3]), torch.tensor([1.0, -1.0]))
        tensor(0.5000)

    See also:
        `nn.CosineEmbeddingLoss`, `nn.functional.hinge_embedding_loss`.
    """

    def __init__(
        self,
        margin: float = 1.0,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(margin, size_average, reduce, reduction)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.hinge_embedding_loss(input, target, margin=self.margin, reduction=self.reduction)


class CosineEmbeddingLoss(_MarginLoss):
    """Make the cosine of similar pairs 1 and of others at most the margin.

    l = 1 - cos(x1, x2)               if y = 1
    l = max(0, cos(x1, x2) - margin)  if y = -1

    Args:
        margin: Largest cosine of pairs that are not similar, from -1 to 1. Default: 0.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Inputs: (N, D) or (D,).
        - Target: (N,) or (), of 1 and -1.
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> a, b = torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 1.0]])
        >>> nn.CosineEmbeddingLoss()(a, b, torch.tensor([1.0]))
        tensor(0.2929)

    See also:
        `nn.CosineSimilarity`, `nn.functional.cosine_embedding_loss`.
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.cosine_embedding_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class MarginRankingLoss(_MarginLoss):
    """Rank one score above another by a margin.

    l = max(0, -y (x1 - x2) + margin)

    Args:
        margin: The margin. Default: 0.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Inputs and target: (N,) or (); the target is 1 where x1 should be the larger, else -1.
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> loss = nn.MarginRankingLoss(margin=0.5)
        >>> loss(torch.tensor([1.0]), torch.tensor([0.8]), torch.tensor([1.0]))
        tensor(0.3000)

    See also:
        `nn.functional.margin_ranking_loss`.
    """

    def forward(self, input1: Tensor, input2: Tensor, target: Tensor) -> Tensor:
        return F.margin_ranking_loss(
            input1, input2, target, margin=self.margin, reduction=self.reduction
        )


class SoftMarginLoss(_Loss):
    """Logistic loss of two classes, 1 and -1.

    l = log(1 + exp(-y x))

    Args:
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input and target: any shape, both the same.
        - Output: a scalar, or the shape of the input with `reduction="none"`.

    Example:
        >>> nn.SoftMarginLoss()(torch.tensor([2.0, -1.0]), torch.tensor([1.0, -1.0]))
        tensor(0.2201)

    See also:
        `nn.BCEWithLogitsLoss`, `nn.functional.soft_margin_loss`.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.soft_margin_loss(input, target, reduction=self.reduction)


class MultiLabelMarginLoss(_Loss):
    """Rank all target classes of a sample above all others by a margin of 1.

    l = sum over targets y and other classes i of max(0, 1 - (x[y] - x[i])) / C

    Args:
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input: (N, C) or (C,).
        - Target: the same shape, class indices up to the first -1.
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> x = torch.tensor([[0.2, 0.9, 0.1]])
        >>> nn.MultiLabelMarginLoss()(x, torch.tensor([[1, -1, 0]]))
        tensor(0.1667)

    See also:
        `nn.MultiLabelSoftMarginLoss`, `nn.functional.multilabel_margin_loss`.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_margin_loss(input, target, reduction=self.reduction)


class MultiLabelSoftMarginLoss(_WeightedLoss):
    """Mean over classes of binary cross entropy of scores.

    l = -mean over c of weight[c] (y[c] log(sigmoid(x[c])) + (1 - y[c]) log(sigmoid(-x[c])))

    Args:
        weight: Weight of each class, a tensor of C numbers. Default: all 1.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input and target: (N, C); targets are 0 or 1.
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> nn.MultiLabelSoftMarginLoss()(torch.tensor([[2.0, -1.0]]), torch.tensor([[1.0, 0.0]]))
        tensor(0.2201)

    See also:
        `nn.BCEWithLogitsLoss`, `nn.functional.multilabel_soft_margin_loss`.
    """

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multilabel_soft_margin_loss(
            input, target, weight=self.weight, reduction=self.reduction
        )


class MultiMarginLoss(_WeightedLoss):
    """Rank the target class above the others by a margin (multi-class hinge loss).

    l = sum over i != y of max(0, weight[y] (margin - x[y] + x[i]))^p / C

    Args:
        p: Exponent, 1 or 2. Default: 1.
        margin: The margin. Default: 1.
        weight: Weight of each class, a tensor of C numbers. Default: all 1.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Input: (N, C) or (C,).
        - Target: (N,) or (), class indices.
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> nn.MultiMarginLoss()(torch.tensor([[0.2, 0.9, 0.1]]), torch.tensor([1]))
        tensor(0.1667)

    See also:
        `nn.CrossEntropyLoss`, `nn.functional.multi_margin_loss`.
    """

    def __init__(
        self,
        p: int = 1,
        margin: float = 1.0,
        weight: Tensor | None = None,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(weight, size_average, reduce, reduction)
        if p not in (1, 2):
            raise ValueError(f"only p == 1 and p == 2 supported, got {p}")
        if weight is not None and weight.dim() != 1:
            raise ValueError(
                "MultiMarginLoss: expected weight to be None or 1D tensor, "
                f"got {weight.dim()}D instead"
            )
        self.p = p
        self.margin = margin

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        return F.multi_margin_loss(
            input,
            target,
            p=self.p,
            margin=self.margin,
            weight=self.weight,
            reduction=self.reduction,
        )


class TripletMarginLoss(_Loss):
    """Bring an anchor closer to a positive than to a negative by a margin.

    l = max(0, ||anchor - positive||_p - ||anchor - negative||_p + margin)

    Args:
        margin: The margin; positive. Default: 1.
        p: Order of the norm. Default: 2.
        eps: Added to each difference, so that the gradient is finite. Default: 1e-6.
        swap: Whether to use the distance from positive to negative where it is smaller.
            Default: False.
        size_average: Deprecated; use `reduction`.
        reduce: Deprecated; use `reduction`.
        reduction: `"mean"` of the losses (the default), their `"sum"`, or `"none"` for one loss
            per element.

    Shape:
        - Anchor, positive and negative: (N, D) or (D,).
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> anchor = torch.tensor([[0.0, 0.0]])
        >>> nn.TripletMarginLoss()(anchor, torch.tensor([[0.0, 1.0]]), torch.tensor([[1.5, 0.0]]))
        tensor(0.5000)

    See also:
        `nn.TripletMarginWithDistanceLoss`, `nn.functional.triplet_margin_loss`.
    """

    def __init__(
        self,
        margin: float = 1.0,
        p: float = 2.0,
        eps: float = 1e-6,
        swap: bool = False,
        size_average: bool | None = None,
        reduce: bool | None = None,
        reduction: str = "mean",
    ) -> None:
        super().__init__(size_average, reduce, reduction)
        if margin <= 0:
            raise ValueError(
                f"TripletMarginLoss: expected margin to be greater than 0, got {margin} instead"
            )
        self.margin = margin
        self.p = p
        self.eps = eps
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_loss(
            anchor,
            positive,
            negative,
            margin=self.margin,
            p=self.p,
            eps=self.eps,
            swap=self.swap,
            reduction=self.reduction,
        )


class TripletMarginWithDistanceLoss(_Loss):
    """`nn.TripletMarginLoss` with any distance.

    l = max(0, d(anchor, positive) - d(anchor, negative) + margin)

    Args:
        distance_function: Function d of two tensors. Default: `nn.PairwiseDistance()`.
        margin: The margin; positive. Default: 1.
        swap: Whether to use the distance from positive to negative where it is smaller.
            Default: False.
        reduction: `"mean"` (the default), `"sum"` or `"none"`.

    Shape:
        - Anchor, positive and negative: (N, D) or (D,).
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> loss = nn.TripletMarginWithDistanceLoss(
        ...     distance_function=lambda a, b: 1 - F.cosine_similarity(a, b)
        ... )
        >>> loss(torch.randn(4, 8), torch.randn(4, 8), torch.randn(4, 8)).shape
        torch.Size([])

    See also:
        `nn.functional.triplet_margin_with_distance_loss`.
    """

    def __init__(
        self,
        *,
        distance_function: Callable[[Tensor, Tensor], Tensor] | None = None,
        margin: float = 1.0,
        swap: bool = False,
        reduction: str = "mean",
    ) -> None:
        super().__init__(reduction=reduction)
        if margin <= 0:
            raise ValueError(
                "TripletMarginWithDistanceLoss: expected margin to be greater than 0, "
                f"got {margin} instead"
            )
        self.distance_function: Callable[[Tensor, Tensor], Tensor] = (
            distance_function if distance_function is not None else PairwiseDistance()
        )
        self.margin = margin
        self.swap = swap

    def forward(self, anchor: Tensor, positive: Tensor, negative: Tensor) -> Tensor:
        return F.triplet_margin_with_distance_loss(
            anchor,
            positive,
            negative,
            distance_function=self.distance_function,
            margin=self.margin,
            swap=self.swap,
            reduction=self.reduction,
        )


class CTCLoss(_Loss):
    """Connectionist temporal classification: align a sequence with a shorter target.

    l = -log(sum of the probabilities of all alignments of target and input)

    Args:
        blank: Class that stands for no symbol. Default: 0.
        reduction: `"mean"` (the default) divides each loss by its target length first; `"sum"` or
            `"none"`.
        zero_infinity: Whether losses are 0 where the input is too short for the target.
            Default: False.

    Shape:
        - Log-probabilities: (T, N, C) or (T, C), T steps.
        - Targets: (N, S) or (S,), class indices; or all of them in one vector.
        - Input and target lengths: (N,) or (), a tensor or tuple.
        - Output: a scalar, or (N,) with `reduction="none"`.

    Example:
        >>> log_probs = F.log_softmax(torch.zeros(50, 2, 20), dim=2)
        >>> targets = torch.tensor([[1, 2, 3], [4, 5, 6]])
        >>> nn.CTCLoss()(log_probs, targets, input_lengths=(50, 50), target_lengths=(3, 3))
        tensor(44.2792)

    See also:
        `nn.functional.ctc_loss`.
    """

    blank: int
    zero_infinity: bool

    def __init__(
        self, blank: int = 0, reduction: str = "mean", zero_infinity: bool = False
    ) -> None:
        super().__init__(reduction=reduction)
        self.blank = blank
        self.zero_infinity = zero_infinity

    def forward(
        self,
        log_probs: Tensor,
        targets: Tensor,
        input_lengths: Tensor | Sequence[int],
        target_lengths: Tensor | Sequence[int],
    ) -> Tensor:
        steps: Any = input_lengths  # a tensor if target_lengths is one, else a sequence
        lengths: Any = target_lengths
        return F.ctc_loss(
            log_probs, targets, steps, lengths, self.blank, self.reduction, self.zero_infinity
        )
