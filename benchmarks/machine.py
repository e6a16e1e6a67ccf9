"""What a result was measured on."""

import importlib.metadata
import os
import platform
from pathlib import Path


def describe(distributions: tuple[str, ...]) -> dict[str, str]:
    """The processor, the system and the versions that a result belongs to."""
    facts = {
        "cpu": _cpu_model(),
        "cores": str(len(os.sched_getaffinity(0))),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    for name in distributions:
        try:
            facts[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            facts[name] = "not installed"
    return facts


def _cpu_model() -> str:
    info = Path("/proc/cpuinfo")
    if info.exists():
        for line in info.read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
