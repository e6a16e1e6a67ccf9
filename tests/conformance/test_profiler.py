"""Profiles, counted operations and measurements against torch."""

import importlib
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.profiler
import torch.utils.benchmark
import torch.utils.flop_counter

import flambeau

FRAMEWORKS = (torch, flambeau)
# Views are nodes of torch's graphs that a fused operator has no need of.
VIEWS = ("TBackward0", "ViewBackward0", "ReshapeAliasBackward0", "UnsafeViewBackward0")

NETWORKS: dict[str, Callable[[Any], tuple[Any, Any]]] = {
    "perceptron": lambda t: (
        t.nn.Sequential(t.nn.Linear(8, 16), t.nn.ReLU(), t.nn.Linear(16, 4)),
        t.randn(5, 8),
    ),
    "convolutions": lambda t: (
        t.nn.Sequential(
            t.nn.Conv2d(3, 8, 3, padding=1),
            t.nn.ReLU(),
            t.nn.MaxPool2d(2),
            t.nn.Conv2d(8, 4, 3, stride=2),
            t.nn.Flatten(),
            t.nn.Dropout(0.1),
            t.nn.Linear(4, 10),
        ),
        t.randn(2, 3, 8, 8),
    ),
    "words": lambda t: (
        t.nn.Sequential(
            t.nn.Embedding(10, 4), t.nn.LayerNorm(4), t.nn.GELU(), t.nn.Linear(4, 3, bias=False)
        ),
        t.arange(6).view(2, 3),
    ),
    "activations": lambda t: (
        t.nn.Sequential(
            t.nn.Linear(3, 3),
            t.nn.Sigmoid(),
            t.nn.Tanh(),
            t.nn.SiLU(),
            t.nn.LeakyReLU(),
            t.nn.ELU(),
            t.nn.Softmax(-1),
        ),
        t.randn(2, 3),
    ),
}


def profiled(t: Any, network: str, **options: Any) -> Any:
    net, x = NETWORKS[network](t)
    with t.profiler.profile(**options) as prof:
        result = net(x)
        (result * result).mean().backward()
    return prof


def outermost(t: Any, network: str) -> list[tuple[str, list[list[int]]]]:
    """Names and shapes of tensors, of what was not called by another operator."""
    events = profiled(t, network, record_shapes=True).events()
    return [
        # Sorted: F.embedding passes its arguments on in another order.
        (event.name, sorted(shape for shape in event.input_shapes if shape))
        for event in events
        if event.cpu_parent is None and not event.name.endswith(VIEWS)
    ]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_same_operators_and_nodes_in_the_same_order(network: str) -> None:
    theirs, ours = (outermost(t, network) for t in FRAMEWORKS)
    assert ours == theirs


@pytest.mark.parametrize("network", ["perceptron", "activations"])
def test_the_same_memory_of_operators(network: str) -> None:
    def taken(t: Any) -> list[tuple[str, int]]:
        events = profiled(t, network, profile_memory=True).events()
        outer = [event for event in events if event.cpu_parent is None and "[" not in event.name]
        before = next(i for i, event in enumerate(outer) if event.name == "aten::ones_like")
        return [(event.name, event.cpu_memory_usage) for event in outer[:before]]

    theirs, ours = (taken(t) for t in FRAMEWORKS)
    assert ours == theirs


@pytest.mark.parametrize("network", NETWORKS)
def test_the_same_operations_in_tables(network: str) -> None:
    def forward_flops(t: Any) -> list[tuple[str, int]]:
        events = profiled(t, network, with_flops=True).events()
        before = next(i for i, event in enumerate(events) if event.name == "aten::ones_like")
        products = ("aten::addmm", "aten::mm", "aten::conv2d")
        return [(e.name, e.flops) for e in events[:before] if e.name in products]

    theirs, ours = (forward_flops(t) for t in FRAMEWORKS)
    assert ours == theirs


def counted(t: Any, run: Callable[[Any], Any]) -> dict[str, dict[str, int]]:
    """Operations by module and operator, of a forward and a backward."""
    counter = importlib.import_module(f"{t.__name__}.utils.flop_counter").FlopCounterMode
    with counter(display=False) as mode:
        run(t).sum().backward()
    assert mode.get_total_flops() == sum(mode.get_flop_counts()["Global"].values())
    return {
        name: {str(operator): flops for operator, flops in operators.items()}
        for name, operators in mode.get_flop_counts().items()
    }


def wanted(t: Any, *sizes: int) -> Any:
    return t.ones(*sizes, requires_grad=True)


