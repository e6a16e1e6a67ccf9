"""The version of the package, and of the PyTorch whose behaviour it follows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"
torch = "2.13.0"
hip: str | None = None
rocm: str | None = None
xpu: str | None = None
debug = False

if TYPE_CHECKING:
    cuda: str | None
else:

    def __getattr__(name: str) -> Any:
        if name == "cuda":
            return _cuda()
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _cuda() -> str | None:
    """The version of CUDA that the driver is for, "13.0": None where tensors cannot use a GPU.

    Asking opens the driver, so it is not done before somebody asks.
    """
    from flambeau import _C

    state = _C._cuda_state()
    version = state["driver"]
    return f"{version // 1000}.{version % 1000 // 10}" if state["devices"] else None
