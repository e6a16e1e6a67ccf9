"""Softmax over many classes, of which the rare ones share cheaper clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.container import ModuleList, Sequential
from flambeau.nn.modules.linear import Linear
from flambeau.nn.modules.module import Module

__all__ = ["AdaptiveLogSoftmaxWithLoss"]


class _ASMoutput(NamedTuple):
    output: Tensor
    loss: Tensor


def _check_cutoffs(cutoffs: list[int], n_classes: int) -> None:
    if not cutoffs:
        raise ValueError("cutoffs should be a sequence of length larger than 0")
    ordered = cutoffs == sorted(set(cutoffs))
    whole = all(int(c) == c for c in cutoffs)
    if not ordered or not whole or min(cutoffs) <= 0 or max(cutoffs) > n_classes - 1:
        raise ValueError(
            "cutoffs should be a sequence of unique, positive integers sorted in an increasing "
            f"order, where each value is between 1 and n_classes-1, got {cutoffs} for {n_classes} "
            "classes"
        )


class AdaptiveLogSoftmaxWithLoss(Module):
    """Approximate softmax over very many classes, ordered from frequent to rare.

    Classes below the first cutoff have outputs of their own in the head. Those between two
    cutoffs form a cluster, which has one output in the head and a projection that is `div_value`
    times narrower than that of the cluster before.

    Args:
        in_features: Size of the last dimension of the input.
        n_classes: Number of classes.
        cutoffs: Ascending class indices where clusters begin.
        div_value: Ratio of the widths of two clusters' projections. Default: 4.
        head_bias: Whether the head has a bias. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Shape:
        - Input: (N, in_features) or (in_features,).
        - Target: (N,) or (), class indices.
        - Output: a pair: `output`, the log-probabilities of the targets, and `loss`, minus their
          mean.

    Example:
        >>> layer = nn.AdaptiveLogSoftmaxWithLoss(16, 1000, cutoffs=[10, 100])
        >>> output, loss = layer(torch.randn(4, 16), torch.tensor([0, 5, 50, 500]))
        >>> output.shape, loss.shape
        (torch.Size([4]), torch.Size([]))
        >>> layer.log_prob(torch.randn(4, 16)).shape
        torch.Size([4, 1000])
        >>> layer.predict(torch.randn(4, 16)).shape
        torch.Size([4])
    """

    head: Linear
    tail: ModuleList

    def __init__(
        self,
        in_features: int,
        n_classes: int,
        cutoffs: Sequence[int],
        div_value: float = 4.0,
        head_bias: bool = False,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
    ) -> None:
        super().__init__()
        cutoffs = list(cutoffs)
        _check_cutoffs(cutoffs, n_classes)
        self.in_features = in_features
        self.n_classes = n_classes
        self.cutoffs: list[int] = [*cutoffs, n_classes]
        self.div_value = div_value
        self.head_bias = head_bias
        self.shortlist_size: int = self.cutoffs[0]
        self.n_clusters: int = len(self.cutoffs) - 1
        self.head_size: int = self.shortlist_size + self.n_clusters
        self.head = Linear(in_features, self.head_size, head_bias, device=device, dtype=dtype)
        self.tail = ModuleList()
        for i in range(self.n_clusters):
            width = int(in_features // div_value ** (i + 1))
            size = self.cutoffs[i + 1] - self.cutoffs[i]
            self.tail.append(
                Sequential(
                    Linear(in_features, width, bias=False, device=device, dtype=dtype),
                    Linear(width, size, bias=False, device=device, dtype=dtype),
                )
            )

    def reset_parameters(self) -> None:
        """Draw all weights anew."""
        self.head.reset_parameters()
        for layer in self.tail.modules():
            if isinstance(layer, Linear):
                layer.reset_parameters()

    def _fb_check_shapes(self, input: Tensor, target: Tensor) -> None:
        if target.dim() == 1:
            if input.shape[0] != target.shape[0]:
                raise RuntimeError(
                    "Input and target should have the same size in the batch dimension, got "
                    f"{tuple(input.shape)} and {tuple(target.shape)}."
                )
            if input.dim() != 2:
                raise RuntimeError(
                    "1D target tensor expects 2D input tensors, but found inputs with size "
                    f"{tuple(input.shape)}"
                )
        elif target.dim() == 0:
            if input.dim() != 1:
                raise RuntimeError(
                    "0D target tensor expects 1D input tensors, but found inputs with size "
                    f"{tuple(input.shape)}"
                )
        else:
            raise RuntimeError(
                "0D or 1D target tensor expected, multi-target not supported, got "
                f"{tuple(target.shape)}"
            )

    def forward(self, input: Tensor, target: Tensor) -> _ASMoutput:
        self._fb_check_shapes(input, target)
        single = target.dim() == 0
        if single:
            input, target = input.unsqueeze(0), target.unsqueeze(0)
        if target.numel() and not 0 <= int(target.min()) <= int(target.max()) < self.n_classes:
            raise RuntimeError(
                f"Target values should be in [0, {self.n_classes - 1}], but values in range "
                f"[{int(target.min())}, {int(target.max())}] were found."
            )
        in_head = target.clone()
        output = input.new_zeros(target.shape[0])
        for i, (low, high) in enumerate(zip(self.cutoffs, self.cutoffs[1:], strict=False)):
            rows = ((target >= low) & (target < high)).nonzero().squeeze(1)
            if rows.numel() == 0:
                continue
            inside = flambeau.log_softmax(self.tail[i](input.index_select(0, rows)), dim=1)
            relative = (target[rows] - low).unsqueeze(1)
            output = output.index_copy(0, rows, inside.gather(1, relative).squeeze(1))
            in_head = in_head.index_fill(0, rows, self.shortlist_size + i)
        head = flambeau.log_softmax(self.head(input), dim=1)
        output = output + head.gather(1, in_head.unsqueeze(1)).squeeze(1)
        loss = (-output).mean()
        return _ASMoutput(output.squeeze(0) if single else output, loss)

    def _get_full_log_prob(self, input: Tensor, head_output: Tensor) -> Tensor:
        """Log-probabilities of all classes, given what the head makes of the input."""
        head = flambeau.log_softmax(head_output, dim=1)
        parts = [head[:, : self.shortlist_size]]
        for i, cluster in enumerate(self.tail):
            reached = head[:, self.shortlist_size + i].unsqueeze(1)
            parts.append(flambeau.log_softmax(cluster(input), dim=1) + reached)
        return flambeau.cat(parts, 1).to(input.dtype)

    def log_prob(self, input: Tensor) -> Tensor:
        """The log-probabilities of all classes."""
        return self._get_full_log_prob(input, self.head(input))

    def predict(self, input: Tensor) -> Tensor:
        """The most probable class; clusters are looked at only where they may win."""
        head_output = self.head(input)
        output: Tensor = head_output.argmax(1)
        outside = output >= self.shortlist_size
        if bool(outside.any()):
            full = self._get_full_log_prob(input[outside], head_output[outside])
            output[outside] = full.argmax(1)
        return output
