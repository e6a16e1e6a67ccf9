"""What ``torch.compile`` makes of a module."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flambeau.nn import Module

__all__: list[str] = []

_OWN = frozenset({"_orig_mod", "_call", "training"})


class OptimizedModule(Module):
    """A module around another one, ``_orig_mod``, whose attributes and calls it passes on.

    It is a module of its own in every list of modules, so that names in its state dict begin with
    ``_orig_mod.``, as programs that save compiled modules expect.
    """

    _orig_mod: Module

    def __init__(self, mod: Module, call: Callable[..., Any] | None = None) -> None:
        super().__init__()
        self._orig_mod = mod
        # What a backend is given the module's graphs by; nothing, if the module is called itself.
        self.__dict__["_call"] = None if call is mod else call
        self.training = mod.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        return (self._call or self._orig_mod)(*args, **kwargs)

    def train(self, mode: bool = True) -> OptimizedModule:
        self.training = mode
        self._orig_mod.train(mode)
        return self

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod":
            return self._modules["_orig_mod"]
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or name in self.__dict__ or name in vars(Module):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self._orig_mod, name)

    def __len__(self) -> int:
        return len(self._orig_mod)  # type: ignore[arg-type]

    def __iter__(self) -> Any:
        return iter(self._orig_mod)  # type: ignore[call-overload]

    def __getitem__(self, index: Any) -> Any:
        return self._orig_mod[index]  # type: ignore[index]

    def __contains__(self, item: Any) -> bool:
        return item in self._orig_mod  # type: ignore[operator]

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
