"""``flambeau doctor`` and ``flambeau info``: what they find, and the remedies they name."""

from __future__ import annotations

import argparse
import copy
import json
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau import cli
from flambeau.cli import _machine, _selftest, doctor

FACTS = _machine.facts()


def findings(**changed: Any) -> dict[str, doctor.Finding]:
    """What the doctor says of this machine with some facts changed; no self test."""
    found = copy.deepcopy(FACTS)
    for name, value in changed.items():
        found[name] = {**found[name], **value} if isinstance(value, dict) else value
    sections = [section for title, section in doctor.examine(found) if title != "Self test"]
    return {finding.subject: finding for section in sections for finding in section}


def test_healthy_machine(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    code = cli.main(["doctor"])
    text = capsys.readouterr().out
    assert code == 0, text
    for part in ("Versions", "Processor", "Memory", "Libraries", "GPU", "Self test"):
        assert f"\n{part}\n" in text
    assert fb.__version__ in text
    assert text.endswith("Everything is in order.\n")
    assert "\033" not in text  # no colours into a pipe


def test_threads_are_explained():
    limits = {"affinity": 8, "quota": 2.5, "requested": 0, "default": 3, "used": 3}
    assert findings(threads=limits)["threads"].text == "3 (affinity 8, quota 2.5)"


@pytest.mark.parametrize(
    ("asked", "status", "fix"),
    [
        (16, "problem", "export OMP_NUM_THREADS=4, or unset it"),
        (1, "note", "unset OMP_NUM_THREADS to use 4"),
        (4, "ok", ""),
    ],
)
def test_asked_threads(asked: int, status: str, fix: str):
    limits = {"affinity": 4, "quota": 0.0, "requested": asked, "default": asked, "used": asked}
    limits["variable"] = "OMP_NUM_THREADS"
    finding = findings(threads=limits)["threads"]
    assert (finding.status, finding.fix) == (status, fix)


def test_missing_libraries_have_a_fix():
    found = findings(libraries={"numpy": None, "onednn": None, "openblas": None, "jpeg": None})
    assert {found[name].status for name in ("NumPy", "oneDNN", "OpenBLAS")} == {"problem"}
    assert found["NumPy"].fix == 'python -m pip install "numpy>=1.26"'
    assert "FB_ONEDNN=ON" in found["oneDNN"].fix
    assert found["libjpeg-turbo"].status == "note"
    assert findings(libraries={"numpy": "1.24.0"})["NumPy"].text == "1.24.0 is too old"


def test_lowered_level():
    found = findings(environment={"FLAMBEAU_ISA": "baseline"})["kernels"]
    assert (found.status, found.fix) == ("note", "unset FLAMBEAU_ISA")


@pytest.mark.parametrize(
    ("membership", "files", "limit"),
    [
        ("0::/a/b", {"a/memory.max": "2000", "a/b/memory.max": "max"}, 2000),
        ("0::/a/b", {"memory.max": "1000", "a/b/memory.max": "3000"}, 1000),
        ("0::/outside", {"memory.max": "1000"}, 1000),
        ("3:memory:/x", {"memory/x/memory.limit_in_bytes": "4096"}, 4096),
        ("3:memory:/", {"memory/memory.limit_in_bytes": "9223372036854771712"}, None),
        ("3:cpu:/", {"memory/memory.limit_in_bytes": "4096"}, None),
    ],
)
def test_memory_limit(tmp_path: Path, membership: str, files: dict[str, str], limit: int | None):
    (tmp_path / "cgroup").write_text(membership + "\n")
    for name, content in files.items():
        path = tmp_path / "mount" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content + "\n")
    assert _machine._memory_limit(tmp_path / "cgroup", tmp_path / "mount") == limit


def test_memory_limit_is_told():
    memory = {"total": 8 << 30, "available": 4 << 30, "limit": 1 << 30}
    text = "4.29 GB free of 8.59 GB, at most 1.07 GB by the control group"
    assert findings(memory=memory)["memory"].text == text


@pytest.mark.parametrize("size", [1 << 20, None])
def test_small_shared_memory_is_no_problem(size: int | None):
    """Workers do not use what is mounted at /dev/shm."""
    found = findings(memory={"shared": size})
    assert "/dev/shm" not in found
    assert found["memory"].status != "problem"


