"""Peak resident set of the same programs, each in a process of its own."""

import dataclasses
import importlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.networks import NETWORKS, Network, images, training_program
from benchmarks.training import training_step

BAR = 1.25  # Flambeau may use this much more than torch
NETWORKS_BAR = 1.1

_SIZE = 10_000_000


def elementwise(t: Any) -> None:
    """A chain of large temporaries."""
    x, y = t.rand(_SIZE), t.rand(_SIZE)
    for _ in range(5):
        t.sqrt(x * y + 1.0) / (t.exp(x) + y)


def shapes(t: Any) -> None:
    """Results of ever different sizes, a bad case for a cache by size."""
    for step in range(1, 60):
        x = t.ones(step * 150_001)
        (x * 2).sum()


def growth(t: Any) -> None:
    """A tensor that grows by concatenation."""
    x = t.ones(0)
    for _ in range(40):
        x = t.cat([x, t.ones(250_000)])


def sorting(t: Any) -> None:
    """Sorting and selecting, which need scratch memory."""
    x = t.rand(_SIZE // 2)
    values, order = x.sort()
    values[order][x > 0.5].sum()


def products(t: Any) -> None:
    """Matrix products of several sizes."""
    for size in (512, 1024, 2048):
        a, b = t.rand(size, size), t.rand(size, size)
        (a @ b).t().contiguous()


def small(t: Any) -> None:
    """Many small tensors alive at once, then freed."""
    for _ in range(3):
        kept = [t.ones(100) * i for i in range(50_000)]
        del kept


def training(network: Network) -> Callable[[Any], None]:
    """A few training steps: parameters, gradients, momentum, and what the graph keeps."""

    def run(t: Any) -> None:
        training_step(t, training_program(t, network), "small momentum")

    return run


def inference(network: Network) -> Callable[[Any], None]:
    """One image in evaluation, a few times: parameters, packed ones, and the largest layers."""

    def run(t: Any) -> None:
        module = network.make(t).eval()
        x = images(t, 1)
        with t.inference_mode():
            for _ in range(3):
                module(x)

    return run


def bare(t: Any) -> None:
    """Nothing: the memory of the framework itself."""


@dataclasses.dataclass(frozen=True)
class Program:
    """What is run, and how many times torch's memory it may take."""

    run: Callable[[Any], None]
    bar: float = BAR


BASIC = (bare, elementwise, shapes, growth, sorting, products, small)
PROGRAMS: dict[str, Program] = {each.__name__: Program(each) for each in BASIC}
for each in NETWORKS:
    for kind in (training, inference):
        name = f"{kind.__name__} of {each.title}"
        PROGRAMS[name] = Program(kind(each), NETWORKS_BAR)


def peak_bytes(module: str, program: str, threads: int) -> int:
    """Peak resident set of a process that imports `module` and runs `program`."""
    command = [sys.executable, "-m", "benchmarks.memory", module, program, str(threads)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return int(done.stdout)


def main() -> None:
    module, program, threads = sys.argv[1:]
    t = importlib.import_module(module)
    t.set_num_threads(int(threads))
    PROGRAMS[program].run(t)
    # Not getrusage's: a process inherits the peak of the one that started it.
    peak = re.search(r"VmHWM:\s*(\d+) kB", Path("/proc/self/status").read_text())
    assert peak, "the system does not say how much memory a process had"
    print(int(peak[1]) * 1024)


if __name__ == "__main__":
    main()
