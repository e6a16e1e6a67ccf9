"""Programs on a GPU that need a process of their own: first results, and memory that is reserved.

`python -m benchmarks.device_programs flambeau sum` runs one and prints a number.
"""

import contextlib
import importlib
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

from benchmarks.device import size

LIMIT = 40.0  # seconds that a program may take
MEMORY_BAR = 1.15  # reserved / allocated at the peak
START_BARS = {  # seconds, of a cold and of a warm cache of kernels; None: any
    "sum": (None, 1.0),
    "perceptron": (5.0, 1.0),
}


def first_sum(t: Any) -> float:
    a, b = t.ones(1000, device="cuda"), t.ones(1000, device="cuda")
    return float((a + b).sum().item())


def first_step(t: Any) -> float:
    nn = t.nn
    module = nn.Sequential(nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 10)).to("cuda")
    optimizer = t.optim.Adam(module.parameters(), lr=1e-3)
    x = t.randn(64, 784, device="cuda")
    y = t.randint(0, 10, (64,), device="cuda")
    loss = nn.functional.cross_entropy(module(x), y)
    loss.backward()
    optimizer.step()
    return float(loss.item())


def varied_lengths(t: Any) -> float:
    """Reserved / allocated memory at the peak of training on sequences of many lengths."""
    nn, functional = t.nn, t.nn.functional
    width, words, heads = size(512, 16), size(8000, 50), size(8, 2)
    embedding = nn.Embedding(words, width).to("cuda")
    blocks = [
        nn.ModuleList(
            [
                nn.LayerNorm(width),
                nn.Linear(width, 3 * width),
                nn.Linear(width, width),
                nn.LayerNorm(width),
                nn.Linear(width, 4 * width),
                nn.Linear(4 * width, width),
            ]
        ).to("cuda")
        for _ in range(size(4, 1))
    ]
    head = nn.Linear(width, words).to("cuda")
    modules = nn.ModuleList([embedding, *blocks, head])
    optimizer = t.optim.AdamW(modules.parameters(), lr=1e-4)
    numbers = random.Random(0)
    for _ in range(size(400, 2)):
        batch, length = numbers.randint(1, size(8, 2)), numbers.randint(8, size(512, 12))
        tokens = t.randint(0, words, (batch, length + 1), device="cuda")
        x = embedding(tokens[:, :-1])
        for norm1, inputs, output, norm2, up, down in blocks:
            q, k, v = (
                part.reshape(batch, length, heads, -1).transpose(1, 2)
                for part in inputs(norm1(x)).chunk(3, -1)
            )
            y = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + output(y.transpose(1, 2).reshape(batch, length, width))
            x = x + down(functional.gelu(up(norm2(x))))
        loss = functional.cross_entropy(head(x).flatten(0, 1), tokens[:, 1:].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    t.cuda.synchronize()
    return float(t.cuda.max_memory_reserved()) / float(t.cuda.max_memory_allocated())


PROGRAMS: dict[str, Callable[[Any], float]] = {
    "sum": first_sum,
    "perceptron": first_step,
    "lengths": varied_lengths,
}


def run(module: str, program: str, cache: str | None = None) -> tuple[float, float]:
    """The number that a program prints, and the seconds from its start until then."""
    environment = {**os.environ}
    if cache:
        environment |= {"FLAMBEAU_CUDA_CACHE": cache, "CUDA_CACHE_PATH": cache}
    command = [sys.executable, "-m", "benchmarks.device_programs", module, program]
    start = time.perf_counter()
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    )
    try:
        output, errors = process.communicate(timeout=LIMIT)
    except subprocess.TimeoutExpired:
        process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):  # a driver may hold it for long
            process.communicate(timeout=5)
        raise RuntimeError(f"{module}: no answer in {LIMIT:g} s, killed") from None
    if process.returncode:
        lines = errors.strip().splitlines() or ["it failed"]
        raise RuntimeError(f"{module}: {lines[-1]}")
    value, end = output.split()
    return float(value), float(end) - start


def first_results(program: str) -> list[float]:
    """Seconds until the first result of Flambeau, with a cold and with a warm cache."""
    with tempfile.TemporaryDirectory() as cache:
        return [run("flambeau", program, cache)[1] for _ in range(2)]


def main() -> None:
    module, program = sys.argv[1:]
    value = PROGRAMS[program](importlib.import_module(module))
    print(value, time.perf_counter(), flush=True)


if __name__ == "__main__":
    main()
