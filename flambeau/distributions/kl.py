"""Kullback-Leibler divergences: dispatch on pairs of distributions."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any, TypeVar

from flambeau import Tensor
from flambeau.distributions.distribution import Distribution

__all__ = ["kl_divergence", "register_kl"]

_F = TypeVar("_F", bound=Callable[..., Any])
_Pair = tuple[type, type]

_KL_REGISTRY: dict[_Pair, Callable[..., Any]] = {}
_KL_MEMOIZE: dict[_Pair, Callable[..., Any] | None] = {}


def register_kl(type_p: type, type_q: type) -> Callable[[_F], _F]:
    """Register a function of (p, q) as the divergence of two types of distributions.

    It serves subclasses too; the closest types win.

    Args:
        type_p: Class of p.
        type_q: Class of q.

    Example:
        >>> from flambeau.distributions import Normal, kl_divergence, register_kl
        >>> class Mine(Normal):
        ...     pass
        >>> @register_kl(Mine, Mine)
        ... def _(p, q):
        ...     return torch.tensor(42.0)
        >>> kl_divergence(Mine(0.0, 1.0), Mine(0.0, 1.0))
        tensor(42.)
    """
    for name, given in (("type_p", type_p), ("type_q", type_q)):
        if not isinstance(given, type):  # other packages have base classes of their own
            raise TypeError(f"Expected {name} to be a Distribution subclass but got {given}")

    def register(function: _F) -> _F:
        _KL_REGISTRY[type_p, type_q] = function
        _KL_MEMOIZE.clear()
        return function

    return register


def _dispatch_kl(type_p: type, type_q: type) -> Callable[..., Any] | None:
    """The function of the closest registered types, with a warning if that is ambiguous."""
    found = {
        (type_p.__mro__.index(p), type_q.__mro__.index(q)): (p, q)
        for p, q in _KL_REGISTRY
        if issubclass(type_p, p) and issubclass(type_q, q)
    }
    if not found:
        return None
    left = found[min(found)]
    right = found[min(found, key=lambda ranks: (ranks[1], ranks[0]))]
    if _KL_REGISTRY[left] is not _KL_REGISTRY[right]:
        warnings.warn(
            f"Ambiguous kl_divergence({type_p.__name__}, {type_q.__name__}). "
            f"Please register_kl({left[0].__name__}, {right[1].__name__})",
            RuntimeWarning,
            stacklevel=3,
        )
    return _KL_REGISTRY[left]


def kl_divergence(p: Distribution, q: Distribution) -> Tensor:
    """Kullback-Leibler divergence of two distributions, in closed form.

    KL(p || q) = mean of log p(x) - log q(x) over samples x of p

    Args:
        p: The first distribution.
        q: The second distribution.

    Raises:
        NotImplementedError: No formula is known for this pair.

    Example:
        >>> from flambeau.distributions import Normal, kl_divergence
        >>> kl_divergence(Normal(0.0, 1.0), Normal(1.0, 1.0))
        tensor(0.5000)
    """
    pair = type(p), type(q)
    try:
        function = _KL_MEMOIZE[pair]
    except KeyError:
        function = _KL_MEMOIZE[pair] = _dispatch_kl(*pair)
    if function is None:
        raise NotImplementedError(
            f"No KL(p || q) is implemented for p type {pair[0].__name__} and q type"
            f" {pair[1].__name__}"
        )
    return function(p, q)  # type: ignore[no-any-return]
