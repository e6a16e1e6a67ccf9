"""Import time in fresh processes, and the size of what an installation brings."""

import importlib.metadata
import importlib.util
import re
import statistics
import subprocess
import sys
from pathlib import Path

_IMPORT = "import time; s = time.perf_counter(); import {}; print(time.perf_counter() - s)"


def import_seconds(modules: tuple[str, ...], rounds: int) -> dict[str, float]:
    """Median seconds of importing each module, in turn, each time in a new process."""
    times: dict[str, list[float]] = {module: [] for module in modules}
    for turn in range(rounds + 1):
        for module in modules:
            command = [sys.executable, "-c", _IMPORT.format(module)]
            seconds = float(subprocess.run(command, capture_output=True, check=True).stdout)
            if turn:  # the first round only fills the disk cache
                times[module].append(seconds)
    return {module: statistics.median(each) for module, each in times.items()}


def installed_bytes(module: str) -> int:
    """Size of the distribution of `module` and everything it requires, without NumPy."""
    found = _with_requirements(module)
    if not any(_own_bytes(name) for name in found):
        return _package_bytes(module)
    return sum(_own_bytes(name) for name in found)


def _with_requirements(distribution: str) -> set[str]:
    seen: set[str] = set()
    pending = [distribution]
    while pending:
        name = re.sub(r"[-_.]+", "-", pending.pop()).lower()
        if name in seen or name == "numpy":
            continue
        try:
            requirements = importlib.metadata.requires(name) or []
        except importlib.metadata.PackageNotFoundError:
            continue
        seen.add(name)
        pending += [
            re.split(r"[^\w.-]", each)[0] for each in requirements if "extra ==" not in each
        ]
    return seen


def _own_bytes(distribution: str) -> int:
    files = importlib.metadata.files(distribution) or []
    paths = (Path(str(each.locate())) for each in files if each.suffix != ".pyc")
    return sum(path.stat().st_size for path in paths if path.is_file())


def _package_bytes(module: str) -> int:
    spec = importlib.util.find_spec(module)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{module} is not installed")
    folder = Path(spec.origin).parent
    files = (path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc")
    return sum(path.stat().st_size for path in files)
