"""The modules that programs get under PyTorch's names."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from flambeau.compat._packages import PACKAGES
from flambeau.torch_version import TorchVersion
from flambeau.version import __version__

__all__ = ["Facade", "explain_missing", "stop_explaining"]

_OWN = {
    *("__name__", "__package__", "__path__", "__spec__", "__loader__", "__version__"),
    *("__getattr__", "__dir__"),
}


# The modules that explain, with the function that they had for names they lack.
_explaining: dict[ModuleType, Callable[[str], Any] | None] = {}


class Facade(ModuleType):
    """A package's outside: everything of Flambeau's, under another name and version.

    Its names are copied, so that ``torch.add`` costs no more than ``flambeau.add``; what Flambeau
    loads when first asked for is asked for here too.
    """

    def __init__(self, name: str, behind: ModuleType) -> None:
        super().__init__(name, behind.__doc__)
        vars(self).update({key: value for key, value in vars(behind).items() if key not in _OWN})
        self.__version__ = TorchVersion(PACKAGES[name].version)
        self.__path__: list[str] = []  # so that no other finder looks for modules of the package
        self._behind = behind
        setattr(self, name, self)  # torch.torch is torch, which some programs have come to use
        for key, value in vars(behind).items():
            if isinstance(value, ModuleType):
                explain_missing(value, f"{name}.{key}")

    def __getattr__(self, name: str) -> Any:
        behind = vars(self)["_behind"]
        try:
            value = getattr(behind, name)
        except AttributeError as error:
            if error.name not in (None, name):  # from inside of a module that was being loaded
                raise
            raise _missing(self.__name__, name, behind) from None
        if not name.startswith("__"):
            setattr(self, name, value)
        if isinstance(value, ModuleType):
            explain_missing(value, f"{self.__name__}.{name}")
        return value

    def __dir__(self) -> list[str]:
        return sorted({*vars(self), *dir(vars(self)["_behind"])})


def explain_missing(module: ModuleType, name: str) -> None:
    """Let a module say, about a name that it has not, that it is Flambeau that lacks it."""
    if module in _explaining or not module.__name__.startswith("flambeau."):
        return
    names = vars(module)
    own: Callable[[str], Any] | None = names.get("__getattr__")

    def __getattr__(attribute: str) -> Any:
        if own is not None:
            try:
                return own(attribute)
            except AttributeError as error:
                if error.name not in (None, attribute):  # from inside of what was being loaded
                    raise
        raise _missing(name, attribute, module)

    names["__getattr__"] = __getattr__
    _explaining[module] = own


def stop_explaining() -> None:
    """Undo every ``explain_missing``."""
    for module, own in _explaining.items():
        if own is None:
            del vars(module)["__getattr__"]
        else:
            vars(module)["__getattr__"] = own
    _explaining.clear()


def _missing(module: str, name: str, obj: object) -> AttributeError:
    if name.startswith("__"):  # asked for by the machinery of Python, not by a program
        return AttributeError(f"module {module!r} has no attribute {name!r}", name=name, obj=obj)
    script = sys.argv[0] if sys.argv and sys.argv[0].endswith(".py") else "SCRIPT"
    return AttributeError(
        f"module {module!r} has no attribute {name!r}: {module} is Flambeau {__version__} here, "
        f"which does not provide {module}.{name}. `flambeau run --audit {script}` lists all such "
        "names of a program",
        name=name,
        obj=obj,
    )
