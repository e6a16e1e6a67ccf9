"""How a benchmark case is declared and found."""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable
from typing import Any

from benchmarks.roofline import Work

Namespace = dict[str, Any]


@dataclasses.dataclass(frozen=True)
class Group:
    """Cases that share a target."""

    name: str
    title: str
    mean_bar: float  # least geometric mean of torch time / Flambeau time
    row_bar: float  # least ratio of any single row


GROUPS = {
    group.name: group
    for group in (
        Group("machine", "what the machine gives", 0.9, 0.8),
        Group("overhead", "small tensors", 5.0, 0.8),
        Group("overhead-more", "more on small tensors", 5.0, 0.8),
        Group("ops-1e3", "operators on 10^3 elements", 3.0, 0.8),
        Group("ops-1e5", "operators on 10^5 elements", 1.2, 0.8),
        Group("ops-1e7", "operators on 10^7 elements", 2.5, 0.8),
        Group("gemm", "matrix products", 0.97, 0.8),
        Group("linalg", "factorisations of matrices", 1.0, 0.8),
        Group("fft", "Fourier transforms", 1.2, 1.0),
        Group("record", "recording a small operator", 6.0, 0.8),
        Group("chain", "chains of 100 operators, forwards and backwards", 8.0, 0.8),
        Group("branching", "branching graphs with broadcasting", 5.0, 0.8),
        Group("nn-linear", "linear layers, and clipping of gradients", 2.0, 0.95),
        Group("nn-loss", "other losses, forwards and backwards", 1.5, 0.8),
        Group("nn-attention", "attention, forwards and backwards", 1.1, 0.8),
        Group("nn-rnn", "recurrent networks, forwards and backwards", 1.3, 0.95),
        Group("nn-cells", "recurrent cells in a loop, forwards and backwards", 4.0, 2.0),
        Group("nn-activation", "activation functions, forwards and backwards", 1.0, 0.8),
        Group("nn-fused", "layers of one kernel, forwards and backwards", 1.5, 0.8),
        Group("nn-resample", "images at other resolutions", 1.0, 0.8),
        Group("nn-module", "calls of small modules", 4.0, 0.8),
        Group("nn-module-more", "small modules otherwise", 2.0, 0.8),
        Group("nn-conv", "convolutions of images", 1.4, 0.95),
        Group("data-loader", "an epoch of a loader without workers", 1.5, 1.1),
        Group("data-workers", "an epoch of a loader with two workers", 1.5, 1.1),
        Group("data-tensors", "an epoch of a loader over tensors", 2.0, 1.5),
        Group("optim-small", "steps of optimisers, 60 small tensors", 4.0, 4.0),
        Group("optim-large", "steps of optimisers, 10^7 parameters", 1.2, 1.2),
        Group("checkpoints", "saving and loading", 1.0, 0.8),
        Group("sparse", "steps with sparse gradients", 1.0, 0.8),
        Group("schedules", "schedules, averages, and optimisers of matrices", 2.0, 0.8),
        Group("logging", "logs for TensorBoard", 3.0, 0.8),
        Group("amp", "mixed precision in bfloat16", 1.5, 0.95),
        Group("profiler", "profiles of small operators", 5.0, 2.0),
        Group("distributions", "distributions on small tensors", 6.0, 2.0),
        Group("vision", "images on their way into a network", 1.5, 0.8),
        Group("vision-v2-small", "small samples with boxes and points", 2.5, 0.9),
        Group("vision-v2", "samples with boxes and masks", 1.5, 0.9),
        Group("vision-data", "data sets of images", 1.5, 0.9),
        Group("vision-io", "image files", 1.1, 0.8),
        Group("detection", "boxes, regions and a detector", 1.5, 0.95),
        Group("train", "whole training steps", 2.2, 1.1),
        Group("networks-train", "training steps of known networks", 1.15, 0.95),
        Group("networks-infer", "known networks on one image", 1.2, 1.2),
        Group("infer", "one sample in evaluation", 1.6, 1.0),
        Group("steps", "whole steps, the bars of many threads", 1.6, 1.0),  # see `steps`
        Group("scaling", "operators on more and more threads", 1.0, 0.8),
        Group("cuda-launch", "cuda: host time of small operators", 1.0, 1.0),
        Group("cuda-bandwidth", "cuda: operators on 2^28 bytes", 1.0, 1.0),
        Group("cuda-products", "cuda: matrix products", 0.98, 0.98),
        Group("cuda-optim", "cuda: optimisers, 10^8 parameters", 1.1, 1.1),
        Group("cuda-train", "cuda: training steps", 3.0, 3.0),
        Group("cuda-order", "cuda: sorting and indexing, 10^7 elements", 1.2, 0.0),
        Group("cuda-start", "cuda: first result of a fresh process", 0.0, 0.0),  # see `device`
        Group("cuda-memory", "cuda: reserved / allocated memory", 0.0, 0.0),  # see `device`
        Group("cuda-networks", "cuda: layers of networks, without bars", 0.0, 0.0),
    )
}
CUDA_GROUPS = tuple(name for name in GROUPS if name.startswith("cuda-"))
ASKED_GROUPS = ("steps", "scaling", *CUDA_GROUPS)  # which run only if they are asked for