def cuda_facts(driver: str | None, **changed: Any) -> dict[str, Any]:
    """A machine with one GPU, or none."""
    facts: dict[str, Any] = {"missing": "", "remedy": "", "devices": []}
    facts |= {"compiler": None, "products": None, "cache": None}
    if driver:
        facts["devices"] = [{"name": "H200", "memory": 141 << 30, "capability": "9.0"}]
        facts["compiler"] = {"version": "13.0", "path": "nvrtc", "missing": ""}
        facts["products"] = {"version": "13.1", "path": "lt", "missing": ""}
        facts["cache"] = {"folder": "kept", "chosen": False, "writable": True, "bytes": 3000}
    return facts | {"driver": driver} | changed


def test_a_gpu_is_named():
    found = findings(cuda=cuda_facts("13.0"))
    assert found["driver"].text == "for CUDA 13.0"
    assert found["GPU 0"].text == "H200, 151 GB, capability 9.0"
    assert found["NVRTC"].text == "13.0, nvrtc"
    assert found["cuBLASLt"].text == "13.1, lt"
    assert found["kernel cache"].text == "kept in kept, 3 kB"


def test_a_gpu_that_cannot_be_used():
    hidden = {"missing": "no NVIDIA GPU is visible", "remedy": "unset CUDA_VISIBLE_DEVICES"}
    found = findings(cuda=cuda_facts("13.0", devices=[], **hidden))
    assert (found["CUDA"].text, found["CUDA"].fix) == tuple(hidden.values())
    assert "NVRTC" not in found


def test_a_gpu_that_is_switched_off():
    off = {"missing": "FLAMBEAU_CUDA=0 switches GPUs off", "remedy": "unset FLAMBEAU_CUDA"}
    found = findings(cuda=cuda_facts(None, **off))["GPU"]
    assert (found.text, found.fix, found.status) == (*off.values(), "note")


@pytest.mark.parametrize(
    ("subject", "status"), [("compiler", "problem"), ("products", "note")], ids=["NVRTC", "Lt"]
)
def test_libraries_that_are_missing(subject: str, status: str):
    library = {"missing": "no library: x.so.13 was not found (python -m pip install x)"}
    name = {"compiler": "NVRTC", "products": "cuBLASLt"}[subject]
    found = findings(cuda=cuda_facts("13.0", **{subject: library}))[name]
    assert found.text.startswith("no library: x.so.13 was not found")
    assert (found.fix, found.status) == ("python -m pip install x", status)


def test_kernels_that_are_not_kept():
    cache = {"folder": "/read/only", "chosen": False, "writable": False, "bytes": 0}
    found = findings(cuda=cuda_facts("13.0", cache=cache))["kernel cache"]
    assert found.status == "problem"
    assert "chmod u+rwx /read/only" in found.fix
    cache |= {"folder": "", "chosen": True}
    found = findings(cuda=cuda_facts("13.0", cache=cache))["kernel cache"]
    assert (found.status, found.fix) == ("note", "unset FLAMBEAU_CUDA_CACHE")


def test_no_driver():
    missing = {"missing": "no NVIDIA driver: libcuda.so.1 was not found"}
    found = findings(cuda=cuda_facts(None, **missing))
    assert "docker run --gpus all" in found["driver"].fix
    assert "NVRTC" not in found


def test_failing_check_is_a_problem(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def wrong() -> None:
        raise AssertionError("off by 3")

    monkeypatch.setattr(doctor, "CHECKS", {"arithmetic": wrong})
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert doctor.run(argparse.Namespace()) == 1
    text = capsys.readouterr().out
    assert "arithmetic      AssertionError: off by 3" in text
    assert text.endswith("There is one problem.\n")


def test_self_test_notices_a_wrong_result():
    with pytest.raises(AssertionError, match=r"off by 1, at most 0\.5 is right"):
        _selftest._same(fb.ones(2), fb.zeros(2), 0.5)


def test_info(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["info"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"flambeau     {fb.__version__}")
    assert any(line.startswith("threads ") for line in lines)


def test_info_for_programs(capsys: pytest.CaptureFixture[str]):
    assert cli.main(["info", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["flambeau"]["version"] == fb.__version__
    assert found["threads"]["used"] == fb.get_num_threads()
    assert found["cpu"]["level"] in found["cpu"]["levels"]


def test_config():
    assert fb.__config__.show().startswith("Flambeau built with:\n")
    assert FACTS["cpu"]["level"] in fb.__config__.show()
    assert f"get_num_threads(): {fb.get_num_threads()}\n" in fb.__config__.parallel_info()
