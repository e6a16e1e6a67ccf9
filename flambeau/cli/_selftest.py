"""Small computations with known answers, each on a part that could be broken by itself."""

from __future__ import annotations

import os
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import flambeau as torch
from flambeau.nn import functional as F

__all__ = ["CHECKS", "computes_on_gpu"]

_PATIENCE = 20.0  # seconds for a child that needs milliseconds; one that hangs hangs for ever


def matmul() -> None:
    """Products of float32, by oneDNN where it is there, against float64."""
    torch.manual_seed(0)
    a, b = torch.randn(257, 129), torch.randn(129, 65)
    _same(a @ b, (a.double() @ b.double()).float(), 1e-4)


def computes_on_gpu() -> None:
    """A kernel that is compiled for the GPU, or was before, and a copy back."""
    x = torch.arange(1000.0)
    _same((x.to("cuda") * 2 + 1).to("cpu"), x * 2 + 1, 0)


def solve() -> None:
    """A linear system in float64, by LAPACK."""
    torch.manual_seed(0)
    a, x = torch.randn(40, 40, dtype=torch.float64), torch.randn(40, 3, dtype=torch.float64)
    _same(torch.linalg.solve(a, a @ x), x, 1e-9)


def convolution() -> None:
    """A convolution against the sum that defines it, written as a product of patches."""
    torch.manual_seed(0)
    images, weight = torch.randn(4, 3, 14, 14), torch.randn(8, 3, 5, 5)
    patches = F.unfold(images, 5)
    expected = (weight.view(8, -1) @ patches).view(4, 8, 10, 10)
    _same(F.conv2d(images, weight), expected, 1e-4)


def backward() -> None:
    """A derivative against the one worked out by hand."""
    x = torch.linspace(-2, 2, 50_001, dtype=torch.float64, requires_grad=True)
    (x.sin() * x).sum().backward()
    assert x.grad is not None
    plain = x.detach()
    _same(x.grad, plain.cos() * plain + plain.sin(), 1e-12)


def threads() -> None:
    """A sum on all threads against the same on one."""
    used = torch.get_num_threads()
    x = torch.arange(1_000_003, dtype=torch.float64)
    together = x.sqrt().sum()
    torch.set_num_threads(1)
    try:
        _same(x.sqrt().sum(), together, 0)
    finally:
        torch.set_num_threads(used)


def worker() -> None:
    """A forked child computes and ends, as the workers of a loader do."""
    x = torch.ones(300_000)
    (x + x).sum()  # so that the pool runs in the parent
    with warnings.catch_warnings():
        # Python 3.12 warns of forking beside threads, which is what this check is about.
        warnings.simplefilter("ignore", DeprecationWarning)
        child = os.fork()
    if child == 0:
        os._exit(0 if (x + x).sum().item() == 600_000 else 1)
    end = time.monotonic() + _PATIENCE
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            raise AssertionError(f"the child did not end within {_PATIENCE:.0f} s")
        time.sleep(0.002)
    assert status == 0, f"the child ended with status {status}"


def checkpoint() -> None:
    """Tensors come back from a file as they were."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "tensors.pt"
        torch.save({"weight": torch.arange(10.0)}, path)
        _same(torch.load(path)["weight"], torch.arange(10.0), 0)


CHECKS: dict[str, Callable[[], None]] = {
    "matrix product": matmul,
    "linear system": solve,
    "convolution": convolution,
    "backward": backward,
    "threads": threads,
    "forked worker": worker,
    "checkpoint": checkpoint,
}


def _same(found: torch.Tensor, expected: torch.Tensor, tolerance: float) -> None:
    difference = (found - expected).abs().max().item()
    assert difference <= tolerance, f"off by {difference:.3g}, at most {tolerance:g} is right"
