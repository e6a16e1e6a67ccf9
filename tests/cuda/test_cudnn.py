"""Convolutions by cuDNN: what it is asked for, and what happens where it refuses.

A libcudnn of the emulator's computes them element by element; on a GPU `test_images.py` runs
through the real one.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(
    "FB_EMULATOR_FOLDER" not in os.environ, reason="needs the emulator of `make emulated`"
)

BEGIN = """
import ctypes, os, warnings
import numpy as np
import flambeau as fb
from flambeau.backends import cudnn
from flambeau.nn import functional as F

library = ctypes.CDLL(os.environ["FLAMBEAU_LIBCUDNN"])


def executions():
    # Of the engine that uses tensor cores in any order, and of the plain one.
    return [library.fb_executions(0), library.fb_executions(1)]


def compare(function, *tensors, rtol=1e-5):
    found = []
    for device in ("cpu", "cuda"):
        leaves = [t.detach().to(device).requires_grad_() for t in tensors]
        result = function(*leaves)
        fb.manual_seed(1)
        coming = fb.randn(result.shape).to(result.dtype).to(device)
        found.append([result, *fb.autograd.grad(result, leaves, coming)])
    for theirs, ours in zip(*found):
        assert theirs.shape == ours.shape
        a, b = (t.detach().cpu().double().numpy() for t in (ours, theirs))
        np.testing.assert_allclose(a, b, rtol, rtol * max(np.abs(b).max(), 1e-3))


fb.manual_seed(0)
x, w = fb.randn(2, 4, 6, 5), fb.randn(8, 4, 3, 3)
"""


def run(program: str, **variables: str) -> str:
    library = Path(os.environ["FB_EMULATOR_FOLDER"], "libcudnn.so")
    done = subprocess.run(
        [sys.executable, "-c", BEGIN + program],
        env={**os.environ, "FLAMBEAU_LIBCUDNN": str(library), **variables},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    return done.stderr


def test_shapes_and_types() -> None:
    run("""
for dtype, rtol in ((fb.float32, 1e-5), (fb.float16, 5e-3), (fb.bfloat16, 4e-2)):
    before = sum(executions())
    for shape, weight, options in (
        ((2, 4, 9), (6, 4, 3), {}),
        ((2, 4, 9, 8), (6, 2, 3, 3), {"groups": 2, "padding": 1}),
        ((2, 3, 11, 7), (5, 3, 3, 2), {"stride": 2, "padding": (2, 1), "dilation": (1, 2)}),
        ((1, 4, 4, 5, 6), (5, 4, 2, 3, 2), {"stride": (1, 2, 2), "padding": 1}),
    ):
        conv = getattr(F, f"conv{len(shape) - 2}d")
        a, k = fb.randn(shape).to(dtype), fb.randn(weight).to(dtype)
        compare(lambda *t: conv(*t, **options), a, k, fb.randn(weight[0]).to(dtype), rtol=rtol)
    a, k = fb.randn(2, 8, 5, 4).to(dtype), fb.randn(8, 3, 3, 3).to(dtype)
    compare(lambda *t: F.conv_transpose2d(*t, stride=2, output_padding=1), a, k,
            fb.randn(3).to(dtype), rtol=rtol)
    assert sum(executions()) - before == 15, executions()
last = x.contiguous(memory_format=fb.channels_last)
compare(lambda x, w: F.conv2d(x, w), last, w.contiguous(memory_format=fb.channels_last))
compare(lambda x, w: F.conv2d(x[:, 1:3], w[:, ::2]), x, w)
before = sum(executions())
F.conv2d(x.double().cuda(), w.double().cuda())
assert sum(executions()) == before
""")


def test_what_settings_ask_for() -> None:
    run("""
def engine():
    before = executions()
    F.conv2d(x.cuda(), w.cuda())
    return [b - a for a, b in zip(before, executions())]


assert cudnn.is_available() and cudnn.version() == 90000 and cudnn.is_acceptable(x.cuda())
assert engine() == [1, 0]
with cudnn.flags(enabled=True, allow_tf32=False):
    assert engine() == [0, 1]
with cudnn.flags(enabled=True, deterministic=True):
    assert engine() == [0, 1]
fb.use_deterministic_algorithms(True)
assert engine() == [0, 1]
fb.use_deterministic_algorithms(False)
with cudnn.flags(enabled=False):
    assert engine() == [0, 0]
with cudnn.flags(enabled=True, benchmark=True):
    assert min(engine()) >= 1  # both are measured
    assert sum(engine()) == 1
    cudnn.benchmark_limit = 1
assert engine() == [1, 0]

one = fb.randn(2, 4, 6, 5).cuda(), fb.randn(4, 1, 3, 3).cuda()
for kernel, types in (("auto", [0, 1]), ("cudnn", [1, 1]), ("native", [0, 0])):
    cudnn.depthwise_kernel = kernel
    counts = []
    for dtype in (fb.float32, fb.float16):
        before = sum(executions())
        F.conv2d(*(t.to(dtype) for t in one), groups=4, stride=2)
        counts.append(sum(executions()) - before)
    assert counts == types, (kernel, counts)
""")


@pytest.mark.parametrize(
    ("how", "text"), [("broken", "does not start"), ("refuses", None), ("fails", "execution")]
)
def test_other_kernels_compute_where_it_does_not(how: str, text: str | None) -> None:
    program = f"""
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    for _ in range(2):
        compare(lambda x, w: F.conv2d(x, w), x, w)
assert executions() == [0, 0]
texts = [str(each.message) for each in caught if "cuDNN" in str(each.message)]
text = {text!r}
assert len(texts) == (0 if text is None else 1), texts
assert text is None or text in texts[0], texts
"""
    log = run(program, FB_EMULATOR_CUDNN=how, FLAMBEAU_CUDNN_LOG="1")
    assert ("0 plans" in log) == (how == "refuses")


def test_a_library_that_is_not_there() -> None:
    program = """
import flambeau as fb
from flambeau.nn import functional as F
x = fb.ones(1, 2, 4, 4).cuda()
assert F.conv2d(x, x).sum().item() == 32.0
assert fb.backends.cudnn.version() is None and not fb.backends.cudnn.is_available()
assert "python -m pip install nvidia-cudnn" in fb._C._cuda_convolutions()["missing"]
"""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program],
        env={**os.environ, "FLAMBEAU_LIBCUDNN": "/nonexistent"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
