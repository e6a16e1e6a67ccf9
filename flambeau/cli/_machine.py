"""Facts about this machine and installation: for `info`, `doctor` and the demo's report."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import tempfile
from pathlib import Path
from typing import Any

import flambeau as fb
from flambeau import _C
from flambeau._C import _build, _isa, _thread_limits

__all__ = ["Facts", "facts"]

Facts = dict[str, Any]

# Of the many flags of a processor, those that decide how fast tensors are.
_FEATURES = (
    *("sse4_2", "avx", "avx2", "fma", "f16c", "avx512f", "avx512bw", "avx512dq", "avx512vl"),
    *("avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_bf16", "amx_int8", "asimd", "sve", "bf16"),
)


def facts() -> Facts:
    """Everything, as a dictionary of plain values."""
    return {
        "flambeau": _flambeau(),
        "python": _python(),
        "platform": platform.platform(),
        "cpu": _cpu(),
        "threads": {**_thread_limits(), "used": fb.get_num_threads()},
        "memory": _memory(),
        "libraries": {"numpy": _version_of("numpy"), **_libraries()},
        "cuda": _cuda(),
        "environment": _environment(),
    }


def _flambeau() -> Facts:
    return {
        "version": fb.__version__,
        "follows_pytorch": fb.version.torch,
        "path": str(Path(fb.__file__).parent),
        "compiler": _build()["compiler"],
    }


def _python() -> Facts:
    return {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
    }


def _libraries() -> Facts:
    build = _build()
    return {name: build[name] for name in ("onednn", "openblas", "jpeg")}


def _version_of(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _lines(path: str | Path) -> list[str]:
    """The lines of a file of the system; none where it cannot be read."""
    try:
        return Path(path).read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return []


def _fields(path: str) -> dict[str, str]:
    """The lines `name: value` of a file of /proc, the first of each name."""
    found: dict[str, str] = {}
    for line in _lines(path):
        name, _, value = line.partition(":")
        found.setdefault(name.strip(), value.strip())
    return found


def _cpu() -> Facts:
    fields = _fields("/proc/cpuinfo")
    flags = set((fields.get("flags") or fields.get("Features") or "").split())
    return {
        "model": fields.get("model name") or platform.processor() or platform.machine(),
        "architecture": platform.machine(),
        "count": os.cpu_count(),
        "features": [name for name in _FEATURES if name in flags],
        "levels": list(_build()["levels"]),
        "level": _isa(),
    }


def _memory() -> Facts:
    fields = _fields("/proc/meminfo")

    def size(name: str) -> int | None:
        number = fields.get(name, "").split()
        return int(number[0]) * 1024 if number else None

    return {
        "total": size("MemTotal"),
        "available": size("MemAvailable"),
        "limit": _memory_limit(),
        "shared": _shared_memory(),
    }


def _memory_limit(
    membership: Path = Path("/proc/self/cgroup"), mount: Path = Path("/sys/fs/cgroup")
) -> int | None:
    """The least that the control groups of this process allow, from its own up to the root."""
    limits: list[int] = []
    for line in _lines(membership):
        _, controllers, group = line.split(":", 2)
        if not controllers:
            root, name = mount, "memory.max"
        elif "memory" in controllers.split(","):
            root, name = mount / "memory", "memory.limit_in_bytes"
        else:
            continue
        own = root / group.lstrip("/")
        for folder in (own, *own.parents):
            limits += [int(text) for text in _lines(folder / name) if text.isdecimal()]
            if folder == root:
                break
    # Version 1 writes a number beyond every machine where there is no limit.
    return min((limit for limit in limits if limit < 1 << 60), default=None)


def _shared_memory() -> int | None:
    """The size of what worker processes hand their batches over in."""
    try:
        status = os.statvfs("/dev/shm")
    except OSError:
        return None
    return status.f_blocks * status.f_frsize


def _cuda() -> Facts:
    state = _C._cuda_state()
    version = state["driver"]
    devices = []
    for index in range(state["devices"]):
        found = fb.cuda.get_device_properties(index)
        capability = f"{found.major}.{found.minor}"
        devices.append({"name": found.name, "memory": found.total_memory, "capability": capability})
    compiler = _C._cuda_compiler() if devices else {}
    products = _C._cuda_products() if devices else {}
    number = products.get("version", 0)
    networks = _C._cuda_convolutions() if devices else {}
    release = networks.get("version", 0)
    return {
        "driver": f"{version // 1000}.{version % 1000 // 10}" if version else None,
        "missing": state["missing"],
        "remedy": state["remedy"],
        "devices": devices,
        "compiler": _library(compiler, ".".join(map(str, compiler.get("version", ())))),
        "products": _library(products, f"{number // 10000}.{number % 10000 // 100}"),
        "convolutions": _library(networks, f"{release // 10000}.{release % 10000 // 100}"),
        "cache": _kernel_cache(compiler["cache"]) if devices else None,
    }


def _library(found: Facts, version: str) -> Facts | None:
    return {**found, "version": version} if found else None


def _kernel_cache(folder: str) -> Facts:
    """Where compiled kernels are kept, and whether new ones can be."""
    place = Path(folder)
    nearest = next((each for each in (place, *place.parents) if each.exists()), place)
    files = [each for each in place.iterdir() if each.is_file()] if place.is_dir() else []
    return {
        "folder": folder,
        "chosen": "FLAMBEAU_CUDA_CACHE" in os.environ,
        "writable": _can_write(nearest),
        "bytes": sum(each.stat().st_size for each in files),
    }


def _can_write(folder: Path) -> bool:
    try:
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _environment() -> Facts:
    """The variables that change how Flambeau computes."""
    return {
        name: value
        for name, value in sorted(os.environ.items())
        if name.startswith(("FLAMBEAU_", "OMP_", "MKL_", "ONEDNN_", "DNNL_", "CUDA_"))
    }
