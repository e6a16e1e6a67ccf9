"""The machine that a result was measured on."""

import importlib.metadata
import os
import platform
from pathlib import Path


def describe(distributions: tuple[str, ...]) -> dict[str, str]:
    """The processor, the system and the versions that a result belongs to."""
    facts = {
        "cpu": _cpu_model(),
        "cores": str(processors()),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    return facts | {name: _version(name) for name in distributions}


def processors() -> int:
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0))


def _version(distribution: str) -> str:
    try:
        return importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
