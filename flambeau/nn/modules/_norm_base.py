"""What layers that keep running statistics have in common."""

from __future__ import annotations

from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn import init
from flambeau.nn.modules.lazy import LazyModuleMixin
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter, UninitializedBuffer, UninitializedParameter

__all__: list[str] = []


def check_dims(layer: Module, input: Tensor, *allowed: int) -> None:
    """Refuse an input whose number of dimensions the layer does not take."""
    if input.dim() not in allowed:
        expected = " or ".join(f"{n}D" for n in allowed)
        raise ValueError(
            f"{type(layer).__name__}: expected {expected} input (got {input.dim()}D input of shape "
            f"{tuple(input.shape)})"
        )


class _NormBase(Module):
    """Weight and bias by channel, and running statistics."""

    _version = 2
    num_features: int
    eps: float
    momentum: float | None
    affine: bool
    track_running_stats: bool
    weight: Tensor | None
    bias: Tensor | None
    running_mean: Tensor | None
    running_var: Tensor | None
    num_batches_tracked: Tensor | None

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats

        def numbers() -> Tensor:
            return flambeau.empty(num_features, device=device, dtype=dtype)

        self.register_parameter("weight", Parameter(numbers()) if affine else None)
        self.register_parameter("bias", Parameter(numbers()) if affine and bias else None)
        tracked = track_running_stats
        self.register_buffer("running_mean", numbers() if tracked else None)
        self.register_buffer("running_var", numbers() if tracked else None)
        self.register_buffer(
            "num_batches_tracked",
            flambeau.tensor(0, dtype=flambeau.long, device=device) if tracked else None,
        )
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Set the running mean to 0, the running variance to 1, the count of batches to 0."""
        if self.running_mean is not None:
            self.running_mean.zero_()
        if self.running_var is not None:
            self.running_var.fill_(1)
        if self.num_batches_tracked is not None:
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Set the running statistics back, the weight to 1 and the bias to 0."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check_input_dim(self, input: Tensor) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say which inputs it takes")

    def extra_repr(self) -> str:
        """The number of features and the options."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, "
            f"affine={self.affine}, bias={self.bias is not None}, "
            f"track_running_stats={self.track_running_stats}"
        )

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, *rest: Any
    ) -> None:
        # State dicts of the first version do not count batches.
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                own = self.num_batches_tracked
                state_dict[key] = (
                    own
                    if own is not None and own.device != flambeau.device("meta")
                    else flambeau.tensor(0, dtype=flambeau.long)
                )
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)


class _LazyNormBase(LazyModuleMixin, _NormBase):
    """Takes the number of channels from the first input."""

    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: flambeau.dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        # Without parameters and statistics, whose size is not known yet.
        super().__init__(0, eps, momentum, False, False, device, dtype)
        self.affine = affine
        self.track_running_stats = track_running_stats
        options = {"device": device, "dtype": dtype}
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**options)
            self.running_var = UninitializedBuffer(**options)
            self.num_batches_tracked: Tensor = flambeau.tensor(
                0, dtype=flambeau.long, device=device
            )

    def reset_parameters(self) -> None:
        """Wait for the first input; then as the layer that this becomes."""
        if self.num_features != 0 and not self.has_uninitialized_params():
            super().reset_parameters()

    def initialize_parameters(self, input: Tensor) -> None:
        """Make parameters and statistics for the channels of the first input."""
        if not self.has_uninitialized_params():
            return
        self._check_input_dim(input)
        self.num_features: int = input.shape[1]
        for numbers in (self.weight, self.bias, self.running_mean, self.running_var):
            if numbers is not None:
                numbers.materialize((self.num_features,))
        self.reset_parameters()