@dataclasses.dataclass(frozen=True)
class Case:
    """One row: `prepare` makes the variables of `statement`, which is what is timed.

    `check` is an expression for numbers that both frameworks must agree on before they are timed.
    `bar` is the least ratio of this row, if the group's does not fit. With `work` the share of
    the roofline is printed.

    `timer` says what is timed, and `calls` the calls of a batch: see `device_time`. `share_bar` is
    the least share of the bandwidth of a copy.
    """

    group: str
    name: str
    prepare: Callable[[Any], Namespace]
    statement: str
    check: str | None = None
    bar: float | None = None
    work: Work | None = None
    timer: str = "wall"
    calls: int = 0
    share_bar: float = 0.0

    @property
    def key(self) -> str:
        return f"{self.group}: {self.name}"

    @property
    def least_ratio(self) -> float:
        return GROUPS[self.group].row_bar if self.bar is None else self.bar


CASES: dict[str, Case] = {}
STEPS_OF_GROUPS = ("train", "infer")
OTHER_STEPS = (
    "networks-train: ResNet-50, batch 4, SGD momentum",
    "networks-infer: ResNet-18",
)


def add_case(
    group: str,
    name: str,
    prepare: Callable[[Any], Namespace],
    statement: str,
    *,
    check: str | None = None,
    bar: float | None = None,
    work: Work | None = None,
    timer: str = "wall",
    calls: int = 0,
    share_bar: float = 0.0,
) -> None:
    """Register one row. `prepare(t)` gives the names that `statement` uses."""
    case = Case(group, name, prepare, statement, check, bar, work, timer, calls, share_bar)
    assert case.key not in CASES, f"{case.key} is declared twice"
    CASES[case.key] = case


def all_cases(prefix: str = "") -> dict[str, Case]:
    """Every case of `cases/`, in the order of the groups and of declaration.

    With a prefix, those of the files that are named so: others may need packages that are missing.
    """
    package = importlib.import_module("benchmarks.cases")
    for module in pkgutil.iter_modules(package.__path__):
        if module.name.startswith(prefix):
            importlib.import_module(f"{package.__name__}.{module.name}")
    order = list(GROUPS)
    return dict(sorted(CASES.items(), key=lambda item: order.index(item[1].group)))


def steps(cases: dict[str, Case]) -> list[Case]:
    """The rows of the group `steps`, which others declare, with its bar."""
    own = [case for case in cases.values() if case.group in STEPS_OF_GROUPS]
    rows = own + [cases[key] for key in OTHER_STEPS]
    return [dataclasses.replace(case, bar=GROUPS["steps"].row_bar) for case in rows]
