"""The normal distribution."""

from __future__ import annotations

import math
from typing import ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C import _normal_log_prob
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Shape
from flambeau.distributions.exp_family import ExponentialFamily
from flambeau.distributions.utils import _standard_normal, broadcast_all

__all__ = ["Normal"]


class Normal(ExponentialFamily):
    """Normal distribution.

    p(x) = exp(-(x - loc)^2 / (2 scale^2)) / (scale sqrt(2 π))

    Args:
        loc: Mean.
        scale: Standard deviation.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Normal
        >>> d = Normal(torch.tensor([0.0, 1.0]), torch.tensor([1.0, 2.0]))
        >>> d.log_prob(torch.tensor(1.0))
        tensor([-1.4189, -1.6121])
        >>> d.cdf(torch.tensor(1.0))
        tensor([0.8413, 0.5000])
    """

    loc: Tensor
    scale: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "loc": constraints.real,
        "scale": constraints.positive,
    }
    support: constraints.Constraint = constraints.real
    has_rsample = True
    _mean_carrier_measure = 0

    def __init__(
        self, loc: Tensor | float, scale: Tensor | float, validate_args: bool | None = None
    ) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def stddev(self) -> Tensor:
        return self.scale

    @property
    def variance(self) -> Tensor:
        return self.scale.square()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        loc, scale = self.loc, self.scale
        with fb.no_grad():
            if sample_shape:
                loc = loc.expand(self._extended_shape(sample_shape))
            return fb.normal(loc, scale)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        return self.loc + _standard_normal(shape, self.loc.dtype, self.loc.device) * self.scale

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        elif not isinstance(value, Tensor):
            value = self.loc.new_tensor(value)
        return _normal_log_prob(value, self.loc, self.scale)

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        return 0.5 * (1 + fb.erf((value - self.loc) / (self.scale * math.sqrt(2))))

    def icdf(self, value: Tensor) -> Tensor:
        return self.loc + self.scale * fb.erfinv(2 * value - 1) * math.sqrt(2)

    def entropy(self) -> Tensor:
        return 0.5 + 0.5 * math.log(2 * math.pi) + self.scale.log()

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        precision = self.scale.square().reciprocal()
        return (self.loc * precision, -0.5 * precision)

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:  # type: ignore[override]
        return -0.25 * x.square() / y + 0.5 * fb.log(-math.pi / y)
