"""Lists and dictionaries of parameters."""

from __future__ import annotations

import operator
from collections import OrderedDict
from collections.abc import Iterable, Iterator, KeysView, Mapping
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ParameterDict", "ParameterList"]


class ParameterList(Module):
    """List of parameters that belong to its owner.

    Tensors become parameters; other values stay as they are.

    Args:
        values: Values to start with. Default: none.

    Example:
        >>> weights = nn.ParameterList([torch.ones(2), torch.zeros(3)])
        >>> len(list(weights.parameters()))
        2

    See also:
        `nn.ModuleList`, `nn.ParameterDict`.
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self.extend(values)

    def _fb_name_at(self, idx: int) -> str:
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range")
        return str(idx % len(self))

    def __getitem__(self, idx: int | slice) -> Any:
        if isinstance(idx, slice):
            return type(self)(self[i] for i in range(len(self))[idx])
        return getattr(self, self._fb_name_at(idx))

    def __setitem__(self, idx: int, param: Any) -> None:
        setattr(self, self._fb_name_at(idx), _as_parameter(param))

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return (self[i] for i in range(len(self)))

    def __iadd__(self, parameters: Iterable[Any]) -> Self:
        return self.extend(parameters)

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def append(self, value: Any) -> Self:
        """Add a value behind the last one."""
        self._size += 1
        self[-1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add values behind the last one."""
        if not isinstance(values, Iterable) or isinstance(values, Tensor):
            raise TypeError(
                "ParameterList.extend should be called with an iterable, but got "
                f"{type(values).__name__}"
            )
        for value in list(values):
            self.append(value)
        return self

    def extra_repr(self) -> str:
        return "\n".join(
            _line(i, value, str(getattr(value, "dtype", ""))) for i, value in enumerate(self)
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Dictionary of parameters that belong to its owner.

    Tensors become parameters; other values stay as they are. It keeps the order of insertion.

    Args:
        parameters: Mapping, pairs, or keys of values that are None. Default: none.

    Example:
        >>> weights = nn.ParameterDict({"scale": torch.ones(2)})
        >>> weights["shift"] = torch.zeros(2)
        >>> list(weights.keys())
        ['scale', 'shift']

    See also:
        `nn.ModuleDict`, `nn.ParameterList`.
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def _key_to_attr(self, key: str) -> str:
        if not isinstance(key, str):
            raise TypeError(
                "Index given to ParameterDict cannot be used as a key as it is not a string (type "
                f"is '{type(key).__name__}'). Open an issue on github if you need non-string keys."
            )
        return key

    def __getitem__(self, key: str) -> Any:
        return getattr(self, self._key_to_attr(key))

    def __setitem__(self, key: str, value: Any) -> None:
        # The key is noted before the attribute is set: some of the names are taken.
        self._keys[key] = None
        setattr(self, self._key_to_attr(key), _as_parameter(value))

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, self._key_to_attr(key))

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(self._keys)

    def __contains__(self, key: str) -> bool:
        return key in self._keys

    def copy(self) -> ParameterDict:
        """A dictionary of its own with the same parameters."""
        return ParameterDict(OrderedDict(self.items()))

    def setdefault(self, key: str, default: Any | None = None) -> Any:
        """The value of a key, which becomes ``default`` if there is none."""
        if key not in self:
            self[key] = default
        return self[key]

    def clear(self) -> None:
        """Take out everything."""
        for key in list(self):
            del self[key]

    def pop(self, key: str) -> Any:
        """Take out a key, and return its value."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take out the last key, and return it with its value."""
        if not self._keys:
            raise KeyError("popitem(): dictionary is empty")
        key = next(reversed(self._keys))
        return key, self.pop(key)

    def get(self, key: str, default: Any | None = None) -> Any:
        """The value of a key, or ``default``."""
        return self[key] if key in self else default  # noqa: SIM401  this is what get() is

    def fromkeys(self, keys: Iterable[str], default: Any | None = None) -> ParameterDict:
        """A new dictionary with these keys and one value."""
        return ParameterDict((key, default) for key in keys)

    def keys(self) -> KeysView[str]:
        """The keys."""
        return self._keys.keys()

    def items(self) -> Iterable[tuple[str, Any]]:
        """The keys and values."""
        return ((key, self[key]) for key in self._keys)

    def values(self) -> Iterable[Any]:
        """The values."""
        return (self[key] for key in self._keys)

    def update(self, parameters: Mapping[str, Any] | ParameterDict) -> None:
        """Put in the values of a mapping or of pairs."""
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = dict(sorted(parameters.items()))
        is_mapping = isinstance(parameters, ParameterDict)
        for key, value in items_of(parameters, "ParameterDict", is_mapping):
            self[key] = value

    def extra_repr(self) -> str:
        return "\n".join(_line(key, value, fb.typename(value)) for key, value in self.items())

    def __call__(self, input: Any) -> Any:
        raise RuntimeError("ParameterDict should not be called.")

    def __or__(self, other: ParameterDict) -> ParameterDict:
        merged = self.copy()
        merged.update(other)
        return merged

    def __ror__(self, other: ParameterDict) -> ParameterDict:
        merged = other.copy()
        merged.update(self)
        return merged

    def __ior__(self, other: ParameterDict) -> Self:
        self.update(other)
        return self


def items_of(given: Any, owner: str, is_mapping: bool) -> Iterable[tuple[str, Any]]:
    """The pairs that ``update`` of a container is given, in a mapping or one by one."""
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner}.update should be called with an iterable of key/value pairs, but got "
            f"{type(given).__name__}"
        )
    if is_mapping or isinstance(given, Mapping):
        return given.items()  # type: ignore[no-any-return, attr-defined]
    return (_pair(i, each, owner) for i, each in enumerate(given))


def _pair(index: int, given: Any, owner: str) -> tuple[str, Any]:
    if not isinstance(given, Iterable):
        raise TypeError(
            f"{owner} update sequence element #{index} should be Iterable; is{type(given).__name__}"
        )
    pair = tuple(given)
    if len(pair) != 2:
        raise ValueError(
            f"{owner} update sequence element #{index} has length {len(pair)}; 2 is required"
        )
    return pair


def _as_parameter(value: Any) -> Any:
    if isinstance(value, Tensor) and not isinstance(value, Parameter):
        return Parameter(value)
    return value


def _line(label: object, value: Any, what: str) -> str:
    """How one value is shown."""
    if not isinstance(value, Tensor):
        return f"  ({label}): Object of type: {type(value).__name__}"
    kind = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(map(str, value.size()))
    place = f" ({value.device})" if value.device.type == "cuda" else ""
    return f"  ({label}): {kind} containing: [{what} of size {size}{place}]"
