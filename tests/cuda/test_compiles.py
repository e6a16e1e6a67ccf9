"""NVRTC compiles the kernels for every architecture, without a GPU: loaded, and not run."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cuda.programs import EVERY, PROGRAMS


def nvrtc() -> Path | None:
    """The library of NVIDIA's package, where somebody has installed that."""
    places = ("nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib")
    found = [
        f for path in sys.path for place in places for f in Path(path, place).glob("libnvrtc.so.*")
    ]
    return found[0] if found else None


@pytest.mark.skipif("FB_EMULATOR_ROOT" not in os.environ, reason="needs `make emulated`")
@pytest.mark.skipif(nvrtc() is None, reason="nvidia-cuda-nvrtc is not installed")
@pytest.mark.parametrize("capability", [75, 80, 90, 100, 120])
@pytest.mark.parametrize("family", PROGRAMS)
def test_kernels_compile(family: str, capability: int) -> None:
    environment = {
        "FLAMBEAU_LIBNVRTC": str(nvrtc()),
        "FLAMBEAU_CUDA_CACHE": "",
        "FB_EMULATOR_LOADS_ONLY": "1",
        "FB_EMULATOR_CAPABILITY": str(capability),
    }
    program = EVERY + PROGRAMS[family] + 'print(torch._C._cuda_programs()["compiled"])\n'
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    assert int(done.stdout) > 20
