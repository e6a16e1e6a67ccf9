"""Long graphs: time and memory of a node, and the cost of recording when it is off."""

import gc
import importlib
import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

LENGTHS = (10_000, 100_000, 1_000_000)
# A node of the longest chain may cost this much more than one of the shortest: it is no longer
# cached.
LINEAR_BAR = 2.0
NO_GRAD_BAR = 1.05  # an operator inside no_grad, against one on tensors without gradients
KEPT_NODES = 100_000


def chain(t: Any, length: int, step: Callable[[Any], Any]) -> Any:
    y = t.ones(1, requires_grad=True)
    for _ in range(length):
        y = step(y)
    return y


def seconds_per_node(t: Any, length: int) -> float:
    """Backward through a chain, and dropping it, per node."""
    y = chain(t, length, lambda y: y * 1.0000001)
    begin = time.perf_counter()
    y.backward()
    del y
    return (time.perf_counter() - begin) / length


def bytes_per_node(t: Any, step: Callable[[Any], Any]) -> float:
    """What a process grows by when it records a chain."""
    chain(t, 1000, step)
    gc.collect()
    before = resident_bytes()
    y = chain(t, KEPT_NODES, step)
    grown = resident_bytes() - before
    del y
    return grown / KEPT_NODES


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def no_grad_cost(t: Any) -> float:
    """Time of an operator inside no_grad on leaves / time on tensors without gradients."""
    plain, leaf = t.ones(4), t.ones(4, requires_grad=True)
    number = 20_000

    def run(x: Any) -> float:
        begin = time.perf_counter()
        for _ in range(number):
            x * x
        return time.perf_counter() - begin

    best = {"plain": float("inf"), "leaf": float("inf")}
    with t.no_grad():
        for _ in range(30):
            best["plain"] = min(best["plain"], run(plain))
            best["leaf"] = min(best["leaf"], run(leaf))
    return best["leaf"] / best["plain"]


MEASURES: dict[str, Callable[[Any], Any]] = {
    "seconds": lambda t: [min(seconds_per_node(t, n) for _ in range(3)) for n in LENGTHS],
    "bytes": lambda t: bytes_per_node(t, lambda y: y + 1.0),
    "saving_bytes": lambda t: bytes_per_node(t, lambda y: y.exp()),
    "no_grad": no_grad_cost,
}


def measure(module: str, name: str) -> Any:
    """One measure of one framework, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.graph", module, name]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr.strip().splitlines()[-1])
    return json.loads(done.stdout)


def main() -> None:
    module, name = sys.argv[1:]
    t = importlib.import_module(module)
    t.set_num_threads(1)
    print(json.dumps(MEASURES[name](t)))


if __name__ == "__main__":
    main()
