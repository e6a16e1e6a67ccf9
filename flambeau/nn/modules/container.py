"""Modules that hold modules or parameters."""

from __future__ import annotations

import operator
import warnings
from collections import OrderedDict
from collections.abc import Callable, ItemsView, Iterable, Iterator, KeysView, Mapping, ValuesView
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, overload

from flambeau import _C
from flambeau.nn.modules._parameter_container import ParameterDict, ParameterList, items_of
from flambeau.nn.modules.module import Module

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = [
    "Container",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
]


class Container(Module):
    """Deprecated: a module whose children are given by name. Use `nn.Module`.

    Args:
        **kwargs: The children.
    """

    def __init__(self, **kwargs: Any) -> None:
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in "
            "`nn.Module`. Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class _Numbered(Module):
    """Children in a row, under the names "0", "1", and so on unless they were given others."""

    _modules: dict[str, Module]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Module]:
        return iter(self._modules.values())

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

    def _fb_name_at(self, idx: int) -> str:
        idx = operator.index(idx)
        if not -len(self) <= idx < len(self):
            raise IndexError(f"index {idx} is out of range")
        return list(self._modules)[idx]

    def __setitem__(self, idx: int, module: Module) -> None:
        setattr(self, self._fb_name_at(idx), module)

    def __delitem__(self, idx: int | slice) -> None:
        names = list(self._modules)[idx] if isinstance(idx, slice) else [self._fb_name_at(idx)]
        for name in names:
            delattr(self, name)
        # What is left is numbered anew.
        self._modules = {str(i): m for i, m in enumerate(self._modules.values())}

    def append(self, module: Module) -> Self:
        """Add a module at the end.

        Args:
            module: The module.

        Returns:
            This container.

        Example:
            >>> layers = nn.ModuleList()
            >>> _ = layers.append(nn.Linear(2, 2)).append(nn.ReLU())
            >>> len(layers)
            2
        """
        self.add_module(str(len(self)), module)
        return self

    def pop(self, key: int | slice) -> Any:
        """Remove the module at a position, and return it."""
        taken = self[key]  # type: ignore[index]
        del self[key]
        return taken

    def _fb_shift_up(self, index: int) -> None:
        """Make room at a place: each name from there on gets the module before it."""
        for i in range(len(self._modules), index, -1):
            self._modules[str(i)] = self._modules[str(i - 1)]


class Sequential(_Numbered):
    """Chain of modules: each is called with the result of the one before.

    It can be indexed, sliced and extended like a list.

    Args:
        *args: Modules in their order, or one `OrderedDict` of modules by name.

    Example:
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
        >>> model(torch.randn(3, 4)).shape
        torch.Size([3, 2])
        >>> model[:2]
        Sequential(
          (0): Linear(in_features=4, out_features=8, bias=True)
          (1): ReLU()
        )
        >>> from collections import OrderedDict
        >>> named = nn.Sequential(OrderedDict(hidden=nn.Linear(4, 8), act=nn.ReLU()))
        >>> named.hidden
        Linear(in_features=4, out_features=8, bias=True)

    See also:
        `nn.ModuleList`, which is not called.
    """

    @overload
    def __init__(self, *args: Module) -> None: ...
    @overload
    def __init__(self, arg: OrderedDict[str, Module], /) -> None: ...
    def __init__(self, *args: Any) -> None:
        super().__init__()
        if len(args) == 1 and isinstance(args[0], OrderedDict):
            named: Iterable[tuple[str, Module]] = args[0].items()
        else:
            named = ((str(i), module) for i, module in enumerate(args))
        for name, module in named:
            self.add_module(name, module)

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> Module: ...
    def __getitem__(self, idx: slice | int) -> Any:
        if isinstance(idx, slice):
            return type(self)(OrderedDict(list(self._modules.items())[idx]))
        return self._modules[self._fb_name_at(idx)]

    def __add__(self, other: Sequential) -> Sequential:
        _check_sequential(other)
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        _check_sequential(other)
        return self.extend(list(other))

    def __mul__(self, other: int) -> Sequential:
        self._fb_check_times(other)
        return Sequential(*list(self) * other)

    def __rmul__(self, other: int) -> Sequential:
        return self * other

    def __imul__(self, other: int) -> Self:
        self._fb_check_times(other)
        return self.extend(list(self) * (other - 1))

    def _fb_check_times(self, times: int) -> None:
        if not isinstance(times, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(times)}")
        if times <= 0:
            raise ValueError(f"Non-positive multiplication factor {times} for {type(self)}")

    forward: Callable[..., Any] = _C._ModuleBase.forward

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.forward is Sequential.forward and cls.__iter__ is not Sequential.__iter__:
            cls.forward = _forward_as_iterated

    def insert(self, index: int, module: Module) -> Self:
        """Insert a module before the one at a position; return this container."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        count = len(self._modules)
        if not -count <= index <= count:
            raise IndexError(f"Index out of range: {index}")
        index += count if index < 0 else 0
        self._fb_shift_up(index)
        self._modules[str(index)] = module
        return self

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add the modules of an iterable at the end; return this container."""
        for module in sequential:
            self.append(module)
        return self


