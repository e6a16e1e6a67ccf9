"""The same operators as several compilers built them, on one thread and 10^5 elements.

Every compiler that is found builds into an environment of its own, `.venv-clang++-19`, as
`make compilers` does: kernels at one instruction-set level. A process of each then times the rows
in turn. `python -m benchmarks.compilers` is such a process; it answers as `benchmarks.worker` does.
"""

import functools
import importlib
import shutil
import subprocess
from collections.abc import Iterable
from typing import Any

from benchmarks import worker
from benchmarks.case import Case, Namespace
from benchmarks.process import Process

BAR = 0.85  # least time of the best compiler / time of any other
SIZE = 100_000
COLUMNS = 100
GROUP = "compilers"
NAMES = (*(f"g++-{n}" for n in range(11, 17)), *(f"clang++-{n}" for n in range(16, 23)))


def numbers(t: Any) -> Namespace:
    """Vectors of every kind of element."""
    t.manual_seed(0)
    x, y = t.rand(SIZE) * 4 - 2, t.rand(SIZE) * 4 - 2
    return {
        "t": t,
        "F": t.nn.functional,
        "x": x,
        "y": y,
        "positive": x.abs() + 0.1,
        "mask": x > 0,
        "other": y > 0,
        "double": x.double(),
        "half": x.half(),
        "bfloat": x.bfloat16(),
        "z": t.complex(x, y),
        "w": t.complex(y, x),
        "int64": t.randint(1, 50, (SIZE,)),
        "int32": t.randint(1, 50, (SIZE,), dtype=t.int32),
        "int16": t.randint(1, 7, (SIZE,), dtype=t.int16),
    }


def matrices(t: Any) -> Namespace:
    t.manual_seed(0)
    rows = SIZE // COLUMNS
    return {
        "t": t,
        "F": t.nn.functional,
        "x": t.rand(rows, COLUMNS) * 4 - 2,
        "weight": t.rand(COLUMNS),
        "images": t.rand(10, 10, 1000),
        "channels": t.rand(10),
    }


def gradient(t: Any, call: str) -> Namespace:
    """A graph that was recorded once, to be run backwards again and again."""
    t.manual_seed(0)
    rows = SIZE // COLUMNS
    x = (t.rand(rows, COLUMNS) * 4 - 2).requires_grad_()
    names = {
        "t": t,
        "F": t.nn.functional,
        "x": x,
        "y": t.rand(rows, COLUMNS),
        "sign": t.where(t.rand(rows, COLUMNS) > 0.5, 1.0, -1.0),
        "classes": t.randint(0, COLUMNS, (rows,)),
        "weight": t.rand(COLUMNS),
    }
    result = eval(call, names)
    return names | {"result": result, "grad": t.rand(result.shape)}


def stepper(t: Any, optimiser: str) -> Namespace:
    t.manual_seed(0)
    parameter = t.nn.Parameter(t.rand(SIZE))
    parameter.grad = t.rand(SIZE)
    return {"step": getattr(t.optim, optimiser)([parameter], lr=1e-3).step}


