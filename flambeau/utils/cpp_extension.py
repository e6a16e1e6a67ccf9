"""``torch.utils.cpp_extension``: extensions compiled against PyTorch, which cannot be built here.

Setup scripts and packages import this module to ask what is available; building raises an error
that says what to do instead.
"""

from __future__ import annotations

import os
import shutil
from typing import Any

from flambeau._limits.refusing import Function, refusal, refused

__all__ = [
    "CUDA_HOME",
    "ROCM_HOME",
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "check_compiler_ok_for_platform",
    "get_default_build_root",
    "include_paths",
    "is_ninja_available",
    "library_paths",
    "load",
    "load_inline",
    "verify_ninja_availability",
]


def _find_cuda() -> str | None:
    """Where CUDA's compiler is installed, if it is."""
    home = os.environ.get("CUDA_HOME") or os.environ.get("CUDA_PATH")
    compiler = shutil.which("nvcc")
    if home is None and compiler is not None:
        home = os.path.dirname(os.path.dirname(os.path.realpath(compiler)))
    return home


CUDA_HOME: str | None = _find_cuda()
CUDNN_HOME: str | None = os.environ.get("CUDNN_HOME")
ROCM_HOME: str | None = None
IS_HIP_EXTENSION = False


CppExtension: Function = refused("utils.cpp_extension.CppExtension")
CUDAExtension: Function = refused("utils.cpp_extension.CUDAExtension")
load: Function = refused("utils.cpp_extension.load")
load_inline: Function = refused("utils.cpp_extension.load_inline")


class BuildExtension:
    """The ``setup`` command that builds extensions, which it cannot do here."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise refusal("utils.cpp_extension.BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """The command with other default options."""
        return type("BuildExtension", (cls,), {"options": options})


def include_paths(device_type: str = "cpu", torch_include_dirs: bool = True) -> list[str]:
    """Return the include paths: there are no headers of PyTorch."""
    return []


def library_paths(
    device_type: str = "cpu",
    torch_include_dirs: bool = True,
    cross_target_platform: str | None = None,
) -> list[str]:
    """Return the library paths: there are no libraries of PyTorch."""
    return []


def is_ninja_available() -> bool:
    """Whether the program ninja is installed."""
    return shutil.which("ninja") is not None


def verify_ninja_availability() -> None:
    """Raise an error if it is not."""
    if not is_ninja_available():
        raise RuntimeError("Ninja is required to load C++ extensions (pip install ninja)")


def check_compiler_ok_for_platform(compiler: str) -> bool:
    """Whether a compiler is available."""
    return shutil.which(compiler) is not None


def get_default_build_root() -> str:
    """Where ``load`` would build."""
    return os.path.realpath(os.path.join(os.path.expanduser("~"), ".cache", "torch_extensions"))
