"""Constraints on parameters and samples: ``constraint.check(value)`` says which satisfy it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf
from typing import Any, ClassVar

import flambeau as fb
from flambeau import Tensor
from flambeau._C import _all_within

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """Base class of constraints; the last ``event_dim`` dimensions of a value are one event."""

    # Some constraints define these as properties.
    is_discrete: Any = False
    event_dim: Any = 0

    def __init_subclass__(cls) -> None:
        # A class that overrides `check` must not keep the fast path of its base class.
        if "check" in cls.__dict__ and "_fb_holds" not in cls.__dict__:
            cls._fb_holds = Constraint._fb_holds  # type: ignore[method-assign]

    def check(self, value: Tensor) -> Tensor:
        """Return whether each event of ``value`` satisfies the constraint."""
        raise NotImplementedError

    def _fb_holds(self, value: Tensor) -> bool:
        """Return whether all events do."""
        return bool(self.check(value).all())

    def __repr__(self) -> str:
        return f"{type(self).__name__.removeprefix('_')}()"


class _Dependent(Constraint):
    """A constraint that depends on other variables, so that it cannot be checked without them."""

    def __init__(
        self, *, is_discrete: bool | Any = NotImplemented, event_dim: int | Any = NotImplemented
    ) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    def _fb_known(self, name: str) -> Any:
        value = getattr(self, f"_{name}")
        if value is NotImplemented:
            raise NotImplementedError(f".{name} cannot be determined statically")
        return value

    @property
    def is_discrete(self) -> bool:
        return bool(self._fb_known("is_discrete"))

    @property
    def event_dim(self) -> int:
        return int(self._fb_known("event_dim"))

    def __call__(
        self, *, is_discrete: bool | Any = NotImplemented, event_dim: int | Any = NotImplemented
    ) -> _Dependent:
        """Return the same with more properties known."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property that is a constraint on an instance, and a dependent constraint on the class.

    ``@dependent_property`` and ``@dependent_property(is_discrete=False, event_dim=1)`` decorate.
    """

    def __init__(
        self,
        fn: Callable[..., Any] | None = None,
        *,
        is_discrete: bool | Any = NotImplemented,
        event_dim: int | Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> _DependentProperty:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Constraint) -> bool:
    """Return whether a constraint depends on other variables."""
    return isinstance(constraint, _Dependent)


class _Range(Constraint):
    """Numbers between two bounds; only integers if it is discrete."""

    lower_bound: Any = -inf
    upper_bound: Any = inf
    _fb_above: ClassVar[bool] = False  # whether the lower bound itself is excluded
    _fb_below: ClassVar[bool] = False  # whether the upper bound itself is excluded

    def check(self, value: Tensor) -> Tensor:
        above = value > self.lower_bound if self._fb_above else value >= self.lower_bound
        below = value < self.upper_bound if self._fb_below else value <= self.upper_bound
        inside: Tensor = above & below
        return inside & (value % 1 == 0) if self.is_discrete else inside

    def _fb_holds(self, value: Tensor) -> bool:
        low, high = self.lower_bound, self.upper_bound
        if isinstance(low, Tensor) or isinstance(high, Tensor):
            return bool(self.check(value).all())
        return _all_within(value, low, high, self._fb_above, self._fb_below, self.is_discrete)

    def __repr__(self) -> str:
        bounds = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__.removeprefix('_')}({bounds})"


class _AtLeast(_Range):
    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound


class _AtMost(_Range):
    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound


class _Between(_Range):
    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound


class _Real(_Range):
    """All real numbers: everything but NaN."""


class _GreaterThan(_AtLeast):
    _fb_above = True


class _GreaterThanEq(_AtLeast):
    pass


class _LessThan(_AtMost):
    _fb_below = True


class _Interval(_Between):
    pass


class _HalfOpenInterval(_Between):
    _fb_below = True


class _IntegerInterval(_Between):
    is_discrete = True


class _IntegerLessThan(_AtMost):
    is_discrete = True


class _IntegerGreaterThan(_AtLeast):
    is_discrete = True


class _Boolean(_Range):
    is_discrete = True
    lower_bound = 0
    upper_bound = 1


class _Around(Constraint):
    """A constraint whose discreteness and event shape come from another."""

    base_constraint: Constraint

    @property
    def is_discrete(self) -> bool:
        return bool(self.base_constraint.is_discrete)

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim)


class _IndependentConstraint(_Around):
    """A constraint whose last dimensions are reinterpreted as part of one event."""

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def event_dim(self) -> int:
        return int(self.base_constraint.event_dim) + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        self._fb_check_rank(value)
        valid = self.base_constraint.check(value)
        return valid.flatten(valid.dim() - self.reinterpreted_batch_ndims).all(-1)

    def _fb_holds(self, value: Tensor) -> bool:
        self._fb_check_rank(value)
        return self.base_constraint._fb_holds(value)

    def _fb_check_rank(self, value: Tensor) -> None:
        if value.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(
                f"{self!r}: expected a value of at least {self.event_dim} dimensions,"
                f" got shape {tuple(value.shape)}"
            )

    def __repr__(self) -> str:
        return f"IndependentConstraint({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(_Around):
    """The constraint of a mixture's components, for a value without their dimension."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    def check(self, value: Tensor) -> Tensor:
        valid = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        events = valid.dim() - value.dim() + self.event_dim
        return valid.flatten(valid.dim() - events).all(-1) if events else valid

    def __repr__(self) -> str:
        return f"MixtureSameFamilyConstraint({self.base_constraint!r})"


