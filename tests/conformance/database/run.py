"""Running one call in both frameworks, with the same random numbers and on copies of its inputs."""

from __future__ import annotations

import contextlib
import random
import re
import warnings
from collections.abc import Callable, Iterator
from typing import Any
from unittest import mock

import numpy as np
import torch
from torch.testing._internal.opinfo import core

import flambeau
from tests.conformance.database.resolve import Missing
from tests.conformance.database.translate import map_tensors

__all__ = ["attempt", "both", "copied", "quickly", "seed"]


@contextlib.contextmanager
def quickly() -> Iterator[None]:
    """Without what torch does for every sample: a walk up the stack, to name the test that failed,
    and the text of the stack for each accelerator that is not there, in `manual_seed`.
    """
    with (
        warnings.catch_warnings(),
        mock.patch.object(core, "extract_test_fn", return_value=None),
        mock.patch.object(torch, "manual_seed", torch.default_generator.manual_seed),
    ):
        warnings.simplefilter("ignore")
        yield


def seed() -> None:
    """The same random numbers for both, and for all that a sample may be made with."""
    torch.manual_seed(0)
    flambeau.manual_seed(0)
    random.seed(0)
    np.random.seed(0)  # noqa: NPY002


def attempt(function: Callable[[], Any]) -> Any:
    """What `function` returns, or the exception that it raises."""
    seed()
    try:
        return function()
    except Missing:
        raise
    except Exception as error:
        return error


def both(call: Callable[[Any], Any]) -> tuple[Any, Any]:
    """What a call gives with Flambeau, and with torch."""
    theirs = attempt(lambda: call(torch))
    return (None, theirs) if theirs is None else (ours(call, theirs), theirs)


def ours(call: Callable[[Any], Any], theirs: Any) -> Any:
    """What a call gives with Flambeau; what it says not to have is missing if torch has it."""
    found = attempt(lambda: call(flambeau))
    if not isinstance(theirs, Exception) and _says_not_to_have(found):
        raise Missing((str(found).splitlines() or [""])[0]) from found
    return found


def _says_not_to_have(found: Any) -> bool:
    if isinstance(found, TypeError):  # a form with out=
        return re.search(r"argument 'out'|\(.*out=\w+.*\), but expected", str(found)) is not None
    if isinstance(found, AttributeError):
        return "has no operator" in str(found)
    return isinstance(found, NotImplementedError)


def copied(value: Any) -> Any:
    """The tensors of torch in a value, in memory of their own with the same strides and offset."""
    return map_tensors(_copy, value, torch)


def _copy(tensor: torch.Tensor) -> torch.Tensor:
    if tensor.layout is not torch.strided or tensor.is_meta:
        return tensor.detach().clone().requires_grad_(tensor.requires_grad)
    plain = tensor.detach()
    if plain.is_conj() or plain.is_neg():
        return plain.clone().requires_grad_(tensor.requires_grad)
    count = plain.untyped_storage().nbytes() // plain.element_size()
    storage = plain.as_strided((count,), (1,), 0).clone()
    made = storage.as_strided(plain.shape, plain.stride(), plain.storage_offset())
    if isinstance(tensor, torch.nn.Parameter):
        return torch.nn.Parameter(made, tensor.requires_grad)
    return made.requires_grad_(tensor.requires_grad)
