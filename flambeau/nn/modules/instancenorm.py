"""Instance normalisation."""

from __future__ import annotations

import warnings
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.functional import instance_norm
from flambeau.nn.modules._norm_base import _LazyNormBase, _NormBase, check_dims

__all__ = [
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
]


class _InstanceNorm(_NormBase):
    """Every channel of every sample less its mean and divided by its deviation.

    With `track_running_stats`, evaluation goes by running statistics, as batch normalisation does.
    An input without a batch is one sample.
    """

    _fb_batched_dims: int

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )

    def _check_input_dim(self, input: Tensor) -> None:
        check_dims(self, input, self._fb_batched_dims - 1, self._fb_batched_dims)

    def _fb_check_features(self, channels: int) -> None:
        if channels == self.num_features:
            return
        if self.affine:
            raise ValueError(
                f"expected input's size at its channels to match num_features "
                f"({self.num_features}), but got: {channels}."
            )
        warnings.warn(
            f"input's size at its channels, {channels}, does not match num_features, "
            f"{self.num_features}. Without affine parameters num_features has no effect.",
            stacklevel=3,
        )

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        batched = input.dim() == self._fb_batched_dims
        self._fb_check_features(input.size(1 if batched else 0))
        result = instance_norm(
            input if batched else input.unsqueeze(0),
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            self.momentum if self.momentum is not None else 0.0,
            self.eps,
        )
        return result if batched else result.squeeze(0)

    def _load_from_state_dict(
        self,
        state_dict: Any,
        prefix: str,
        local_metadata: Any,
        strict: bool,
        missing_keys: list[str],
        unexpected_keys: list[str],
        error_msgs: list[str],
    ) -> None:
        # State dicts of the first version hold statistics that were never read.
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            kept = [
                prefix + name
                for name in ("running_mean", "running_var")
                if prefix + name in state_dict
            ]
            if kept:
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {', '.join(kept)} for "
                    f"{type(self).__name__} with track_running_stats=False. Remove them from the "
                    "state_dict, or create the layer with track_running_stats=True."
                )
                for key in kept:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict,
            prefix,
            local_metadata,
            strict,
            missing_keys,
            unexpected_keys,
            error_msgs,
        )


class InstanceNorm1d(_InstanceNorm):
    """Normalise each channel of each sample by its own statistics.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each channel over length, in training and in
    evaluation.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones:
            running = (1 - momentum) running + momentum batch. None keeps the average of all
            batches. Default: 0.1.
        affine: Whether to learn weight and bias. Default: False.
        track_running_stats: Whether to keep running statistics. Without them, evaluation
            uses the statistics of the sample. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Shape:
        - Input: (N, C, L) or (C, L).
        - Output: the shape of the input.

    Example:
        >>> y = nn.InstanceNorm1d(4)(torch.randn(2, 4, 50) * 3 + 5)
        >>> bool(y.mean(-1).abs().max() < 1e-5)
        True

    See also:
        `nn.BatchNorm1d`, `nn.GroupNorm`, `nn.functional.instance_norm`.
    """

    _fb_batched_dims = 3


class InstanceNorm2d(_InstanceNorm):
    """Normalise each channel of each sample by its own statistics.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each channel over height and width, in training and in
    evaluation.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones:
            running = (1 - momentum) running + momentum batch. None keeps the average of all
            batches. Default: 0.1.
        affine: Whether to learn weight and bias. Default: False.
        track_running_stats: Whether to keep running statistics. Without them, evaluation
            uses the statistics of the sample. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Shape:
        - Input: (N, C, H, W) or (C, H, W).
        - Output: the shape of the input.

    Example:
        >>> y = nn.InstanceNorm2d(4)(torch.randn(2, 4, 8, 8) * 3 + 5)
        >>> bool(y.mean(dim=(-2, -1)).abs().max() < 1e-5)
        True

    See also:
        `nn.BatchNorm2d`, `nn.GroupNorm`, `nn.functional.instance_norm`.
    """

    _fb_batched_dims = 4


class InstanceNorm3d(_InstanceNorm):
    """Normalise each channel of each sample by its own statistics.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each channel over depth, height and width, in training and in
    evaluation.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones:
            running = (1 - momentum) running + momentum batch. None keeps the average of all
            batches. Default: 0.1.
        affine: Whether to learn weight and bias. Default: False.
        track_running_stats: Whether to keep running statistics. Without them, evaluation
            uses the statistics of the sample. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Shape:
        - Input: (N, C, D, H, W) or (C, D, H, W).
        - Output: the shape of the input.

    Example:
        >>> y = nn.InstanceNorm3d(4)(torch.randn(2, 4, 2, 8, 8) * 3 + 5)
        >>> bool(y.mean(dim=(-3, -2, -1)).abs().max() < 1e-5)
        True

    See also:
        `nn.BatchNorm3d`, `nn.GroupNorm`, `nn.functional.instance_norm`.
    """

    _fb_batched_dims = 5


class _LazyInstanceNorm(_LazyNormBase, _InstanceNorm):
    """Takes the number of channels from the first input, which may be without a batch."""

    def initialize_parameters(self, input: Tensor) -> None:
        """Make parameters and statistics for the channels of the first input."""
        self._check_input_dim(input)
        batched = input.dim() == self._fb_batched_dims
        super().initialize_parameters(input if batched else input.unsqueeze(0))


class LazyInstanceNorm1d(_LazyInstanceNorm):
    """`nn.InstanceNorm1d` that takes `num_features` from its first input.

    After the first call it is an ordinary `nn.InstanceNorm1d`. Its defaults are
    `affine=True` and `track_running_stats=True`.

    Args:
        eps, momentum, affine, track_running_stats: As of `nn.InstanceNorm1d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Example:
        >>> layer = nn.LazyInstanceNorm1d()
        >>> _ = layer(torch.randn(2, 4, 50))
        >>> layer.num_features
        4
    """

    cls_to_become: type[Any] = InstanceNorm1d
    _fb_batched_dims = 3


class LazyInstanceNorm2d(_LazyInstanceNorm):
    """`nn.InstanceNorm2d` that takes `num_features` from its first input.

    After the first call it is an ordinary `nn.InstanceNorm2d`. Its defaults are
    `affine=True` and `track_running_stats=True`.

    Args:
        eps, momentum, affine, track_running_stats: As of `nn.InstanceNorm2d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Example:
        >>> layer = nn.LazyInstanceNorm2d()
        >>> _ = layer(torch.randn(2, 4, 8, 8))
        >>> layer.num_features
        4
    """

    cls_to_become: type[Any] = InstanceNorm2d
    _fb_batched_dims = 4


class LazyInstanceNorm3d(_LazyInstanceNorm):
    """`nn.InstanceNorm3d` that takes `num_features` from its first input.

    After the first call it is an ordinary `nn.InstanceNorm3d`. Its defaults are
    `affine=True` and `track_running_stats=True`.

    Args:
        eps, momentum, affine, track_running_stats: As of `nn.InstanceNorm3d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Example:
        >>> layer = nn.LazyInstanceNorm3d()
        >>> _ = layer(torch.randn(2, 4, 2, 8, 8))
        >>> layer.num_features
        4
    """

    cls_to_become: type[Any] = InstanceNorm3d
    _fb_batched_dims = 5