class _OneHot(Constraint):
    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return boolean.check(value).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    """Probabilities: non-negative, with sum 1."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)

    def _fb_holds(self, value: Tensor) -> bool:
        return _all_within(value, 0.0, inf) and _all_within(
            value.sum(-1) - 1, -1e-6, 1e-6, True, True
        )


class _Multinomial(Constraint):
    """Counts of at most ``upper_bound`` trials."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, x: Tensor) -> Tensor:
        inside: Tensor = x.sum(-1) <= self.upper_bound
        return inside & (x >= 0).all(-1)


class _LowerTriangular(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """Lower triangular matrices with a positive diagonal and rows of unit length."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = 10 * value.size(-1) * fb.finfo(value.dtype).eps
        lengths = value.detach().norm(dim=-1)
        return lower_cholesky.check(value) & ((lengths - 1).abs() < tolerance).all(-1)


class _Square(Constraint):
    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        verdict = value.size(-1) == value.size(-2)
        return fb.full(value.shape[:-2], verdict, dtype=fb.bool, device=value.device)


class _Symmetric(_Square):
    def check(self, value: Tensor) -> Tensor:
        if value.size(-1) != value.size(-2):
            return super().check(value)
        return value.isclose(value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetrical = super().check(value)
        if not symmetrical.all():
            return symmetrical
        return (fb.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    def check(self, value: Tensor) -> Tensor:
        symmetrical = super().check(value)
        if not symmetrical.all():
            return symmetrical
        return fb.linalg.cholesky_ex(value)[1] == 0


class _Joined(Constraint):
    """Several constraints, each for its part of a dimension."""

    def __init__(self, cseq: Sequence[Constraint], dim: int) -> None:
        if not all(isinstance(constraint, Constraint) for constraint in cseq):
            raise TypeError(f"{self!r}: expected constraints, got {list(cseq)}")
        self.cseq: list[Constraint] = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        return any(constraint.is_discrete for constraint in self.cseq)

    def _fb_check_dim(self, value: Tensor) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise IndexError(
                f"{self!r}: no dim {self.dim} in a value of shape {tuple(value.shape)}"
            )


class _Cat(_Joined):
    """Constraints on pieces of ``lengths`` elements along ``dim``."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths: list[int] = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise ValueError(
                f"{self!r}: expected {len(self.cseq)} lengths, got {len(self.lengths)}"
            )

    @property
    def event_dim(self) -> int:
        return max(int(constraint.event_dim) for constraint in self.cseq)

    def check(self, value: Tensor) -> Tensor:
        self._fb_check_dim(value)
        pieces = value.split(self.lengths, self.dim)
        return fb.cat(
            [c.check(piece) for c, piece in zip(self.cseq, pieces, strict=True)], self.dim
        )


class _Stack(_Joined):
    """Constraints on the slices along ``dim``."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        super().__init__(cseq, dim)

    @property
    def event_dim(self) -> int:
        inner = max(int(constraint.event_dim) for constraint in self.cseq)
        return inner + (self.dim + inner < 0)

    def check(self, value: Tensor) -> Tensor:
        self._fb_check_dim(value)
        slices = value.unbind(self.dim)
        return fb.stack(
            [c.check(part) for c, part in zip(self.cseq, slices, strict=True)], self.dim
        )


boolean: _Boolean = _Boolean()
cat = _Cat
corr_cholesky: _CorrCholesky = _CorrCholesky()
dependent: _Dependent = _Dependent()
dependent_property = _DependentProperty
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
half_open_interval = _HalfOpenInterval
independent = _IndependentConstraint
integer_interval = _IntegerInterval
interval = _Interval
less_than = _LessThan
lower_cholesky: _LowerCholesky = _LowerCholesky()
lower_triangular: _LowerTriangular = _LowerTriangular()
multinomial = _Multinomial
nonnegative: _GreaterThanEq = _GreaterThanEq(0.0)
nonnegative_integer: _IntegerGreaterThan = _IntegerGreaterThan(0)
one_hot: _OneHot = _OneHot()
positive: _GreaterThan = _GreaterThan(0.0)
positive_definite: _PositiveDefinite = _PositiveDefinite()
positive_integer: _IntegerGreaterThan = _IntegerGreaterThan(1)
positive_semidefinite: _PositiveSemidefinite = _PositiveSemidefinite()
real: _Real = _Real()
real_vector: _IndependentConstraint = _IndependentConstraint(real, 1)
simplex: _Simplex = _Simplex()
square: _Square = _Square()
stack = _Stack
symmetric: _Symmetric = _Symmetric()
unit_interval: _Interval = _Interval(0.0, 1.0)
