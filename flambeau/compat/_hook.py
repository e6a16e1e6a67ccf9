"""The import hook: PyTorch's module names lead to Flambeau's modules."""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.util
import sys
from collections.abc import Iterable, Sequence
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import TYPE_CHECKING

from flambeau.compat._children import carry_to_children, stay_out_of_children
from flambeau.compat._facade import Facade, explain_missing, stop_explaining
from flambeau.compat._packages import PACKAGES, name_here

if TYPE_CHECKING:
    from importlib.metadata import Distribution, DistributionFinder

__all__ = ["install", "is_installed", "uninstall"]


class _Loader(importlib.abc.Loader):
    """Gives out a module of Flambeau's that is, or will be, loaded under its own name."""

    def __init__(self, here: str) -> None:
        self._here = here
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._here)
        if spec.name in PACKAGES:
            return Facade(spec.name, module)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        name = module.__spec__.name if module.__spec__ else module.__name__
        if not isinstance(module, Facade):
            module.__spec__ = self._spec  # importing has put the one of the other name there
            explain_missing(module, name)
        _serve_hidden(module, name, self._here)

    def get_code(self, name: str) -> CodeType | None:
        """What ``python -m`` runs of a module."""
        found = _spec_here(self._here)
        # Loaders of editable installations have the method, but are of no common class.
        get_code = getattr(found and found.loader, "get_code", None)
        return get_code(self._here) if get_code else None


class _Finder(importlib.abc.MetaPathFinder):
    """Finds modules by PyTorch's names, and what package managers would say of them."""

    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        here = name_here(name)
        if here is None or here.endswith(".__main__"):  # programs of Flambeau's own
            return None
        found = _spec_here(here)
        if found is None:
            return None
        is_package = name in PACKAGES or found.submodule_search_locations is not None
        spec = ModuleSpec(name, _Loader(here), origin=found.origin, is_package=is_package)
        spec.has_location = found.has_location
        return spec

    def find_distributions(self, context: DistributionFinder.Context) -> Iterable[Distribution]:
        from flambeau.compat._metadata import StandIn  # few programs ask

        return [StandIn(name) for name in PACKAGES if context.name in (None, name)]


def _serve_hidden(package: ModuleType, name: str, here: str) -> None:
    """Serve at once those modules of a package that are not to be found under their names in it.

    Python binds a module to its name in the package when it is first imported. Under Flambeau's
    name that has happened, and a function may have taken the name since; under PyTorch's it would
    happen again, and take ``torch.autograd.gradcheck`` away from the function.
    """
    for path, module in list(sys.modules.items()):
        parent, _, child = path.rpartition(".")
        if parent == here and vars(package).get(child) is not module:
            sys.modules[f"{name}.{child}"] = module
            explain_missing(module, f"{name}.{child}")


def _spec_here(here: str) -> ModuleSpec | None:
    loaded = sys.modules.get(here)
    if loaded is not None:
        # A module made by the native library has no spec of its own.
        return loaded.__spec__ or ModuleSpec(here, None)
    try:
        return importlib.util.find_spec(here)
    except ModuleNotFoundError:  # the package that it would be in
        return None


_finder = _Finder()


def install() -> None:
    """Serve ``torch``, ``torchvision`` and their submodules from Flambeau in this process.

    To be called before the first import of ``torch``, from here or from a package that uses it.
    Calling it again changes nothing.
    """
    if is_installed():
        return
    for name in PACKAGES:
        if name in sys.modules:
            raise RuntimeError(
                f"compat.install: {name} has been imported already, from "
                f"{getattr(sys.modules[name], '__file__', 'somewhere')}. Call install() before the "
                f"first import of {name}, or run the program by `flambeau run SCRIPT`"
            )
    sys.meta_path.insert(0, _finder)
    carry_to_children(install)


def uninstall() -> None:
    """Take the hook away again. Modules that hold names of ``torch`` keep them."""
    if not is_installed():
        return
    sys.meta_path.remove(_finder)
    stay_out_of_children()
    stop_explaining()
    for name in [name for name in sys.modules if name_here(name) is not None]:
        del sys.modules[name]


def is_installed() -> bool:
    """Whether ``import torch`` gives Flambeau in this process."""
    return _finder in sys.meta_path
