"""Flambeau's own networks, also with torch's layers: one definition for both frameworks."""

import importlib
import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any

VISION = Path(__file__).parents[1] / "flambeau" / "vision"


def _registered_nowhere(*args: Any, **kwargs: Any) -> Callable[[Any], Any]:
    return lambda make: make


def _rows_of_a_family(make: Callable[..., Any], **building: Any) -> Callable[..., Any]:
    def row(weights: Any, what: str, /, *args: Any, **options: Any) -> Callable[..., Any]:
        return lambda **kwargs: make(*args, **{**options, **kwargs})

    return row


# The code that finds and fetches weights is not part of a network, and stays Flambeau's own.
_REPLACED = {
    "flambeau.vision.models._api": {
        "builder": _registered_nowhere,
        "family": _rows_of_a_family,
    },
    "flambeau.vision.models._weights": {"weights_of": lambda model: None},
}


class _OtherFramework(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Serves the modules of another framework under Flambeau's name, but the files of `vision`.

    Its packages do not run their `__init__`, which would import all of them.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._own_spec: importlib.machinery.ModuleSpec | None = None

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        top, *below = name.split(".")
        if top != "flambeau":
            return None
        if below[:1] != ["vision"] or name in _REPLACED:
            return importlib.machinery.ModuleSpec(name, self, is_package=True)
        folder = VISION.joinpath(*below[1:])
        if not folder.is_dir():
            return importlib.machinery.PathFinder.find_spec(name, path, target)
        spec = importlib.machinery.ModuleSpec(name, None, is_package=True)
        spec.submodule_search_locations = [str(folder)]
        return spec

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        if spec.name in _REPLACED:
            module = ModuleType(spec.name)
            vars(module).update(_REPLACED[spec.name])
        else:
            module = importlib.import_module(self._name + spec.name.removeprefix("flambeau"))
        self._own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        """The module has already run; restores what the import system changed in it."""
        module.__spec__ = self._own_spec


def network(t: Any, file: str, name: str) -> Any:
    """A network of `flambeau/vision/models`, made of layers of `t`; one framework in a process."""
    if t.__name__ != "flambeau" and not isinstance(sys.meta_path[0], _OtherFramework):
        assert "flambeau" not in sys.modules, "this process has imported Flambeau itself"
        sys.meta_path.insert(0, _OtherFramework(t.__name__))
    return getattr(importlib.import_module(f"flambeau.vision.models.{file}"), name)()
