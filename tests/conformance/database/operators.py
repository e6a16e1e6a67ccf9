"""All samples of an OpInfo, compared in every way that it supports."""

from __future__ import annotations

import random
import zlib
from functools import partial
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db

from tests.conformance.database.case import Case
from tests.conformance.database.derivatives import DERIVATIVES
from tests.conformance.database.forms import FORMS, check_error
from tests.conformance.database.run import quickly, seed
from tests.conformance.database.tally import Tally, describe

VALUES = (
    torch.float32,
    torch.float64,
    torch.complex64,
    torch.int64,
    torch.bool,
    torch.bfloat16,
)
PRECISE = (torch.float64, torch.complex128)
# Kernels of CUDA that are written as text are none of the CPU's: torch refuses every call there.
OPERATORS = {info.formatted_name: info for info in op_db if not info.name.startswith("jiterator_")}


def tally(info: Any, most: int | None = None) -> Tally:
    """Every comparison of an OpInfo, or those of at most so many samples of a kind."""
    made = Tally(info.formatted_name)
    with quickly():
        supported = info.supported_dtypes("cpu")
        for dtype in VALUES:
            if dtype in supported:
                for sample in _some(made.name, _samples(info.reference_inputs, dtype, False), most):
                    _compare(made, Case(info, sample), str(dtype)[6:], FORMS)
        for dtype in PRECISE:
            if info.supports_autograd and dtype in info.supported_backward_dtypes("cpu"):
                for sample in _some(made.name, _samples(info.sample_inputs, dtype, True), most):
                    _compare(made, Case(info, sample), str(dtype)[6:], DERIVATIVES)
        for sample in _errors(info):
            _compare(made, Case(info, sample), "error", {"error": check_error})
    return made


def _some(name: str, samples: list[Any], most: int | None) -> list[Any]:
    """At most so many samples: always the same ones of an operator, but others of another."""
    if most is None or len(samples) <= most:
        return samples
    chosen = random.Random(zlib.crc32(name.encode())).sample(range(len(samples)), most)
    return [samples[i] for i in sorted(chosen)]


def _samples(source: Any, dtype: torch.dtype, requires_grad: bool) -> list[Any]:
    seed()
    return list(source("cpu", dtype, requires_grad=requires_grad))


def _errors(info: Any) -> list[Any]:
    if info.error_inputs_func is None:
        return []
    seed()
    return [each.sample_input for each in info.error_inputs("cpu")]


def _compare(made: Tally, case: Case, dtype: str, checks: dict[str, Any]) -> None:
    sample = case.sample
    words = describe(((sample.input, *sample.args), sample.kwargs))
    made.compare(dtype, words, {name: partial(check, case) for name, check in checks.items()})
