"""NVRTC compiles the kernels for every architecture, without a GPU: loaded, and not run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest


def nvrtc() -> Path | None:
    """The library of NVIDIA's package, where somebody has installed that."""
    places = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")
    found = [
        f for path in sys.path for place in places for f in Path(path, place).glob("libnvrtc.so.*")
    ]
    return found[0] if found else None


# One program for each family of kernels, of several types.
PROGRAM = """
import flambeau as torch
for dtype in (torch.float32, torch.bfloat16, torch.float64, torch.int64, torch.complex64):
    x = torch.ones(4, 6).to(dtype).cuda()
    real = dtype.is_floating_point
    x + x, x.t() + x[0, :4], x * 2, x.t().contiguous(), x.to(torch.half)
    x.fill_(3), torch.where(x == x, x, x), torch.cat([x, x]), x.flip(0), x.tril()
    x.sum(), x.sum(0), x.prod(1), x.any(), (x != 0).all(), torch.count_nonzero(x), x @ x.t()
    index = torch.ones(4, 6, dtype=torch.int64).cuda()
    x.gather(1, index), x.scatter(1, index, x), x[index[:, 0]], x.masked_fill(index == 1, 0)
    if dtype != torch.complex64:
        x.amax(0), x.max(1), x.argmin(1)
        torch.arange(5, dtype=dtype, device="cuda")
        torch.linspace(0, 1, 5, dtype=dtype, device="cuda")
    if real:
        x.exp(), torch.special.erfcx(x), torch.lgamma(x), x.var(), x.std(0), x.norm(), x.norm(1)
        x.softmax(1), x.log_softmax(0), x.logsumexp(1)
print(torch._C._cuda_programs()["compiled"])
"""


@pytest.mark.skipif("FB_EMULATOR_ROOT" not in os.environ, reason="needs `make emulated`")
@pytest.mark.skipif(nvrtc() is None, reason="nvidia-cuda-nvrtc is not installed")
@pytest.mark.parametrize("capability", [75, 80, 90, 100, 120])
def test_kernels_compile(capability: int) -> None:
    environment = {
        "FLAMBEAU_LIBNVRTC": str(nvrtc()),
        "FLAMBEAU_CUDA_CACHE": "",
        "FB_EMULATOR_LOADS_ONLY": "1",
        "FB_EMULATOR_CAPABILITY": str(capability),
    }
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(done.stdout) > 150
