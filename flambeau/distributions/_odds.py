"""Distributions parametrised by either probabilities or logits, which compute the other."""

from __future__ import annotations

from typing import Any, ClassVar

from flambeau import Size, Tensor
from flambeau.distributions.utils import lazy_property, logits_to_probs, probs_to_logits

Number = int | float | bool


class ProbsOrLogits:
    """The two parameters, exactly one of which is given.

    With ``is_binary`` they are the probability of success and its log-odds; otherwise
    probabilities along the last dimension and their logarithms.
    """

    _fb_is_binary: ClassVar[bool] = True

    @classmethod
    def _fb_given(cls, probs: Any, logits: Any) -> tuple[str, Any]:
        """Name and value of the parameter that is given."""
        if (probs is None) == (logits is None):
            raise ValueError("Either `probs` or `logits` must be specified, but not both.")
        return ("logits", logits) if probs is None else ("probs", probs)

    @lazy_property
    def logits(self) -> Tensor:
        """The log-odds of success, or the logarithms of the probabilities."""
        return probs_to_logits(self.probs, self._fb_is_binary)

    @lazy_property
    def probs(self) -> Tensor:
        """The probabilities."""
        return logits_to_probs(self.logits, self._fb_is_binary)

    @property
    def _param(self) -> Tensor:
        given = self.__dict__
        return given["probs"] if "probs" in given else given["logits"]  # type: ignore[no-any-return]

    @property
    def param_shape(self) -> Size:
        """The shape of the parameter that was given."""
        return self._param.size()

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._param.new(*args, **kwargs)
