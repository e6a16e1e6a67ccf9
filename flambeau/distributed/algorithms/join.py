"""Training of processes whose data end at different times."""

from __future__ import annotations

from collections.abc import Sequence
from types import TracebackType
from typing import Any

__all__ = ["Join", "JoinHook", "Joinable"]


class JoinHook:
    """What a process does that is through with its data while others are not."""

    def main_hook(self) -> None:
        """Called for every batch of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """Called when all are through."""


class Joinable:
    """What knows how to wait for other processes."""

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What to do meanwhile."""
        raise NotImplementedError(f"{type(self).__name__} does not say what to do meanwhile")


class Join:
    """A block in which a process that is through waits for the others: one has none to wait for."""

    def __init__(
        self,
        joinables: Sequence[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if not joinables:
            raise ValueError("The join context manager requires at least one joinable")
        self._hooks = [each.join_hook(**kwargs) for each in joinables] if enable else []

    def __enter__(self) -> None:
        return

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if error is None:
            for hook in self._hooks:
                hook.post_hook(is_last_joiner=True)

    @staticmethod
    def notify_join_context(joinable: Joinable) -> None:
        """Tell the others that there is a batch: there are none."""
