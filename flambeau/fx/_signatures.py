"""Signatures that arrange the arguments of a recorded call."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable
from operator import attrgetter
from typing import Any

import flambeau as fb


@functools.cache
def _overloaded() -> frozenset[Callable[..., Any]]:
    """Functions and methods of the operator table that have several signatures."""
    paths: Counter[str] = Counter()
    for each in fb._C.op_info():
        name, forms = each["name"], each["forms"]
        paths.update([f"{each['namespace']}.{name}".lstrip(".")] * ("function" in forms))
        paths.update([f"Tensor.{name}"] * ("method" in forms))
        paths.update([f"Tensor.{name}_"] * ("inplace" in forms and "method" in forms))
    return frozenset(attrgetter(path)(fb) for path, count in paths.items() if count > 1)


@functools.cache
def signature_of(function: Callable[..., Any]) -> inspect.Signature | None:
    """The signature of a function; None if it has none or several overloads."""
    try:
        return None if function in _overloaded() else inspect.signature(function)
    except (TypeError, ValueError):
        return None
