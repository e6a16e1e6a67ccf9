"""Elementwise transforms."""

from __future__ import annotations

import math
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau._C.nn.functional import softplus
from flambeau._operators.joining import broadcast_shapes
from flambeau.distributions import constraints
from flambeau.distributions._transform import Transform
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import _sum_rightmost, broadcast_all


class ExpTransform(Transform):
    """Exponential: y = exp(x).

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> t = torch.distributions.ExpTransform()
        >>> t(torch.tensor([0.0, 1.0]))
        tensor([1.0000, 2.7183])
        >>> t.inv(torch.tensor([1.0]))
        tensor([0.])
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.exp()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return x


class PowerTransform(Transform):
    """Power: y = x^exponent, for positive x.

    Args:
        exponent: The exponent; nonzero.
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> torch.distributions.PowerTransform(2.0)(torch.tensor([1.0, 3.0]))
        tensor([1., 9.])
    """

    exponent: Tensor
    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Tensor | float, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        (self.exponent,) = broadcast_all(exponent)

    def _fb_rebuilt(self, cache_size: int) -> Transform:
        return PowerTransform(self.exponent, cache_size=cache_size)

    @property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PowerTransform) and bool(
            self.exponent.eq(other.exponent).all().item()
        )

    __hash__ = None

    def _call(self, x: Tensor) -> Tensor:
        return x.pow(self.exponent)

    def _inverse(self, y: Tensor) -> Tensor:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Shape) -> Shape:
        return broadcast_shapes(shape, self.exponent.shape)

    inverse_shape = forward_shape


def inside_unit_interval(share: Tensor) -> Tensor:
    """Clamp numbers of [0, 1] to the open interval, as little as their dtype allows."""
    info = fb.finfo(share.dtype)
    return share.clamp(info.tiny, 1.0 - info.eps)


class SigmoidTransform(Transform):
    """Sigmoid: y = 1 / (1 + exp(-x)), kept away from 0 and 1.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> torch.distributions.SigmoidTransform()(torch.tensor([0.0, 2.0]))
        tensor([0.5000, 0.8808])
    """

    domain = constraints.real
    codomain = constraints.unit_interval
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return inside_unit_interval(x.sigmoid())

    def _inverse(self, y: Tensor) -> Tensor:
        y = inside_unit_interval(y)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x) - softplus(x)


class SoftplusTransform(Transform):
    """Softplus: y = log(1 + exp(x)), which is positive.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> t = torch.distributions.SoftplusTransform()
        >>> t(torch.tensor([-10.0, 0.0, 10.0]))
        tensor([4.5399e-05, 6.9315e-01, 1.0000e+01])

    See also:
        `distributions.ExpTransform`.
    """

    domain = constraints.real
    codomain = constraints.positive
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return softplus(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return y + (-(-y).expm1()).log()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return -softplus(-x)


def log_tanh_slope(x: Tensor) -> Tensor:
    """log(1 - tanh(x)^2), exact for large |x|."""
    return 2.0 * (math.log(2.0) - x - softplus(-2.0 * x))


class TanhTransform(Transform):
    """Hyperbolic tangent: y = tanh(x).

    The inverse loses digits where |y| is near 1; a cache avoids that.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> torch.distributions.TanhTransform(cache_size=1)(torch.tensor([0.0, 1.0]))
        tensor([0.0000, 0.7616])
    """

    domain = constraints.real
    codomain: Any = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = 1

    def _call(self, x: Tensor) -> Tensor:
        return x.tanh()

    def _inverse(self, y: Tensor) -> Tensor:
        return y.atanh()

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return log_tanh_slope(x)


class AbsTransform(Transform):
    """Absolute value: y = |x|. The inverse returns y itself.

    Args:
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> t = torch.distributions.AbsTransform()
        >>> t(torch.tensor([-2.0, 3.0]))
        tensor([2., 3.])

    See also:
        `distributions.HalfNormal`, which is the absolute value of a normal distribution.
    """

    domain = constraints.real
    codomain = constraints.positive

    def _call(self, x: Tensor) -> Tensor:
        return x.abs()

    def _inverse(self, y: Tensor) -> Tensor:
        return y


def _same(a: Tensor | float, b: Tensor | float) -> bool:
    if isinstance(a, Tensor) or isinstance(b, Tensor):
        return bool(fb.as_tensor(a).eq(b).all().item())
    return a == b


class AffineTransform(Transform):
    """Affine map: y = loc + scale x.

    Args:
        loc: Offset.
        scale: Factor.
        event_dim: Number of dimensions of one event. Default: 0.
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor([0.0, 3.0]))
        tensor([1., 7.])
    """

    bijective = True

    def __init__(
        self,
        loc: Tensor | float,
        scale: Tensor | float,
        event_dim: int = 0,
        cache_size: int = 0,
    ) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    @property
    def event_dim(self) -> int:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        if self._event_dim == 0:
            return constraints.real
        return constraints.independent(constraints.real, self._event_dim)

    codomain = domain

    def _fb_rebuilt(self, cache_size: int) -> Transform:
        return AffineTransform(self.loc, self.scale, self._event_dim, cache_size=cache_size)

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, AffineTransform)
            and _same(self.loc, other.loc)
            and _same(self.scale, other.scale)
        )

    __hash__ = None

    @property
    def sign(self) -> Any:
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return (self.scale > 0) - (self.scale < 0)

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            each = self.scale.abs().log()
        else:
            each = fb.full_like(x, math.log(abs(self.scale)))
        return _sum_rightmost(each.expand(broadcast_shapes(x.shape, each.shape)), self._event_dim)

    def forward_shape(self, shape: Shape) -> Shape:
        return broadcast_shapes(
            shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ())
        )

    inverse_shape = forward_shape


class CumulativeDistributionTransform(Transform):
    """Cumulative distribution function of a distribution: y = cdf(x).

    It maps samples of the distribution to uniform ones between 0 and 1; its inverse does the
    reverse.

    Args:
        distribution: Distribution with ``cdf`` and, for the inverse, ``icdf``.
        cache_size: 1 keeps the last pair, for an exact inverse. Default: 0.

    Example:
        >>> normal = torch.distributions.Normal(0.0, 1.0)
        >>> t = torch.distributions.CumulativeDistributionTransform(normal)
        >>> t(torch.tensor([-1.0, 0.0, 1.0]))
        tensor([0.1587, 0.5000, 0.8413])
        >>> t.inv(torch.tensor([0.5]))
        tensor([0.])

    See also:
        `distributions.TransformedDistribution`.
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = 1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _fb_rebuilt(self, cache_size: int) -> Transform:
        return CumulativeDistributionTransform(self.distribution, cache_size=cache_size)

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)
