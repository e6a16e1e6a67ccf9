"""Where every operator of the table runs on the device cuda: `make cuda-coverage`.

Each operator's samples run on the device, which may be the emulator of the tests:

    kernel     by kernels of its own
    composite  by the operators that it consists of
    host       at least in part by the CPU, on copies: see csrc/cuda/host.h
    partly     some samples refuse for want of a kernel
    refused    all of them do

Names after `--only` are shown alone: `python -m tools.cuda_coverage --only refused partly`.
"""

import argparse
import multiprocessing
import os
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import flambeau as fb
from flambeau import _C
from tests.cuda.moving import to_cuda
from tests.ops.make import to_module
from tests.ops.registry import all_samples
from tests.ops.table import operators

WHERE = ("kernel", "composite", "host", "partly", "refused")


def where(name: str) -> tuple[str, str, str]:
    """The operator, where it runs, and what refuses."""
    operator, samples = operators()[name], all_samples()[name]
    computed, refusals = 0, set()
    trips = _C._cuda_round_trips()
    taken = [each for each in operator.dtypes if each in (samples.dtypes or operator.dtypes)]
    dtype = next((each for each in ("float32", "int64", "bool") if each in taken), taken[0])
    for sample in samples.of_dtype(dtype):
        args, kwargs = to_cuda((to_module(fb, sample.args), to_module(fb, sample.kwargs)))
        refusal = refusal_of(operator, args, kwargs)
        computed += not refusal
        refusals |= {refusal} - {""}
    if refusals:
        return name, "partly" if computed else "refused", "; ".join(sorted(refusals))
    if _C._cuda_round_trips() > trips:
        return name, "host", ""
    return name, "composite" if operator.runs == {"parts"} else "kernel", ""


def refusal_of(operator: Any, args: Any, kwargs: Any) -> str:
    """What is said for want of a kernel; other errors are about the sample."""
    try:
        operator.call(fb, args, kwargs)
        fb.cuda.synchronize()
    except NotImplementedError as error:
        return str(error) if "no kernel on cuda" in str(error) else ""
    except Exception:
        return ""
    return ""


def main() -> None:
    """Print the table and its counts."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", choices=WHERE, default=WHERE)
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    names = options.names or sorted(set(operators()) & set(all_samples()))
    counts: Counter[str] = Counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, context) as pool:
        for name, place, why in pool.map(where, names, chunksize=4):
            counts[place] += 1
            if place in options.only:
                print(f"{name:40} {place:10} {why}".rstrip(), flush=True)
    print(f"{len(names)} operators: " + ", ".join(f"{counts[w]} {w}" for w in WHERE))


if __name__ == "__main__":
    main()
