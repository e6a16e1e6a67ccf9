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
        ({"CUDA_VISIBLE_DEVICES": ""}, "no NVIDIA GPU is visible (unset CUDA_VISIBLE_DEVICES"),
        ({"FB_EMULATOR_DEVICES": "0"}, "no NVIDIA GPU is visible"),
        ({"FB_EMULATOR_STARTS": "999"}, "does not start: an error of the emulator (code 999)"),
        ({"FB_EMULATOR_STARTS": "100"}, "no NVIDIA GPU is visible"),
        ({"FLAMBEAU_LIBCUDA": "libm.so.6"}, "too old: it is for CUDA 0.0, and CUDA 12.0 is needed"),
        ({"FLAMBEAU_CUDA": "0"}, "FLAMBEAU_CUDA=0 switches GPUs off (unset FLAMBEAU_CUDA)"),
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
@pytest.mark.parametrize(
    ("environment", "message"),
    [
        ({"FLAMBEAU_LIBNVRTC": "libm.so.6"}, "NVRTC is too old: libm.so.6"),
        ({"FB_EMULATOR_CAPABILITY": "50"}, "no longer knows GPUs of compute capability 5.0"),
        ({"CXX": "/bin/false"}, "NVRTC"),
    ],
)
def test_a_compiler_that_does_not_do(environment: dict[str, str], message: str) -> None:
    done = run(
        "x = torch.ones(2).cuda()\ntry: x + x\nexcept RuntimeError as error: print(error)",
        FLAMBEAU_CUDA_CACHE="",
        **environment,
    )
    assert message in done.stdout, done.stderr


@pytest.mark.parametrize("name", ["CUDA", "NVRTC", "CUBLASLT", "CUDNN"])
def test_an_empty_path_counts_as_none(name: str) -> None:
    variable = f"FLAMBEAU_LIB{name}"
    code = """
print([each() for each in (torch._C._cuda_state, torch._C._cuda_compiler,
                           torch._C._cuda_products, torch._C._cuda_convolutions)])
"""
    empty = run(code, **{variable: ""})
    unset = run(f"import os\ndel os.environ[{variable!r}]\n" + code, **{variable: ""})
    assert "'missing'" in empty.stdout, empty.stderr
    assert empty.stdout == unset.stdout


@EMULATED
def test_a_gpu_that_is_newer_than_the_compiler(tmp_path: Path) -> None:
    """It gets code for the newest one that the compiler knows, which the driver compiles on."""
    code = "x = torch.ones(2).cuda()\nprint((x + x).tolist(), torch.cuda.get_device_capability())"
    done = run(code, FB_EMULATOR_CAPABILITY="130", FLAMBEAU_CUDA_CACHE=str(tmp_path))
    assert done.stdout == "[2.0, 2.0] (13, 0)\n", done.stderr
    (entry,) = tmp_path.iterdir()
    assert b"--gpu-architecture=compute_90" in entry.read_bytes()


@EMULATED
def test_a_forked_process_leaves_the_memory_alone() -> None:
    """Its copies of tensors and streams die without a call of the driver's."""
    code = """
import gc, os, sys
x, event = torch.ones(2).cuda(), torch.cuda.Event()
event.record()
pinned = torch.ones(2).pin_memory()
x.record_stream(torch.cuda.Stream())
if os.fork() == 0:
    assert not torch.cuda.is_available() and not torch.cuda.is_initialized()
    del x, event, pinned
    gc.collect()
    torch.cuda.empty_cache()
    torch.manual_seed(3)
    print(torch.cuda.device_count(), (torch.ones(2) * 2).sum().item(), flush=True)
    sys.exit(0)
_, status = os.wait()
assert os.waitstatus_to_exitcode(status) == 0
x.add_(1)
print(x.tolist())
"""
    done = run(code)
    assert done.stdout == "0 4.0\n[2.0, 2.0]\n", done.stderr


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
def test_a_cache_is_shared_by_processes(tmp_path: Path) -> None:
    """They start together on an empty folder, and each finds or leaves whole entries only."""
    environment = {**os.environ, "FLAMBEAU_CUDA_CACHE": str(tmp_path / "kernels")}
    command = [sys.executable, "-c", "import flambeau as torch\n" + PROGRAM]
    processes = [
        subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    for process in processes:
        out, _ = process.communicate()
        assert process.returncode == 0
        assert "'compiled'" in out
    (entry,) = (tmp_path / "kernels").iterdir()
    assert entry.suffix == ".fbk"
    assert "'compiled': 0" in run(PROGRAM, FLAMBEAU_CUDA_CACHE=str(tmp_path / "kernels")).stdout


@EMULATED
def test_an_entry_of_another_program_is_not_taken(tmp_path: Path) -> None:
    """As if two keys had the same hash."""
    run(PROGRAM, FLAMBEAU_CUDA_CACHE=str(tmp_path))
    (entry,) = tmp_path.iterdir()
    run(PROGRAM.replace("x + x", "x * 2"), FLAMBEAU_CUDA_CACHE=str(tmp_path / "other"))
    (other,) = (tmp_path / "other").iterdir()
    entry.write_bytes(other.read_bytes())
    assert "'compiled': 1" in run(PROGRAM, FLAMBEAU_CUDA_CACHE=str(tmp_path)).stdout


@EMULATED
def test_a_cache_that_is_no_folder_of_ours(tmp_path: Path) -> None:
    folder = tmp_path / "kernels"
    folder.mkdir()
    (folder / "a-folder.fbk").mkdir()
    (folder / "text").write_text("of somebody else")
    assert "'compiled': 1" in run(PROGRAM, FLAMBEAU_CUDA_CACHE=str(folder)).stdout
    assert (folder / "text").read_text() == "of somebody else"
    folder.chmod(0o500)  # which stops anybody but root
    try:
        assert "'compiled'" in run(PROGRAM, FLAMBEAU_CUDA_CACHE=str(folder)).stdout
    finally:
        folder.chmod(0o700)


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
