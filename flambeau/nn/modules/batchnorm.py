"""Batch normalisation."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.functional import batch_norm
from flambeau.nn.modules._norm_base import _LazyNormBase, _NormBase, check_dims
from flambeau.nn.modules.module import Module

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "SyncBatchNorm",
]


class _BatchNorm(_NormBase):
    """Every channel less its mean and divided by its deviation over the batch.

    In training the running statistics move by the share `momentum` towards the batch's; with
    ``momentum=None`` they are the average of all batches so far. In evaluation they take the place
    of the batch's.
    """

    def forward(self, input: Tensor) -> Tensor:
        self._check_input_dim(input)
        training = self.training
        mean, variance = self.running_mean, self.running_var
        share = self.momentum
        if training and self.track_running_stats:
            count = self.num_batches_tracked
            if count is not None:
                count.add_(1)
                if share is None:
                    share = 1.0 / float(count)
        elif training:
            mean = variance = None
        else:
            training = mean is None and variance is None
        return batch_norm(
            input, mean, variance, self.weight, self.bias, training, share or 0.0, self.eps
        )


class BatchNorm1d(_BatchNorm):
    """Normalise each channel over the batch, then scale and shift it.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each channel over batch and length.
    In training they are those of the batch, and running statistics are updated; in evaluation
    the running statistics take their place.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones:
            running = (1 - momentum) running + momentum batch. None keeps the average of all
            batches. Default: 0.1.
        affine: Whether to learn weight and bias. Default: True.
        track_running_stats: Whether to keep running statistics. Without them, evaluation
            uses the statistics of the batch. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Attributes:
        weight: Learned scale, starting at 1, or None.
        bias: Learned shift, starting at 0, or None.
        running_mean, running_var: Running statistics, or None.
        num_batches_tracked: Number of batches that they have seen, or None.

    Shape:
        - Input: (N, C) or (N, C, L).
        - Output: the shape of the input.

    Example:
        >>> layer = nn.BatchNorm1d(4)
        >>> y = layer(torch.randn(20, 4) * 3 + 5)
        >>> bool(y.mean().abs() < 1e-5), bool((y.std() - 1).abs() < 0.01)
        (True, True)
        >>> layer.num_batches_tracked
        tensor(1)

    See also:
        `nn.LazyBatchNorm1d`, `nn.SyncBatchNorm`, `nn.GroupNorm`, `nn.functional.batch_norm`.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        check_dims(self, input, 2, 3)


