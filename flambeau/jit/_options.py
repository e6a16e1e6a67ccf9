"""Options of TorchScript's optimiser. They are kept; scripts are run by Python."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from flambeau.jit._script import ScriptModule

__all__: list[str] = []

_strategy = [("STATIC", 2), ("DYNAMIC", 10)]
_onednn = False


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """Choose how often kernels are specialised; returns what was chosen before."""
    global _strategy
    for kind, _ in strategy:
        if kind not in ("STATIC", "DYNAMIC"):
            raise RuntimeError(f"set_fusion_strategy: expected STATIC or DYNAMIC, got {kind!r}")
    before, _strategy = _strategy, strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Let oneDNN join operators of a script."""
    global _onednn
    _onednn = enabled


def onednn_fusion_enabled() -> bool:
    """What was chosen last, False at first."""
    return _onednn


@contextlib.contextmanager
def optimized_execution(should_optimize: bool) -> Iterator[None]:
    """A block whose scripts are optimised, or not."""
    yield


@contextlib.contextmanager
def fuser(name: str) -> Iterator[None]:
    """A block with one of the ways to join kernels: fuser0 to fuser3, or none."""
    if name not in ("fuser0", "fuser1", "fuser2", "fuser3", "none"):
        raise RuntimeError(f"fuser: expected fuser0 to fuser3 or none, got {name!r}")
    yield


class strict_fusion(contextlib.nullcontext[None]):
    """A block that TorchScript must turn into one kernel."""


def freeze(
    mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True
) -> Any:
    """A script in evaluation whose parameters no longer train."""
    _check_script(mod, "freeze")
    if mod.training:
        raise RuntimeError("freeze: expected a module in evaluation; call .eval() before")
    for name in preserved_attrs or ():
        if not hasattr(mod, name):
            raise RuntimeError(f"freeze: the module has no {name!r} to preserve")
    import copy

    return copy.deepcopy(mod).requires_grad_(False)


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """The same script, frozen."""
    _check_script(mod, "optimize_for_inference")
    return freeze(mod.eval())


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Optimise a frozen script, which Python runs as it is."""
    _check_script(mod, "run_frozen_optimizations")


def _check_script(mod: Any, name: str) -> None:
    if not isinstance(mod, ScriptModule):
        raise RuntimeError(
            f"{name}: expected a ScriptModule, got {type(mod).__name__}; use torch.jit.script or "
            "torch.jit.trace before"
        )
