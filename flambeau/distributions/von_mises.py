"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C.special import i0e, i1e
from flambeau.distributions import constraints
from flambeau.distributions.distribution import Distribution, Shape
from flambeau.distributions.utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Distribution):
    """Distribution of angles.

    p(x) ∝ exp(concentration cos(x - loc))

    Args:
        loc: Mean angle.
        concentration: Concentration; positive.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import VonMises
        >>> VonMises(0.0, 4.0).variance
        tensor(0.1365)
    """

    loc: Tensor
    concentration: Tensor
    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "loc": constraints.real,
        "concentration": constraints.positive,
    }
    support: constraints.Constraint = constraints.real
    has_rsample = False

    def __init__(
        self,
        loc: Tensor | float,
        concentration: Tensor | float,
        validate_args: bool | None = None,
    ) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self._validate_sample(value)
        # exp(-k) I0(k) stays finite where I0(k) does not, and so does k (cos - 1).
        distance = self.concentration * ((value - self.loc).cos() - 1)
        return distance - math.log(2 * math.pi) - i0e(self.concentration).log()

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The parameter of the wrapped Cauchy proposal, in double precision."""
        k = self.concentration.detach().double()
        tau = 1 + (1 + 4 * k.square()).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return fb.where(k < 1e-5, 1 / k + k, (1 + rho.square()) / (2 * rho))

    @fb.no_grad()
    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Rejection sampling by Best and Fisher (1979)."""
        shape = self._extended_shape(sample_shape)
        k = self.concentration.double().expand(shape)
        r = self._proposal_r.expand(shape)
        angle = k.new_empty(shape)
        done = fb.zeros(shape, dtype=fb.bool, device=self.loc.device)
        while not done.all():
            u1, u2, u3 = fb.rand((3, *shape), dtype=k.dtype, device=k.device).unbind()
            z = (math.pi * u1).cos()
            f = (1 + r * z) / (r + z)
            c = k * (r - f)
            accept = (c * (2 - c) > u2) | ((c / u2).log() + 1 - c >= 0)
            angle = fb.where(accept, (u3 - 0.5).sign() * f.acos(), angle)
            done = done | accept
        turned = angle + math.pi + self.loc.double()
        return (turned % (2 * math.pi) - math.pi).to(self.loc.dtype)

    def expand(self, batch_shape: Shape, _instance: Any = None) -> Any:
        # Made by the constructor, so that it works for users' subclasses with the same arguments.
        loc, concentration = self.loc.expand(batch_shape), self.concentration.expand(batch_shape)
        return type(self)(loc, concentration, validate_args=self.__dict__.get("_validate_args"))

    @property
    def mean(self) -> Tensor:
        """The circular mean."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The circular variance."""
        return 1 - i1e(self.concentration) / i0e(self.concentration)
