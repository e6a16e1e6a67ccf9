"""Modules beside PyTorch's: the same program with either framework."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

import flambeau
from tests.conformance.modules import (  # noqa: F401  they register their programs
    calls,
    classes,
    containers,
    conversion,
    copies,
    hooks,
    lazy,
    members,
    networks,
    parameters,
    showing,
    state,
)
from tests.conformance.modules.registry import PROGRAMS


def plain(value: Any) -> Any:
    """Tensors as lists, in whatever they lie in."""
    if isinstance(value, (flambeau.Tensor, torch.Tensor)):
        return ("tensor", str(value.dtype), value.detach().tolist())
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (int, float, type(None))):
        return value
    return str(value).replace("flambeau.", "torch.")


def same(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, float):
        return isinstance(ours, float) and bool(np.isclose(ours, theirs, rtol=1e-9, atol=1e-12))
    if isinstance(theirs, dict):
        return list(ours) == list(theirs) and all(same(ours[k], theirs[k]) for k in theirs)
    if isinstance(theirs, (list, tuple)):
        return len(ours) == len(theirs) and all(map(same, ours, theirs))
    return bool(ours == theirs)


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    ours, theirs = plain(PROGRAMS[name](flambeau)), plain(PROGRAMS[name](torch))
    assert same(ours, theirs), f"{ours}\n{theirs}"
