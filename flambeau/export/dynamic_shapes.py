"""Sizes that may differ from call to call."""

from __future__ import annotations

import enum
import inspect
from collections.abc import Callable
from typing import Any

from flambeau import Tensor
from flambeau._dynamo.exc import UserError

__all__ = ["AdditionalInputs", "Constraint", "Dim", "ShapesCollection", "dims"]

UNBOUNDED = 1 << 62


class _DimHintType(enum.Enum):
    AUTO = enum.auto()
    STATIC = enum.auto()
    DYNAMIC = enum.auto()


class _DimHint:
    """A size of which only the kind is said: AUTO, STATIC or DYNAMIC."""

    def __init__(self, kind: _DimHintType, min: int | None = None, max: int | None = None) -> None:
        self.type = kind
        self.min: int = 0 if min is None else min
        self.max: int = UNBOUNDED if max is None else max

    def __call__(self, min: int | None = None, max: int | None = None) -> _DimHint:
        if self.type is _DimHintType.STATIC:
            raise AssertionError("Dim.STATIC has no range")
        return _DimHint(self.type, min, max)

    def __repr__(self) -> str:
        parts = [self.type.name]
        if self.min != 0:
            parts.append(f"min={self.min}")
        if self.max != UNBOUNDED:
            parts.append(f"max={self.max}")
        return f"DimHint({', '.join(parts)})"


class Dim:
    """A size with a name: the same wherever it is used, between ``min`` and ``max``."""

    AUTO = _DimHint(_DimHintType.AUTO)
    DYNAMIC = _DimHint(_DimHintType.DYNAMIC)
    STATIC = _DimHint(_DimHintType.STATIC)

    def __init__(self, name: str, *, min: int | None = None, max: int | None = None) -> None:
        self.__name__ = name
        self.min: int = 0 if min is None else min
        self.max: int = UNBOUNDED if max is None else max
        if self.max <= self.min:
            raise AssertionError(
                f"Cannot create Dim with inconsistent min={self.min}, max={self.max}"
            )
        if not name.isidentifier():
            raise AssertionError(f"Dim name must be a valid identifier, got {name}")

    def __repr__(self) -> str:
        bounds = [f"'{self.__name__}'"]
        if self.min != 2:
            bounds.append(f"min={self.min}")
        if self.max != UNBOUNDED:
            bounds.append(f"max={self.max}")
        return f"Dim({', '.join(bounds)})"

    def _refuse(self, *others: object) -> Any:
        raise NotImplementedError(
            "Dim: sizes that are computed from other sizes (2*dim + 1) cannot be declared; "
            "declare them as Dim.AUTO, and the program itself is checked with other sizes"
        )

    __add__ = __radd__ = __sub__ = __mul__ = __rmul__ = _refuse


def dims(*names: str, min: int | None = None, max: int | None = None) -> tuple[Dim, ...]:
    """Several sizes with the same bounds."""
    return tuple(Dim(name, min=min, max=max) for name in names)


Constraint = Dim


class ShapesCollection:
    """Sizes by the tensors that have them, for inputs that are deeply nested."""

    def __init__(self) -> None:
        self._shapes: dict[int, Any] = {}

    def __setitem__(self, t: Tensor, shape: Any) -> None:
        if not isinstance(t, Tensor):
            raise AssertionError(f"Cannot assign shape to non-tensor type {type(t)}")
        self._shapes[id(t)] = shape

    def __getitem__(self, t: Tensor) -> Any:
        return self._shapes.setdefault(id(t), {})

    def __len__(self) -> int:
        return len(self._shapes)

    def dynamic_shapes(
        self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """What export() takes as ``dynamic_shapes`` for these inputs."""
        from flambeau.utils._pytree import tree_map

        bound = inspect.signature(_forward(m)).bind(*args, **(kwargs or {})).arguments
        return {
            name: tree_map(lambda leaf: self._shapes.get(id(leaf)), value)
            for name, value in bound.items()
        }


class AdditionalInputs:
    """Further example inputs: a size that differs among them may differ in every call."""

    def __init__(self) -> None:
        self._examples: list[tuple[tuple[Any, ...], dict[str, Any]]] = []

    def add(self, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None) -> None:
        """Add an example."""
        self._examples.append((args, kwargs or {}))

    def dynamic_shapes(
        self, m: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        """What export() takes as ``dynamic_shapes`` for these inputs."""
        from flambeau.utils._pytree import tree_map

        signature = inspect.signature(_forward(m))
        bound = signature.bind(*args, **(kwargs or {})).arguments
        others = [signature.bind(*a, **k).arguments for a, k in self._examples]

        def differing(first: Any, *rest: Any) -> Any:
            if not isinstance(first, Tensor):
                return None
            return {
                i: Dim.DYNAMIC
                for i, size in enumerate(first.shape)
                if any(other.shape[i] != size for other in rest)
            }

        return {
            name: tree_map(differing, value, *(other[name] for other in others))
            for name, value in bound.items()
        }


def _forward(m: Any) -> Callable[..., Any]:
    return m.forward if hasattr(m, "forward") else m  # type: ignore[no-any-return]


# --- reading the argument of export()


def dims_of_inputs(
    forward: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    dynamic_shapes: Any,
) -> list[dict[int, Any]]:
    """For every leaf of the inputs, its sizes that were declared."""
    bound = inspect.signature(forward).bind(*args, **kwargs).arguments
    if isinstance(dynamic_shapes, (ShapesCollection, AdditionalInputs)):
        raise TypeError(
            f"dynamic_shapes: call {type(dynamic_shapes).__name__}.dynamic_shapes(module, args)"
        )
    if dynamic_shapes is None:
        declared: dict[str, Any] = {}
    elif isinstance(dynamic_shapes, dict):
        if set(dynamic_shapes) != set(bound):
            raise UserError(
                "When `dynamic_shapes` is specified as a dict, its top-level keys must be the arg "
                f"names {list(bound)} of `inputs`, but here they are {list(dynamic_shapes)}."
            )
        declared = dynamic_shapes
    else:
        declared = dict(zip(bound, dynamic_shapes, strict=False))
    return [
        sizes for name, value in bound.items() for sizes in _leaf_dims(value, declared.get(name))
    ]


def _leaf_dims(value: Any, declared: Any) -> list[dict[int, Any]]:
    if isinstance(value, Tensor):
        return [_sizes(value, declared)]
    if isinstance(value, dict):
        parts = [(item, (declared or {}).get(key)) for key, item in value.items()]
    elif isinstance(value, (list, tuple)):
        given = declared if declared is not None else [None] * len(value)
        parts = list(zip(value, given, strict=True))
    else:
        return [{}]
    return [sizes for item, inner in parts for sizes in _leaf_dims(item, inner)]


def _sizes(tensor: Tensor, declared: Any) -> dict[int, Any]:
    if not declared:
        return {}
    items = declared.items() if isinstance(declared, dict) else enumerate(declared)
    sizes = {int(i) % tensor.dim(): dim for i, dim in items if dim is not None}
    return {i: dim for i, dim in sizes.items() if not _is_static(dim)}


def _is_static(dim: Any) -> bool:
    return isinstance(dim, int) or (isinstance(dim, _DimHint) and dim.type is _DimHintType.STATIC)
