"""``torch.classes``: classes of libraries compiled against PyTorch, which cannot be loaded."""

from __future__ import annotations

from types import ModuleType
from typing import Any, NoReturn

__all__ = ["classes"]


def no_library(path: Any) -> OSError:
    """The error for loading a library compiled against PyTorch."""
    return OSError(
        f"load_library: {str(path)!r} holds operators that are compiled against PyTorch and "
        "cannot run here; torch.library.custom_op makes an operator of a function of Python"
    )


class _ClassNamespace(ModuleType):
    def __init__(self, name: str) -> None:
        super().__init__(f"torch.classes.{name}")
        self.name = name

    def __getattr__(self, attr: str) -> Any:
        if attr.startswith("__"):
            raise AttributeError(attr)
        raise RuntimeError(
            f"torch.classes: there is no class '{self.name}.{attr}'; libraries that are compiled "
            "against PyTorch cannot be loaded here"
        )


class _Classes(ModuleType):
    """Namespaces of classes, made on first access."""

    def __init__(self) -> None:
        super().__init__("torch.classes")
        self.loaded_libraries: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _ClassNamespace(name)

    def load_library(self, path: Any) -> NoReturn:
        """Classes of a compiled library for PyTorch, which needs PyTorch itself."""
        raise no_library(path)


classes = _Classes()
