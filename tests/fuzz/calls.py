"""Calls operators with mutated arguments; run as a program, since a fault would end it.

    python -m tests.fuzz.calls COUNT FAMILY...

Each call is printed before it is made, over the one before: what stands last is to blame.
"""

import faulthandler
import functools
import math
import pathlib
import random
import resource
import sys
import warnings
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np

import flambeau
from flambeau import _C
from tests.fuzz.mutations import LARGEST, Mutator
from tests.ops.make import to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

MEMORY = 4 << 30  # for results: larger ones are refused, as they are where memory is short
SECONDS = 30  # for one call, on a busy machine


def main(count: int, families: set[str]) -> None:
    limit_memory()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    flambeau.set_num_threads(2)
    table = [each for each in _C.op_info() if each["family"] in families]
    for name, operator in sorted(operators().items()):
        place = name.rpartition(".")
        signatures = [e["args"] for e in table if (e["namespace"], e["name"]) == place[::2]]
        pool = _samples(name) if signatures else []
        for i in range(count if pool else 0):
            seed = zlib.crc32(f"{name}/{i}".encode())
            choice = random.Random(seed)
            sample = Mutator(seed).sample(choice.choice(pool), signatures)
            print(f"{name}{sample!r}", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            call = functools.partial(_of_flambeau, operator)
            attempt(call, sample, differentiate=choice.random() < 0.7)
    faulthandler.cancel_dump_traceback_later()


def limit_memory() -> None:
    """Leaves MEMORY beyond what is mapped: sanitizers map a great deal for themselves."""
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    limit = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))


def _samples(name: str) -> list[Sample]:
    drawn = [
        s for dtype in ("float32", "float64") for s in all_samples()[name].where_sensible(dtype)
    ]
    return [s for s in drawn if all(each.values.size <= LARGEST for each in s.inputs())]


def _of_flambeau(operator: Operator, *args: Any, **kwargs: Any) -> Any:
    return operator.call(flambeau, args, kwargs)


def attempt(call: Callable[..., Any], sample: Sample, differentiate: bool) -> bool:
    """Whether a call is taken; any exception will do, but the interpreter's about an extension.

    Nor ours about a tensor that reaches beyond its memory.
    """
    try:
        args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
        inputs = [each for each in tensors_in([args, kwargs]) if each.dtype.is_floating_point]
        for each in inputs:
            each.requires_grad_(differentiate)
        result = call(*args, **kwargs)
        assert_within_storage(tensors_in([args, kwargs, result]))
        _differentiate(result, inputs)
    except (SystemError, AssertionError):
        raise
    except Exception:
        return False
    return True


def _differentiate(result: Any, inputs: list[Any]) -> None:
    """Computes the gradients of what has some, and theirs."""
    for create_graph in (True, False):
        sums = [each.abs().sum() for each in tensors_in(result) if each.requires_grad]
        if not sums:
            return
        result = flambeau.autograd.grad(
            sums, inputs, allow_unused=True, create_graph=create_graph, retain_graph=True
        )


def assert_within_storage(tensors: list[Any]) -> None:
    """No tensor reaches outside of the memory that it is a window on."""
    for each in tensors:
        if each.layout != flambeau.strided:
            continue
        sizes, strides = each.size(), each.stride()
        assert each.numel() == math.prod(sizes), f"{each.numel()} elements of size {sizes}"
        if each.numel() == 0:
            continue
        last = sum((n - 1) * s for n, s in zip(sizes, strides, strict=True))
        end = (each.storage_offset() + last + 1) * each.element_size()
        assert end <= each.untyped_storage().nbytes(), f"size {sizes}, strides {strides}"


def tensors_in(value: Any) -> list[Any]:
    if isinstance(value, flambeau.Tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return (
        [t for each in value for t in tensors_in(each)] if isinstance(value, (list, tuple)) else []
    )


if __name__ == "__main__":
    main(int(sys.argv[1]), set(sys.argv[2:]))
