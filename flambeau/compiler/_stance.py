"""What compiled functions do when they would have to be compiled."""

from __future__ import annotations

import contextlib
from typing import Any

__all__: list[str] = []

STANCES = (
    "default",
    "force_eager",
    "eager_on_recompile",
    "fail_on_recompile",
    "eager_then_compile",
    "aot_eager_then_compile",
)
_current = "default"


def is_forced_eager() -> bool:
    """Whether compiled functions must not be compiled."""
    return _current == "force_eager"


class set_stance(contextlib.ContextDecorator):
    """Choose it from now on, or for a block or a function.

    ``force_eager`` keeps functions from backends of the program's own; all others run eagerly in
    any case.
    """

    def __init__(
        self,
        stance: str = "default",
        *,
        skip_guard_eval_unsafe: bool = False,
        force_backend: Any = None,
    ) -> None:
        global _current
        if force_backend is not None:
            raise NotImplementedError(
                "set_stance: the backend is that of torch.compile; leave out force_backend"
            )
        if stance not in STANCES:
            raise RuntimeError(f"set_stance: expected one of {', '.join(STANCES)}, got {stance!r}")
        self.stance = stance
        self.before, _current = _current, stance

    def __enter__(self) -> None:
        global _current
        _current = self.stance

    def __exit__(self, *exc_info: object) -> None:
        global _current
        _current = self.before