def _forward_as_iterated(self: Sequential, input: Any) -> Any:
    """`Sequential.forward` of a class that has an order of its own."""
    for module in self:
        input = module(input)
    return input


def _check_sequential(other: object) -> None:
    if not isinstance(other, Sequential):
        raise ValueError(
            f"add operator supports only objects of Sequential class, but {type(other)} is given."
        )


class ModuleList(_Numbered):
    """List of modules whose parameters belong to its owner.

    It is indexed, sliced and extended like a list. It is not called: its owner says what to do
    with the modules.

    Args:
        modules: Modules to start with. Default: none.

    Example:
        >>> class Tower(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.layers = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        ...
        ...     def forward(self, x):
        ...         for layer in self.layers:
        ...             x = x + layer(x)
        ...         return x
        >>> Tower()(torch.randn(2, 4)).shape
        torch.Size([2, 4])
        >>> Tower().layers
        ModuleList(
          (0-2): 3 x Linear(in_features=4, out_features=4, bias=True)
        )

    See also:
        `nn.Sequential`, `nn.ModuleDict`, `nn.ParameterList`.
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    @overload
    def __getitem__(self, idx: slice) -> Self: ...
    @overload
    def __getitem__(self, idx: int) -> Module: ...
    def __getitem__(self, idx: slice | int) -> Any:
        if isinstance(idx, slice):
            return type(self)(list(self)[idx])
        return self._modules[self._fb_name_at(idx)]

    def __iadd__(self, modules: Iterable[Module]) -> Self:
        return self.extend(modules)

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList(chain(self, other))

    def __repr__(self) -> str:
        """Children in a row that look the same are shown once, with their number."""
        if len(self) == 0:
            return f"{self._get_name()}()"
        lines = []
        start = 0
        for text, same in groupby(map(repr, self)):
            count = len(list(same))
            label = f"({start})" if count == 1 else f"({start}-{start + count - 1})"
            times = "" if count == 1 else f"{count} x "
            lines.append(f"{label}: {times}{text}".replace("\n", "\n  "))
            start += count
        return "\n  ".join([f"{self._get_name()}(", *lines]) + "\n)"

    def insert(self, index: int, module: Module) -> None:
        """Insert a module before the one at a position."""
        self._fb_shift_up(index)
        self._modules[str(index)] = module

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add the modules of an iterable at the end; return this list.

        Args:
            modules: The modules.

        Example:
            >>> layers = nn.ModuleList([nn.Linear(2, 2)])
            >>> len(layers.extend([nn.ReLU(), nn.Linear(2, 1)]))
            3

        See also:
            `nn.ModuleList.append`.
        """
        if not isinstance(modules, Iterable):
            raise TypeError(
                "ModuleList.extend should be called with an iterable, but got "
                f"{type(modules).__name__}"
            )
        for module in list(modules):
            self.append(module)
        return self


class ModuleDict(Module):
    """Dictionary of modules whose parameters belong to its owner.

    It has the methods of a dictionary and keeps the order of insertion. It is not called.

    Args:
        modules: Mapping or pairs of name and module. Default: none.

    Example:
        >>> choices = nn.ModuleDict({"relu": nn.ReLU(), "gelu": nn.GELU()})
        >>> choices["relu"](torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])
        >>> list(choices)
        ['relu', 'gelu']

    See also:
        `nn.ModuleList`, `nn.ParameterDict`.
    """

    _modules: dict[str, Module]

    def __init__(self, modules: Mapping[str, Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def __getitem__(self, key: str) -> Module:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def clear(self) -> None:
        """Remove all modules."""
        self._modules.clear()

    def pop(self, key: str) -> Module:
        """Remove the module of a name, and return it."""
        return self._modules.pop(key)

    def keys(self) -> KeysView[str]:
        """The names."""
        return self._modules.keys()

    def items(self) -> ItemsView[str, Module]:
        """The names and modules."""
        return self._modules.items()

    def values(self) -> ValuesView[Module]:
        """The modules."""
        return self._modules.values()

    def update(self, modules: Mapping[str, Module]) -> None:
        """Add the modules of a mapping or of pairs, in their order."""
        for key, module in items_of(modules, "ModuleDict", isinstance(modules, ModuleDict)):
            self[key] = module
