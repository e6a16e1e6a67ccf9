"""Every operator of the table computes on the device what it does on the CPU."""

import os
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import _C
from tests.cuda.moving import devices_of, to_cuda, to_host
from tests.ops.check import outputs
from tests.ops.make import to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
SAMPLED = sorted(set(TABLE) & set(SAMPLES))
# Their elements are whatever was there before, or they bring tensors to the host.
UNINITIALISED = {"empty", "empty_like", "empty_strided", "new_empty", "new_empty_strided", "resize"}
UNINITIALISED |= {"empty_permuted"}
ABOUT_THE_HOST = {"cpu", "to", "numpy", "get_device"}
# With the real NVRTC and no GPU, kernels are compiled and loaded but not run.
RUNS = "FB_EMULATOR_LOADS_ONLY" not in os.environ
# float32 results differ by the order of sums and by the device's own functions, whose errors
# CUDA's documentation gives as up to a few units in the last place each.
TOLERANCE = {"float32": (2e-5, 2e-5), "complex64": (2e-5, 2e-5), "float16": (4e-3, 4e-3)}
TOLERANCE |= {"bfloat16": (3e-2, 3e-2)}


def dtypes_of(operator: Operator) -> list[str]:
    chosen = SAMPLES[operator.name].dtypes
    available = [each for each in operator.dtypes if chosen is None or each in chosen]
    preferred = [each for each in ("float32", "int64", "bfloat16", "bool") if each in available]
    return preferred or available[:1]


def run(operator: Operator, args: Any, kwargs: Any, seed: int = 0) -> Any:
    fb.manual_seed(seed)
    return operator.call(fb, args, kwargs)


def depends_on_seed(operator: Operator, sample: Sample) -> bool:
    if not operator.random:
        return False
    first, *others = (
        outputs(run(operator, to_module(fb, sample.args), to_module(fb, sample.kwargs), seed))
        for seed in range(8)
    )
    return any(not fb.equal(a, b) for each in others for a, b in zip(first, each, strict=True))


def assert_like(ours: Any, theirs: Any, what: str, is_random: bool) -> None:
    if not isinstance(theirs, fb.Tensor):
        assert ours == theirs or (ours != ours and theirs != theirs), what
        return
    assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape), what
    if is_random:  # see test_random.py
        return
    rtol, atol = TOLERANCE.get(str(theirs.dtype).removeprefix("torch."), (1e-10, 1e-10))
    a, b = (t.float() if t.dtype == fb.bfloat16 else t for t in (ours, theirs))
    np.testing.assert_allclose(
        a.resolve_conj().numpy(), b.resolve_conj().numpy(), rtol, atol, err_msg=what
    )


def compared(operator: Operator, sample: Sample, dtype: str) -> None:
    what = f"{operator.name}[{dtype}]{sample}"
    try:
        expected = run(operator, to_module(fb, sample.args), to_module(fb, sample.kwargs))
    except Exception:  # a sample that the type does not allow
        return
    args = to_cuda((to_module(fb, sample.args), to_module(fb, sample.kwargs)))
    result = run(operator, *args)
    fb.cuda.synchronize()
    if devices_of(args) == {"cuda"} and operator.name not in ABOUT_THE_HOST:
        assert devices_of(result) <= {"cuda"}, f"{what} is on {devices_of(result)}"
    if RUNS:
        is_random = depends_on_seed(operator, sample)
        for ours, theirs in zip(outputs(to_host(result)), outputs(to_host(expected)), strict=True):
            assert_like(ours, theirs, what, is_random)


NAMES = [n for n in SAMPLED if n not in UNINITIALISED and n not in ABOUT_THE_HOST]


@pytest.mark.parametrize("name", NAMES)
def test_an_operator_computes_on_the_device(name: str) -> None:
    operator = TABLE[name]
    trips = _C._cuda_round_trips()
    for dtype in dtypes_of(operator):
        for sample in SAMPLES[name].of_dtype(dtype):
            compared(operator, sample, dtype)
    if _C._cuda_round_trips() > trips:
        assert operator.runs & {"host", "parts"}, f"{name} does not say that the host computes it"
    else:
        assert "host" not in operator.runs, f"{name} is not on the host"
