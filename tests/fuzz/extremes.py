"""Calls operators with each of their integers replaced by extreme ones; run as a program.

    python -m tests.fuzz.extremes FAMILY...

Each call is printed before it is made: what stands last is to blame for a fault.
"""

import dataclasses
import faulthandler
import sys
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np

import flambeau
from flambeau import _C
from tests.fuzz.calls import SECONDS, assert_within_storage, limit_memory, tensors_in
from tests.ops.make import to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import operators

# Sizes whose bytes, squares or sums do not fit; the halves of 2^64 are multiplied to 0 by sizes.
EXTREMES = (2**31, 2**32, 2**61, 2**62, 2**63 - 1, -(2**63), -(2**62), -1, 0)
# Enough to meet each integer of a signature in some way.
SAMPLES = 4


def main(families: set[str]) -> None:
    limit_memory()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    flambeau.set_num_threads(1)
    wanted = {_name(each) for each in _C.op_info() if each["family"] in families}
    for name, operator in sorted(operators().items()):
        for sample in _changed(name) if name in wanted else ():
            print(f"{name}{sample!r}", flush=True)
            faulthandler.dump_traceback_later(SECONDS, exit=True)
            args, kwargs = to_module(flambeau, sample.args), to_module(flambeau, sample.kwargs)
            try:
                result = operator.call(flambeau, args, kwargs)
            except SystemError:
                raise
            except Exception:
                result = None
            assert_within_storage(tensors_in([args, kwargs, result]))
    faulthandler.cancel_dump_traceback_later()


def _name(info: dict[str, Any]) -> str:
    return f"{info['namespace']}.{info['name']}" if info["namespace"] else info["name"]


def _changed(name: str) -> Iterator[Sample]:
    """The first samples of an operator with one integer at a time exchanged."""
    drawn = [s for dtype in ("float32", "int64") for s in all_samples()[name].where_sensible(dtype)]
    for sample in drawn[:SAMPLES]:
        for args in _exchanged(list(sample.args)):
            yield dataclasses.replace(sample, args=tuple(args))
        for key, value in sample.kwargs.items():
            for other in _exchanged(value):
                yield dataclasses.replace(sample, kwargs={**sample.kwargs, key: other})


def _exchanged(value: Any) -> Iterator[Any]:
    if isinstance(value, int) and not isinstance(value, bool):
        yield from EXTREMES
    elif isinstance(value, (list, tuple)):
        for i, item in enumerate(value):
            for other in _exchanged(item):
                yield type(value)([*value[:i], other, *value[i + 1 :]])


if __name__ == "__main__":
    main(set(sys.argv[1:]))
