"""The base of all distributions: shapes, checks of parameters and values, expansion."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar, TypeVar

import flambeau as fb
from flambeau import Size, Tensor
from flambeau.distributions import constraints
from flambeau.distributions.utils import lazy_property

__all__ = ["Distribution"]

_SelfT = TypeVar("_SelfT", bound="Distribution")
Shape = Sequence[int]
SCALAR = Size()
_PACKAGE = __name__.rpartition(".")[0]


class Distribution:
    """Base class of probability distributions.

    A subclass names its parameters in `arg_constraints`, keeps them as attributes, and gets checks,
    `expand` and `repr` from here.

    Args:
        batch_shape: Shape of the parameters: how many distributions the object holds.
        event_shape: Shape of one sample.
        validate_args: Whether to check parameters and values. Default: True.

    Example:
        >>> from flambeau.distributions import Normal
        >>> d = Normal(torch.zeros(3), 1.0)
        >>> d.batch_shape, d.event_shape
        (torch.Size([3]), torch.Size([]))
        >>> d.sample((5,)).shape
        torch.Size([5, 3])
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__
    # Parameters that need no check: those of a component, which has checked them, and lazy ones.
    _fb_checked_by_part: ClassVar[frozenset[str]] = frozenset()
    _fb_unchecked: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        attributes: dict[str, Any] = {}
        for base in reversed(cls.__mro__):
            attributes.update(vars(base))
        lazy = [name for name, value in attributes.items() if isinstance(value, lazy_property)]
        cls._fb_unchecked = cls._fb_checked_by_part.union(lazy)

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """Set whether distributions check parameters and values by default."""
        if value not in (True, False):
            raise ValueError(f"set_default_validate_args: expected True or False, got {value!r}")
        Distribution._validate_args = value

    def __init__(
        self,
        batch_shape: Shape = SCALAR,
        event_shape: Shape = SCALAR,
        validate_args: bool | None = None,
    ) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._fb_check_parameters()
        super().__init__()  # of other base classes

    def _fb_check_parameters(self) -> None:
        try:
            regions = self.arg_constraints
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `arg_constraints`. Please set"
                " `arg_constraints = {}` or initialize the distribution with `validate_args=False`"
                " to turn off validation.",
                stacklevel=4,
            )
            return
        for name, region in regions.items():
            if isinstance(region, constraints._Dependent):
                continue
            value = self.__dict__.get(name)
            if value is None:
                if name in self._fb_unchecked:
                    continue
                value = getattr(self, name)
            if not region._fb_holds(value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape"
                    f" {tuple(value.shape)}) of distribution {self!r} to satisfy the constraint"
                    f" {region!r}, but found invalid values:\n{value}"
                )

    @property
    def batch_shape(self) -> Size:
        """The shape of the parameters: how many distributions this object holds."""
        return self._batch_shape  # type: ignore[return-value]

    @property
    def event_shape(self) -> Size:
        """The shape of one sample of one distribution."""
        return self._event_shape  # type: ignore[return-value]

    @property
    def arg_constraints(self) -> dict[str, constraints.Constraint]:
        """The constraint of each parameter, by name."""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint of the samples: the support."""
        raise NotImplementedError

    @property
    def mean(self) -> Tensor:
        """The expected value; NaN or infinite where there is none."""
        raise NotImplementedError

    @property
    def mode(self) -> Tensor:
        """The mode: a value of greatest density."""
        raise NotImplementedError(f"{type(self)} does not implement mode")

    @property
    def variance(self) -> Tensor:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Tensor:
        """The square root of the variance."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw samples, without gradients.

        Args:
            sample_shape: How many samples, as a shape. Default: one.

        Returns:
            A tensor of shape sample_shape + batch_shape + event_shape.

        Example:
            >>> from flambeau.distributions import Normal
            >>> Normal(torch.zeros(3), 1.0).sample((2,)).shape
            torch.Size([2, 3])

        See also:
            `Distribution.rsample`.
        """
        with fb.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Shape = ()) -> Tensor:
        """Draw samples that are differentiable functions of the parameters.

        Args:
            sample_shape: How many samples, as a shape. Default: one.

        Example:
            >>> from flambeau.distributions import Normal
            >>> loc = torch.zeros(3, requires_grad=True)
            >>> Normal(loc, 1.0).rsample().sum().backward()
            >>> loc.grad
            tensor([1., 1., 1.])
        """
        raise NotImplementedError

    def sample_n(self, n: int) -> Tensor:
        """``sample((n,))``, under its old name."""
        warnings.warn(
            "sample_n(n) will be deprecated. Use .sample((n,)) instead.",
            category=FutureWarning,
            stacklevel=2,
        )
        return self.sample(Size((n,)))

    def log_prob(self, value: Tensor) -> Tensor:
        """Logarithm of the density, or of the probability, of a value.

        Args:
            value: The value, broadcast to the batch.

        Example:
            >>> from flambeau.distributions import Normal
            >>> Normal(0.0, 1.0).log_prob(torch.tensor(0.0))
            tensor(-0.9189)
        """
        raise NotImplementedError

    def cdf(self, value: Tensor) -> Tensor:
        """Return the cumulative distribution function at ``value``."""
        raise NotImplementedError

    def icdf(self, value: Tensor) -> Tensor:
        """Return the inverse cumulative distribution function (quantile) at ``value``."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Tensor:
        """Return all possible values along a new first dimension; ``expand`` to the whole batch."""
        raise NotImplementedError

    def _fb_enumerated(self, values: Tensor, expand: bool) -> Tensor:
        """Add dimensions for the batch after the first dimension of possible events."""
        count, events = values.size(0), values.shape[1:]
        values = values.view(count, *(1 for _ in self._batch_shape), *events)
        return values.expand(count, *self._batch_shape, *events) if expand else values

    def entropy(self) -> Tensor:
        """Entropy, in nats.

        Example:
            >>> from flambeau.distributions import Bernoulli
            >>> Bernoulli(torch.tensor(0.5)).entropy()
            tensor(0.6931)
        """
        raise NotImplementedError

    def perplexity(self) -> Tensor:
        """Return the perplexity: the exponential of the entropy."""
        return fb.exp(self.entropy())

    def expand(self: _SelfT, batch_shape: Shape, _instance: Any = None) -> _SelfT:
        """Return the same distribution with its parameters expanded to a larger batch."""
        new = self._get_checked_instance(own_class(self), _instance)
        batch_shape = Size(batch_shape)
        regions = self.arg_constraints
        for name, value in self.__dict__.items():
            if name in new.__dict__:  # overridden by a subclass
                continue
            if isinstance(value, Distribution):
                value = value.expand(batch_shape)
            elif name in regions and isinstance(value, Tensor):
                events = value.shape[value.dim() - regions[name].event_dim :]
                value = value.expand(batch_shape + events)
            new.__dict__[name] = value
        new._batch_shape = batch_shape
        return new

    def _get_checked_instance(self: _SelfT, cls: type, _instance: Any = None) -> _SelfT:
        """Return an empty object of this type for ``expand`` to fill, or the given one."""
        if _instance is None and type(self).__init__ is not cls.__init__:  # type: ignore[misc]
            raise NotImplementedError(
                f"Subclass {type(self).__name__} of {cls.__name__} that defines a custom __init__"
                " method must also define a custom .expand() method."
            )
        return object.__new__(type(self)) if _instance is None else _instance

    def _extended_shape(self, sample_shape: Shape = ()) -> Size:
        """Return the shape of samples."""
        if isinstance(sample_shape, int):
            raise TypeError(
                f"sample_shape: expected a sequence of sizes, got {sample_shape}:"
                f" write ({sample_shape},)"
            )
        return Size((*sample_shape, *self._batch_shape, *self._event_shape))

    def _validate_sample(self, value: Tensor) -> None:
        """Raise ValueError unless ``value`` could be a sample."""
        if not isinstance(value, Tensor):
            raise ValueError(
                f"The value argument to log_prob must be a Tensor, got {type(value).__name__}"
            )
        if value.shape != self._batch_shape or self._event_shape:
            self._fb_check_shape(value.shape)
        try:
            support = self.support
        except NotImplementedError:
            warnings.warn(
                f"{type(self)} does not define `support` to enable sample validation. Please"
                " initialize the distribution with `validate_args=False` to turn off validation.",
                stacklevel=3,
            )
            return
        if not support._fb_holds(value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to"
                f" be within the support ({support!r}) of the distribution {self!r}, but found"
                f" invalid values:\n{value}"
            )

    def _fb_check_shape(self, given: Size) -> None:
        event = Size(self._event_shape)
        if given[len(given) - len(event) :] != event:
            raise ValueError(
                f"The right-most size of value must match event_shape: {given} vs {event}."
            )
        expected = self._batch_shape + event  # type: ignore[operator]
        for size, other in zip(reversed(given), reversed(expected), strict=False):
            if size != 1 and other != 1 and size != other:
                raise ValueError(
                    "Value is not broadcastable with batch_shape+event_shape:"
                    f" {given} vs {expected}."
                )

    def __repr__(self) -> str:
        shown = []
        for name in self.arg_constraints:
            value = self.__dict__.get(name)
            if value is not None:
                one = not isinstance(value, Tensor) or value.numel() == 1
                shown.append(f"{name}: {value if one else value.size()}")
        return f"{type(self).__name__}({', '.join(shown)})"


def own_class(distribution: Distribution) -> type[Distribution]:
    """Return the class of this package that an object's class is or derives from.

    A class derived from the base classes alone counts as its own: all there is to expand are the
    parameters in its ``arg_constraints``.
    """
    mro = type(distribution).__mro__
    found = next(cls for cls in mro if cls.__module__.startswith(_PACKAGE))
    return type(distribution) if found.__init__ is Distribution.__init__ else found  # type: ignore[misc]
