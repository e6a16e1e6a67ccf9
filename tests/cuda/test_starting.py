"""What a process finds: no driver, an old one, no GPU, no compiler, a damaged cache."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import flambeau as fb

# Each runs in a process of its own, whose libraries are those of the emulator or none at all.
EMULATED = pytest.mark.skipif(
    "FB_EMULATOR_ROOT" not in os.environ, reason="changes the driver: needs `make emulated`"
)
REMEDY = "ask torch.cuda.is_available() first"


def run(code: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", "import flambeau as torch\n" + code],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


@EMULATED
@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"FLAMBEAU_LIBCUDA": "/nonexistent/libcuda.so"}, "no NVIDIA driver"),
        ({"FB_EMULATOR_DRIVER": "11080"}, "too old: it is for CUDA 11.8"),
        ({"CUDA_VISIBLE_DEVICES": ""}, "no NVIDIA GPU is visible"),
    ],
)
def test_what_is_missing_is_said(environment: dict[str, str], message: str) -> None:
    code = """
assert not torch.cuda.is_available() and torch.cuda.device_count() == 0
for call in (lambda: torch.ones(1).cuda(), lambda: torch.ones(1, device="cuda"),
             lambda: torch.cuda.synchronize(), lambda: torch.nn.Linear(1, 1).to("cuda:0")):
    try:
        call()
    except AssertionError as error:
        print(error)
"""
    done = run(code, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count(message) == 4
    assert done.stdout.count(REMEDY) == 4


@EMULATED
def test_a_missing_compiler_is_said() -> None:
    done = run(
        "x = torch.ones(2).cuda()\nprint(x.tolist())\nx + x",
        FLAMBEAU_LIBNVRTC="/nonexistent/libnvrtc.so",
        FLAMBEAU_CUDA_CACHE="",
    )
    assert done.stdout == "[1.0, 1.0]\n"
    assert "no NVRTC" in done.stderr
    assert "pip install nvidia-cuda-nvrtc" in done.stderr


@EMULATED
def test_a_forked_process_is_told() -> None:
    code = """
import os
x = torch.ones(2).cuda()
if os.fork() == 0:
    try:
        torch.ones(1, device="cuda")
    except RuntimeError as error:
        print(error, flush=True)
    os._exit(0)
os.wait()
"""
    assert "Cannot re-initialize CUDA in forked subprocess" in run(code).stdout


@EMULATED
def test_importing_opens_nothing() -> None:
    code = """
names = {line.rpartition("/")[2].strip() for line in open("/proc/self/maps")}
print([each for each in names if each.startswith(("libemulated", "libcuda", "libnvrtc"))])
"""
    assert run(code).stdout == "[]\n"


PROGRAM = """
x = torch.arange(3.0).cuda()
assert (x + x).tolist() == [0.0, 2.0, 4.0]
print(torch._C._cuda_programs())
"""


@EMULATED
def test_compiled_kernels_are_kept(tmp_path: Path) -> None:
    folder = str(tmp_path / "kernels")
    first, second = (run(PROGRAM, FLAMBEAU_CUDA_CACHE=folder) for _ in range(2))
    assert "'compiled': 1, 'from_disk': 0" in first.stdout, first.stderr
    assert "'compiled': 0, 'from_disk': 1" in second.stdout, second.stderr
    (entry,) = Path(folder).iterdir()
    whole = entry.read_bytes()
    for damaged in (whole[:-1], whole[:20], b"", whole[:-3] + b"xyz"):
        entry.write_bytes(damaged)
        assert "'compiled': 1" in run(PROGRAM, FLAMBEAU_CUDA_CACHE=folder).stdout
        assert len(list(Path(folder).iterdir())) == 1


@EMULATED
def test_a_cache_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for folder in ("", str(tmp_path / "file" / "kernels")):
        assert "'compiled': 1" in run(PROGRAM, FLAMBEAU_CUDA_CACHE=folder).stdout


@EMULATED
def test_the_cache_is_bounded(tmp_path: Path) -> None:
    for number in range(3):
        (tmp_path / f"old{number}").write_bytes(bytes(1 << 20))
        os.utime(tmp_path / f"old{number}", (number, number))
    run(PROGRAM, FLAMBEAU_CUDA_CACHE=str(tmp_path), FLAMBEAU_CUDA_CACHE_MB="2")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 2 << 20
    assert not (tmp_path / "old0").exists()


@EMULATED
def test_without_virtual_memory() -> None:
    code = """
x = [torch.full((1 << 20,), float(i), device="cuda") for i in range(8)]
assert [t[0].item() for t in x] == list(range(8))
reserved = torch.cuda.memory_reserved()
del x
torch.cuda.empty_cache()
print(reserved > 0 and torch.cuda.memory_reserved() == 0)
"""
    done = run(code, FB_EMULATOR_VIRTUAL="0")
    assert done.stdout == "True\n", done.stderr


@EMULATED
def test_several_devices() -> None:
    code = """
a, b = torch.ones(3, device="cuda:0"), torch.ones(3, device="cuda:1")
assert b.device.index == 1 and (b + b).device.index == 1
assert a.to("cuda:1").device == b.device and a.cuda(1).tolist() == [1.0] * 3
with torch.cuda.device(1):
    assert torch.zeros(1, device="cuda").device.index == 1
try:
    a + b
except RuntimeError as error:
    print(error)
"""
    done = run(code, FB_EMULATOR_DEVICES="2")
    assert "cuda:0 and cuda:1" in done.stdout, done.stderr


@EMULATED
def test_memory_that_another_stream_uses_is_kept() -> None:
    code = """
stream = torch.cuda.Stream()
x = torch.ones(1000, device="cuda")
address = x.data_ptr()
x.record_stream(stream)
del x
y = torch.empty(1000, device="cuda")
print(y.data_ptr() != address)
"""
    assert run(code, FB_EMULATOR_BUSY="1").stdout == "True\n"


def test_the_sources_are_in_the_module() -> None:
    sources = fb._C._cuda_sources()
    assert "cuda/device/pointwise.cuh" in sources
    assert "gen/device/arith.h" in sources
    assert "scalar/types.h" in sources
