"""Distributions whose density is the exponential of natural parameters times statistics."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor
from flambeau.distributions.distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """Base class of densities exp(<t(x), theta> - F(theta) + k(x)) with natural parameters theta.

    A subclass that defines ``_natural_params``, the log normalizer F and the mean of k gets its
    entropy and the divergence within its family by differentiating F.

    Args:
        batch_shape: Shape of independent distributions. Default: ().
        event_shape: Shape of one sample. Default: ().
        validate_args: Whether to check parameters and samples. Default: the global setting.

    Example:
        >>> normal = torch.distributions.Normal(0.0, 1.0)
        >>> isinstance(normal, torch.distributions.ExponentialFamily)
        True
        >>> normal.entropy()
        tensor(1.4189)

    See also:
        `distributions.Distribution`.
    """

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Tensor) -> Tensor:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> float:
        raise NotImplementedError

    def entropy(self) -> Tensor:
        """Return the entropy F - <E[t], theta> - E[k], where E[t] is the gradient of F."""
        parameters = [
            p if p.requires_grad else p.detach().requires_grad_() for p in self._natural_params
        ]
        with fb.enable_grad():
            normalizer = self._log_normalizer(*parameters)
        gradients = fb.autograd.grad(normalizer.sum(), parameters, create_graph=True)
        result = normalizer - self._mean_carrier_measure
        for parameter, gradient in zip(parameters, gradients, strict=True):
            term = (parameter * gradient).reshape(*self._batch_shape, -1).sum(-1)
            result = result - term
        return result
