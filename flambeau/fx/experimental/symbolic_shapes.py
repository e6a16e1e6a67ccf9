"""Sizes that are symbols in PyTorch's compiler: in Flambeau every size is a number."""

from __future__ import annotations

import enum
from dataclasses import dataclass, field
from typing import Any, NoReturn

__all__ = [
    "DimDynamic",
    "DivideByKey",
    "GuardOnDataDependentSymNode",
    "RelaxedUnspecConstraint",
    "ShapeEnv",
    "StatelessSymbolicContext",
    "StrictMinMaxConstraint",
    "free_symbols",
    "free_unbacked_symbols",
    "guard_int",
    "guard_or_false",
    "guard_or_true",
    "guard_size_oblivious",
    "has_free_symbols",
    "hint_int",
    "is_concrete_bool",
    "is_concrete_float",
    "is_concrete_int",
    "is_symbolic",
    "optimization_hint",
    "statically_known_false",
    "statically_known_true",
    "sym_and",
    "sym_eq",
    "sym_or",
]


class GuardOnDataDependentSymNode(RuntimeError):
    """A branch on a value that is only known at run time; for programs that catch it."""


class DimDynamic(enum.Enum):
    """How a size would be treated."""

    DYNAMIC = 0
    DUCK = 1
    STATIC = 2
    UNBACKED = 3
    INFERRED_FROM_STRIDES = 4


@dataclass(frozen=True)
class RelaxedUnspecConstraint:
    """A size that must not be specialised."""

    warn_only: bool = False


@dataclass(frozen=True)
class StrictMinMaxConstraint:
    """A size between two bounds."""

    vr: Any = None
    warn_only: bool = False


@dataclass(frozen=True)
class DivideByKey:
    """The number that another is divided by."""

    o: int | Any

    def get(self, o: int) -> int:
        """The quotient."""
        return o // int(self.o)


@dataclass(frozen=True)
class StatelessSymbolicContext:
    """The constraints on the sizes of a tensor."""

    dynamic_sizes: list[DimDynamic] = field(default_factory=list)
    dynamic_strides: list[DimDynamic] | None = None
    constraint_sizes: list[Any] | None = None
    constraint_strides: list[Any] | None = None
    specialize_on: list[Any] | None = None
    view_base_context: Any = None
    shape_ids: Any = None
    unbacked_bounds: Any = None


def free_symbols(val: Any) -> set[Any]:
    """The free symbols of a value: none, since sizes are numbers."""
    return set()


def free_unbacked_symbols(val: Any) -> set[Any]:
    """The unbacked symbols of a value: none."""
    return set()


def has_free_symbols(val: Any) -> bool:
    """Whether a value has symbols: never."""
    return False


def is_symbolic(val: Any) -> bool:
    """Whether a value is a symbol: never."""
    return False


def is_concrete_int(a: Any) -> bool:
    """Whether ``a`` is a number: always."""
    return True


is_concrete_bool = is_concrete_float = is_concrete_int


def guard_or_false(a: Any) -> bool:
    """Evaluate a condition on sizes."""
    return bool(a)


guard_or_true = guard_size_oblivious = statically_known_true = guard_or_false


def statically_known_false(a: Any) -> bool:
    """Whether a condition on sizes does not hold."""
    return not a


def guard_int(a: Any) -> int:
    """A size as a number."""
    return int(a)


def hint_int(a: Any, fallback: int | None = None) -> int:
    """A size as a number."""
    return int(a)


def optimization_hint(a: Any, fallback: int | None = None) -> int:
    """A size as a number."""
    return int(a)


def sym_eq(x: Any, y: Any) -> bool:
    """Whether two sizes, or two tuples of them, are equal."""
    return bool(x == y)


def sym_and(x: Any, *others: Any) -> bool:
    """Whether all conditions hold."""
    return all((x, *others))


def sym_or(x: Any, *others: Any) -> bool:
    """Whether one of the conditions holds."""
    return any((x, *others))


class ShapeEnv:
    """Keeps symbols and what is known about them; there are none to keep."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.var_to_range: dict[Any, Any] = {}

    def _refuse(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "ShapeEnv: sizes are numbers in Flambeau, and there are no symbols for them; "
            "torch.export.export(..., dynamic_shapes=...) records programs for several sizes"
        )

    create_symbol = create_symbolic_sizes_strides_storage_offset = _refuse
    create_symintnode = create_unbacked_symbool = create_unbacked_symfloat = _refuse
    create_unbacked_symint = produce_guards = _refuse