PROGRAMS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda t: t.nn.Linear(8, 16)(t.ones(5, 8)),
    "linear of a batch": lambda t: t.nn.Linear(8, 16)(wanted(t, 2, 5, 8)),
    "linear without bias": lambda t: t.nn.Linear(8, 16, bias=False)(t.ones(2, 5, 8)),
    "linear of a vector": lambda t: t.nn.Linear(8, 16)(t.ones(8)),
    "conv1d": lambda t: t.nn.Conv1d(4, 8, 3, dilation=2)(t.ones(2, 4, 9)),
    "conv2d": lambda t: t.nn.Conv2d(3, 8, 3, stride=2, padding=1)(wanted(t, 2, 3, 9, 9)),
    "conv3d": lambda t: t.nn.Conv3d(2, 4, 2)(t.ones(1, 2, 4, 4, 4)),
    "transposed": lambda t: t.nn.ConvTranspose2d(4, 8, 3, stride=2)(wanted(t, 2, 4, 5, 5)),
    "mm": lambda t: wanted(t, 3, 4) @ t.ones(4, 5),
    "addmm": lambda t: t.addmm(t.ones(5), wanted(t, 3, 4), wanted(t, 4, 5)),
    "bmm": lambda t: wanted(t, 2, 3, 4) @ t.ones(2, 4, 5),
    "baddbmm": lambda t: t.baddbmm(t.ones(2, 3, 5), wanted(t, 2, 3, 4), t.ones(2, 4, 5)),
    "batch by matrix": lambda t: wanted(t, 2, 3, 4) @ t.ones(4, 5),
    "matrix by vector": lambda t: wanted(t, 3, 4) @ t.ones(4),
    "einsum": lambda t: t.einsum("bij,bkj->bik", wanted(t, 2, 3, 4), t.ones(2, 5, 4)),
}


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_same_counted_operations(program: str) -> None:
    theirs, ours = (counted(t, PROGRAMS[program]) for t in FRAMEWORKS)
    assert ours == theirs


def test_the_same_operations_of_whole_networks() -> None:
    def gru(t: Any) -> Any:
        return t.nn.GRU(4, 8)(t.ones(3, 2, 4))[0]

    def attention(t: Any) -> Any:
        x = t.ones(2, 3, 8)
        return t.nn.MultiheadAttention(8, 2, batch_first=True)(x, x, x)[0]

    def total(t: Any, run: Callable[[Any], Any]) -> int:
        return sum(counted(t, run)["Global"].values())

    for run in (gru, attention):
        theirs, ours = (total(t, run) for t in FRAMEWORKS)
        assert ours == theirs


# --- measurements

TIMES = (
    [1e-3],
    [1e-3, 1.1e-3],
    [1e-3, 2e-3, 3e-3, 4e-3],
    [1.234e-6] * 10,
    [1e-6 + i * 1e-8 for i in range(20)],
    [1, 1.2, 3, 1, 1, 1, 1.1, 1.2],
    [7e-8 * (i % 3 + 1) for i in range(9)],
)


def measured(t: Any, times: list[float], runs: int) -> Any:
    benchmark = importlib.import_module(f"{t.__name__}.utils.benchmark")
    spec = benchmark.TaskSpec("f(x)", "x = 1", label="L", sub_label="s", description="d")
    return benchmark.Measurement(runs, times, spec)


@pytest.mark.parametrize("times", TIMES, ids=range(len(TIMES)))
@pytest.mark.parametrize("runs", [1, 10])
def test_the_same_statistics_and_text(times: list[float], runs: int) -> None:
    theirs, ours = (measured(t, times, runs) for t in FRAMEWORKS)
    for name in ("significant_figures", "has_warnings", "title", "env", "as_row_name"):
        assert getattr(ours, name) == getattr(theirs, name), name
    for name in ("median", "mean", "iqr"):
        # NumPy interpolates quantiles in another order of operations.
        assert getattr(ours, name) == pytest.approx(getattr(theirs, name), rel=1e-12), name
    assert repr(ours).split("\n")[1:] == repr(theirs).split("\n")[1:]


@pytest.mark.parametrize("time", [5e-9, 1e-6, 3e-5, 1e-3, 0.02, 0.5, 1, 60, 4000])
def test_the_same_units(time: float) -> None:
    theirs, ours = (
        importlib.import_module(f"{t.__name__}.utils.benchmark").select_unit(time)
        for t in FRAMEWORKS
    )
    assert ours == theirs


def test_the_same_actions_of_schedules() -> None:
    for arguments in (
        {"wait": 1, "warmup": 1, "active": 2},
        {"wait": 0, "warmup": 2, "active": 1, "repeat": 2},
        {"wait": 2, "warmup": 1, "active": 3, "repeat": 1, "skip_first": 4},
        {"wait": 2, "warmup": 1, "active": 1, "skip_first": 3, "skip_first_wait": 1},
    ):
        theirs, ours = (
            [t.profiler.schedule(**arguments)(step).name for step in range(30)] for t in FRAMEWORKS
        )
        assert ours == theirs