POINTWISE = (
    *("x + y", "x * y", "x / y", "x * 2 + 1", "t.exp(x)", "t.log(positive)", "t.sqrt(positive)"),
    *("t.tanh(x)", "t.sigmoid(x)", "t.erf(x)", "t.sin(x)", "t.atan2(x, y)", "positive ** 1.5"),
    *("t.relu(x)", "F.gelu(x)", "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)"),
    *("F.elu(x)", "F.softplus(x)", "F.hardswish(x)", "F.relu6(x)", "F.leaky_relu(x, 0.1)"),
    *("F.softshrink(x)", "x.clamp(-1, 1)", "t.maximum(x, y)", "t.where(mask, x, y)", "x > y"),
    *("x.isnan()", "x.nan_to_num()", "x.fmod(1.5)", "x.masked_fill(mask, 0.0)", "t.exp(double)"),
    *("t.log(double.abs())", "half + half", "F.gelu(bfloat)", "z * w", "z / w", "z.abs()"),
    *("int64 + int64", "int32 * int32", "int16 >> int16", "mask & other"),
    *("t.where(mask, mask, other)", "x.to(t.float64)", "x.to(t.bfloat16)", "int64.to(t.float32)"),
)
REDUCTIONS = (
    *("x.sum()", "x.mean()", "x.max()", "x.argmax()", "x.var()", "x.norm()", "x.prod()"),
    *("mask.any()", "int64.sum()", "double.sum()", "bfloat.sum()", "x.cumsum(0)"),
)
ON_ROWS = (
    *("x.sum(0)", "x.sum(1)", "x.max(1)", "x.var(1)", "x.argmax(1)", "t.logsumexp(x, 1)"),
    *("t.softmax(x, 1)", "t.log_softmax(x, 1)", "F.layer_norm(x, (100,), weight, weight)"),
    "F.batch_norm(images, None, None, channels, channels, training=True)",
)
GRADIENTS = (
    *("x * y", "y / (x + 3)", "t.exp(x)", "t.tanh(x)", "t.sigmoid(x)", "(x + 3) ** 1.5"),
    *("F.relu(x)", "F.gelu(x)", "F.gelu(x, approximate='tanh')", "F.silu(x)", "F.mish(x)"),
    *("F.elu(x)", "F.softplus(x)", "F.hardswish(x)", "F.leaky_relu(x, 0.1)"),
    *("t.softmax(x, 1)", "t.log_softmax(x, 1)", "F.layer_norm(x, (100,), weight, weight)"),
    *("x.sum()", "x.sum(1)", "x.max(1)[0]", "x.var(1)", "x.norm()", "x.cumsum(1)"),
    *("F.cross_entropy(x, classes)", "F.mse_loss(x, y)", "F.smooth_l1_loss(x, y)"),
    *("F.binary_cross_entropy_with_logits(x, y)", "F.kl_div(x, y, reduction='sum')"),
    *("F.soft_margin_loss(x, sign)", "F.gaussian_nll_loss(x, y, y + 1)"),
)
LOSSES = GRADIENTS[-7:]
AGAIN = "t.autograd.grad(result, x, grad, retain_graph=True)"

CASES = [
    *(Case(GROUP, call, numbers, call) for call in (*POINTWISE, *REDUCTIONS)),
    *(Case(GROUP, f"{call}  [rows]", matrices, call) for call in ON_ROWS),
    *(Case(GROUP, call, functools.partial(gradient, call=call), call) for call in LOSSES),
    *(
        Case(GROUP, f"{call}, backwards", functools.partial(gradient, call=call), AGAIN)
        for call in GRADIENTS
    ),
    *(
        Case(GROUP, f"{name}.step()", functools.partial(stepper, optimiser=name), "step()")
        for name in ("SGD", "Adam", "AdamW", "RMSprop")
    ),
]


def main() -> None:
    t = importlib.import_module("flambeau")
    t.set_num_threads(1)
    worker.serve(t, {case.key: case for case in CASES})


# --- the side of the harness


class Column(Process):
    """The process of what one compiler built."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "compilers", threads=1, python=f".venv-{name}/bin/python")
        self.origin = str(self.answer()["origin"])

    def prepare(self, case: Case) -> int:
        return int(self.ask(prepare=case.key)["number"])

    def measure(self, number: int) -> float:
        return float(self.ask(measure=number)["seconds"])


def found() -> list[str]:
    """The compilers of this machine."""
    return [name for name in NAMES if shutil.which(name)]


def build(name: str) -> None:
    """Make the compiler's environment, unless it is there and up to date."""
    subprocess.run(["make", "--no-print-directory", f".venv-{name}/.installed"], check=True)


def seconds(case: Case, columns: list[Column], rounds: int) -> dict[str, float]:
    """The best time of every column, in turns whose order changes."""
    calls = {column: column.prepare(case) for column in columns}
    times: dict[Column, list[float]] = {column: [] for column in columns}
    for turn in range(rounds):
        order: Iterable[Column] = columns if turn % 2 else reversed(columns)
        for column in order:
            times[column].append(column.measure(calls[column]))
    return {column.name: min(times[column]) for column in columns}


if __name__ == "__main__":
    main()
