"""Metadata that is attached to nodes while they are recorded."""

from __future__ import annotations

import copy
import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

__all__ = [
    "annotate",
    "annotate_fn",
    "format_stack",
    "get_current_meta",
    "has_preserved_node_meta",
    "preserve_node_meta",
    "reset_grad_fn_seq_nr",
    "set_current_meta",
]

Function = TypeVar("Function", bound=Callable[..., Any])

current_meta: dict[str, Any] = {}
should_preserve_node_meta: bool = False


@contextmanager
def preserve_node_meta(enable: bool = True) -> Iterator[None]:
    """Attach the current metadata to every node that is recorded."""
    global should_preserve_node_meta, current_meta
    saved = should_preserve_node_meta, current_meta
    should_preserve_node_meta, current_meta = enable, dict(current_meta)
    try:
        yield
    finally:
        should_preserve_node_meta, current_meta = saved


@contextmanager
def annotate(annotation_dict: dict[str, Any]) -> Iterator[None]:
    """Add these entries to ``meta["custom"]`` of nodes that are recorded."""
    global current_meta
    saved = current_meta
    custom = {**saved.get("custom", {}), **annotation_dict}
    current_meta = {**saved, "custom": custom}
    try:
        yield
    finally:
        current_meta = saved


def annotate_fn(annotation_dict: dict[str, Any]) -> Callable[[Function], Function]:
    """The same for all nodes that are recorded while a function runs."""

    def decorate(function: Function) -> Function:
        @functools.wraps(function)
        def annotated(*args: Any, **kwargs: Any) -> Any:
            with annotate(annotation_dict):
                return function(*args, **kwargs)

        return annotated  # type: ignore[return-value]

    return decorate


@contextmanager
def set_current_meta(node: Any, pass_name: str = "") -> Iterator[None]:
    """Give nodes that are recorded the metadata of a node."""
    global current_meta
    if not should_preserve_node_meta or not node.meta:
        yield
        return
    saved = current_meta
    current_meta = dict(node.meta)
    try:
        yield
    finally:
        current_meta = saved


def get_current_meta() -> dict[str, Any]:
    """The current metadata."""
    return current_meta


def has_preserved_node_meta() -> bool:
    """Whether nodes get the current metadata."""
    return should_preserve_node_meta


def note_on(node: Any) -> None:
    """Attach the current metadata to a node that was just made."""
    if should_preserve_node_meta:
        node.meta.update(copy.copy(current_meta))
    elif "custom" in current_meta:
        node.meta["custom"] = dict(current_meta["custom"])


def format_stack() -> list[str]:
    """The current source location, if it is known."""
    return [current_meta["stack_trace"]] if "stack_trace" in current_meta else []


def reset_grad_fn_seq_nr() -> None:
    """Accepted: nodes are not numbered by the backward pass."""