class BatchNorm2d(_BatchNorm):
    """Normalise each channel over the batch, then scale and shift it.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each channel over batch, height and width.
    In training they are those of the batch, and running statistics are updated; in evaluation
    the running statistics take their place.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones:
            running = (1 - momentum) running + momentum batch. None keeps the average of all
            batches. Default: 0.1.
        affine: Whether to learn weight and bias. Default: True.
        track_running_stats: Whether to keep running statistics. Without them, evaluation
            uses the statistics of the batch. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Attributes:
        weight: Learned scale, starting at 1, or None.
        bias: Learned shift, starting at 0, or None.
        running_mean, running_var: Running statistics, or None.
        num_batches_tracked: Number of batches that they have seen, or None.

    Shape:
        - Input: (N, C, H, W).
        - Output: the shape of the input.

    Example:
        >>> layer = nn.BatchNorm2d(4)
        >>> y = layer(torch.randn(20, 4, 8, 8) * 3 + 5)
        >>> bool(y.mean().abs() < 1e-5), bool((y.std() - 1).abs() < 0.01)
        (True, True)
        >>> layer.num_batches_tracked
        tensor(1)

    See also:
        `nn.LazyBatchNorm2d`, `nn.SyncBatchNorm`, `nn.GroupNorm`, `nn.functional.batch_norm`.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        check_dims(self, input, 4)


class BatchNorm3d(_BatchNorm):
    """Normalise each channel over the batch, then scale and shift it.

    y = (x - mean) / sqrt(var + eps) × weight + bias

    with mean and (biased) variance of each channel over batch, depth, height and width.
    In training they are those of the batch, and running statistics are updated; in evaluation
    the running statistics take their place.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones:
            running = (1 - momentum) running + momentum batch. None keeps the average of all
            batches. Default: 0.1.
        affine: Whether to learn weight and bias. Default: True.
        track_running_stats: Whether to keep running statistics. Without them, evaluation
            uses the statistics of the batch. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Attributes:
        weight: Learned scale, starting at 1, or None.
        bias: Learned shift, starting at 0, or None.
        running_mean, running_var: Running statistics, or None.
        num_batches_tracked: Number of batches that they have seen, or None.

    Shape:
        - Input: (N, C, D, H, W).
        - Output: the shape of the input.

    Example:
        >>> layer = nn.BatchNorm3d(4)
        >>> y = layer(torch.randn(20, 4, 2, 8, 8) * 3 + 5)
        >>> bool(y.mean().abs() < 1e-5), bool((y.std() - 1).abs() < 0.01)
        (True, True)
        >>> layer.num_batches_tracked
        tensor(1)

    See also:
        `nn.LazyBatchNorm3d`, `nn.SyncBatchNorm`, `nn.GroupNorm`, `nn.functional.batch_norm`.
    """

    def _check_input_dim(self, input: Tensor) -> None:
        check_dims(self, input, 5)


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """`nn.BatchNorm1d` that takes `num_features` from its first input.

    After the first call it is an ordinary `nn.BatchNorm1d`.

    Args:
        eps, momentum, affine, track_running_stats: As of `nn.BatchNorm1d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Example:
        >>> layer = nn.LazyBatchNorm1d()
        >>> _ = layer(torch.randn(20, 4))
        >>> layer.num_features
        4
    """

    cls_to_become: type[Any] = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """`nn.BatchNorm2d` that takes `num_features` from its first input.

    After the first call it is an ordinary `nn.BatchNorm2d`.

    Args:
        eps, momentum, affine, track_running_stats: As of `nn.BatchNorm2d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Example:
        >>> layer = nn.LazyBatchNorm2d()
        >>> _ = layer(torch.randn(20, 4, 8, 8))
        >>> layer.num_features
        4
    """

    cls_to_become: type[Any] = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """`nn.BatchNorm3d` that takes `num_features` from its first input.

    After the first call it is an ordinary `nn.BatchNorm3d`.

    Args:
        eps, momentum, affine, track_running_stats: As of `nn.BatchNorm3d`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Example:
        >>> layer = nn.LazyBatchNorm3d()
        >>> _ = layer(torch.randn(20, 4, 2, 8, 8))
        >>> layer.num_features
        4
    """

    cls_to_become: type[Any] = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation over the batches of all processes of a group.

    Groups have one process so far: it computes what `nn.BatchNorm2d` does.

    Args:
        num_features: Number of channels C.
        eps: Added to the variance, against division by 0. Default: 1e-5.
        momentum: Share of a batch's statistics in the running ones. Default: 0.1.
        affine: Whether to learn weight and bias. Default: True.
        track_running_stats: Whether to keep running statistics. Default: True.
        process_group: Processes whose batches count. Default: all.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        bias: Whether `affine` includes a bias. Default: True.

    Shape:
        - Input: (N, C, *), with at least 2 dimensions.
        - Output: the shape of the input.

    Example:
        >>> nn.SyncBatchNorm(4)(torch.randn(20, 4, 8)).shape
        torch.Size([20, 4, 8])

    See also:
        `SyncBatchNorm.convert_sync_batchnorm`, which converts a network.
    """

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: Any = None,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(
            num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias
        )
        self.process_group = process_group

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")
        if input.size(1) == 0:
            raise ValueError("SyncBatchNorm number of input channels should be non-zero")

    @classmethod
    def convert_sync_batchnorm(cls, module: Module, process_group: Any = None) -> Module:
        """Replace every batch normalisation within a module by a `SyncBatchNorm`.

        The new layers share the parameters and running statistics of the old ones.

        Args:
            module: Network to convert; its children are replaced in place.
            process_group: Processes whose batches count. Default: all.

        Returns:
            The module, or its replacement if it is itself a batch normalisation.

        Example:
            >>> model = nn.Sequential(nn.Linear(6, 4), nn.BatchNorm1d(4))
            >>> nn.SyncBatchNorm.convert_sync_batchnorm(model)[1].num_features
            4
        """
        result = module
        if isinstance(module, _BatchNorm):
            result = cls(
                module.num_features,
                module.eps,
                module.momentum,
                module.affine,
                module.track_running_stats,
                process_group,
                bias=module.bias is not None,
            )
            result.weight, result.bias = module.weight, module.bias
            result.running_mean, result.running_var = module.running_mean, module.running_var
            result.num_batches_tracked = module.num_batches_tracked
            result.training = module.training
        for name, child in module.named_children():
            result.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return result
