"""Distributions based on a categorical or on a relaxed distribution."""

from __future__ import annotations

from typing import Any, ClassVar

from flambeau import Size, Tensor
from flambeau.distributions import constraints
from flambeau.distributions.categorical import Categorical


class OfCategorical:
    """The parameters of the underlying categorical distribution."""

    arg_constraints: ClassVar[dict[str, constraints.Constraint]] = {
        "probs": constraints.simplex,
        "logits": constraints.real_vector,
    }
    _fb_checked_by_part: ClassVar = frozenset(("probs", "logits"))
    _categorical: Categorical

    @property
    def probs(self) -> Tensor:
        """The probabilities of the categories."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._categorical.param_shape

    @property
    def _param(self) -> Tensor:
        return self._categorical._param

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)


class OfRelaxation:
    """The parameters of the underlying relaxed distribution."""

    _fb_checked_by_part: ClassVar = frozenset(("probs", "logits"))
    base_dist: Any

    @property
    def temperature(self) -> Tensor:
        """The temperature: the lower, the closer samples are to discrete values."""
        return self.base_dist.temperature  # type: ignore[no-any-return]

    @property
    def logits(self) -> Tensor:
        """The log-odds, or logarithms of the probabilities, at temperature 0."""
        return self.base_dist.logits  # type: ignore[no-any-return]

    @property
    def probs(self) -> Tensor:
        """The probabilities at temperature 0."""
        return self.base_dist.probs  # type: ignore[no-any-return]
