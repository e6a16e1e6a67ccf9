"""Results and gradients of a function on the device beside those on the CPU."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import flambeau as fb
from tests.cuda.moving import to_cuda

TOLERANCE = {fb.float64: 1e-10, fb.float32: 3e-5, fb.float16: 4e-3, fb.bfloat16: 3e-2}


def results_of(function: Callable[..., Any], inputs: Sequence[Any]) -> list[Any]:
    """What the function returns, and the gradient of every input that requires one."""
    inputs = [t.detach().requires_grad_(t.requires_grad) for t in inputs]
    out = function(*inputs)
    outs = [t for t in (out if isinstance(out, (tuple, list)) else [out]) if t is not None]
    fb.manual_seed(1)
    directions = [fb.randn(t.shape).to(t.dtype).to(t.device) for t in outs]
    if any(t.requires_grad for t in inputs):
        fb.autograd.backward(outs, directions)
    return [*outs, *(t.grad for t in inputs if t.requires_grad)]


def assert_same_gradients(
    function: Callable[..., Any], *inputs: Any, tolerance: float | None = None
) -> None:
    """Compare results and gradients, by the tolerance of the first input's type."""
    bound = tolerance or TOLERANCE[inputs[0].dtype]
    there = results_of(function, [to_cuda(t) for t in inputs])
    here = results_of(function, inputs)
    fb.cuda.synchronize()
    for number, (ours, theirs) in enumerate(zip(there, here, strict=True)):
        assert ours.device.type == "cuda"
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        a, b = ours.detach().cpu().double().numpy(), theirs.detach().double().numpy()
        size = float(np.max(np.abs(b), initial=0, where=np.isfinite(b)))
        np.testing.assert_allclose(a, b, bound, bound * max(size, 1), err_msg=f"result {number}")
