"""The table of what Flambeau refuses: its names exist, and using one raises what the table says."""

from __future__ import annotations

import importlib
import inspect
import re
from typing import Any

import pytest

from flambeau._limits.refusals import REFUSALS
from flambeau._limits.refusing import refusal

# These work, and refuse another device than the CPU.
PARTLY = {
    "accelerator.Event",
    "accelerator.Stream",
    "accelerator.device_index",
    "backends.cuda.cufft_plan_cache",
    "cuda.device",
    "cuda.set_sync_debug_mode",
    "cuda.set_device",
    "cuda.set_stream",
    "cuda.stream",
}


def found(name: str) -> Any:
    """The object that a name of the table stands for."""
    parts = name.split(".")
    for count in range(len(parts), -1, -1):
        module = ".".join(["flambeau", *parts[:count]])
        try:
            value: Any = importlib.import_module(module)
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            value = getattr(value, part)
        return value
    raise AssertionError(f"there is no {name}")


ROWS = {
    f"{where}.{name}".lstrip("."): row
    for where in REFUSALS
    for name, row in REFUSALS[where].items()
}


@pytest.mark.parametrize("name", sorted(ROWS.keys() - PARTLY))
def test_names_refuse(name: str) -> None:
    reason, error, _ = ROWS[name]
    value = found(name)
    required = [
        each
        for each in inspect.signature(value).parameters.values()
        if each.default is each.empty and each.kind is not each.VAR_KEYWORD
    ]
    given = [None for each in required if each.kind is not each.KEYWORD_ONLY]
    named = {each.name: None for each in required if each.kind is each.KEYWORD_ONLY}
    shown = re.escape(name.removeprefix("Tensor."))
    with pytest.raises(error, match=f"^{shown}: {re.escape(reason)}$"):
        value(*given, **named)
    assert value.__doc__


@pytest.mark.parametrize("reason", sorted({reason for reason, _, _ in ROWS.values()}))
def test_reasons_have_a_remedy(reason: str) -> None:
    assert re.search(r"(; |\. Use )\S", reason)
    assert reason == reason.strip()


def test_what_belongs_to_a_refused_class_is_refused() -> None:
    refused = refusal("cuda.CUDAGraph.replay")
    assert isinstance(refused, RuntimeError)
    assert str(refused).startswith("cuda.CUDAGraph.replay: not there for GPUs yet")


def test_a_name_that_is_not_refused_has_no_refusal() -> None:
    with pytest.raises(KeyError, match=r"nn\.Linear\.forward"):
        refusal("nn.Linear.forward")
