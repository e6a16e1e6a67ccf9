"""The samples of torch's optimisers: several steps of each implementation, and what is refused."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
from torch.testing._internal.common_optimizers import optim_db

from tests.conformance.database.compare import difference
from tests.conformance.database.resolve import counterpart
from tests.conformance.database.run import both, copied, quickly, seed
from tests.conformance.database.tally import Tally, describe
from tests.conformance.database.translate import translated

STEPS = 6
SHAPES = ((4, 3), (3,), (2, 3, 2), ())
MATRICES = ((4, 3), (3, 5))  # all that Muon takes
# Arguments that choose among implementations; maximize changes what is computed.
WAYS = ("foreach", "fused", "differentiable", "capturable", "maximize")


@dataclass(frozen=True)
class OptimizerCase:
    """How an optimiser is made in torch, and the gradients that it gets."""

    info: Any
    params: Any  # None: plain ones
    options: dict[str, Any]
    dtype: torch.dtype

    def run(self, t: Any) -> Any:
        """Parameters and state after some steps, for the same gradients."""
        change = copied if t is torch else translated
        make = self.info.optim_cls if t is torch else counterpart(self.info.optim_cls)
        params = self._plain(change) if self.params is None else change(self.params)
        optimizer = make(params, **change(self.options))
        # Steps that are recorded change no leaves.
        leaves = [each for group in optimizer.param_groups for each in group["params"]]
        if self.options.get("differentiable"):
            for each in leaves:
                each.requires_grad_(False)
        for step in range(STEPS):
            if self.info.step_requires_closure:
                optimizer.step(lambda: self._loss(t, optimizer, leaves))
                continue
            for i, each in enumerate(leaves):
                each.grad = change(self._gradient(tuple(each.shape), step, i))
            optimizer.step()
        return [*leaves, *self._state(optimizer, leaves)]

    def _plain(self, change: Any) -> list[Any]:
        shapes = MATRICES if self.info.name == "Muon" else SHAPES
        generator = torch.Generator().manual_seed(1)
        made = [torch.randn(each, generator=generator, dtype=self.dtype) for each in shapes]
        return [change(torch.nn.Parameter(each)) for each in made]

    def _gradient(self, shape: tuple[int, ...], step: int, place: int) -> torch.Tensor:
        generator = torch.Generator().manual_seed(100 * step + place)
        dense = torch.randn(shape, generator=generator, dtype=self.dtype)
        if not self.info.only_supports_sparse_grads:
            return dense
        return dense.where(dense > 0, torch.zeros_like(dense)).to_sparse()

    @staticmethod
    def _loss(t: Any, optimizer: Any, leaves: list[Any]) -> Any:
        """Of a valley that is not round, for optimisers that ask for more than one gradient."""
        optimizer.zero_grad()
        with t.enable_grad():
            loss = sum(((each - 0.3) ** 2 * (i + 1)).sum() for i, each in enumerate(leaves))
            loss = loss + sum((each**4).sum() for each in leaves)
        loss.backward()
        return loss

    @staticmethod
    def _state(optimizer: Any, leaves: list[Any]) -> Iterator[Any]:
        for each in leaves:
            for key, value in sorted(optimizer.state[each].items()):
                yield key
                yield from value if isinstance(value, list) else [value]


def check(case: OptimizerCase) -> str:
    return difference(*both(case.run), scaled=True)


def cases_of(info: Any) -> Iterator[OptimizerCase]:
    """The inputs of an OptimizerInfo in every way that the class takes."""
    takes = inspect.signature(info.optim_cls.__init__).parameters
    for dtype in (torch.float32, torch.float64):
        for sample in info.optim_inputs_func(device="cpu", dtype=dtype):
            yield OptimizerCase(info, sample.params, sample.kwargs, dtype)
            for way in WAYS:
                if way in takes and way not in sample.kwargs:
                    options = {**sample.kwargs, way: True}
                    yield OptimizerCase(info, sample.params, options, dtype)
        for error in info.optim_error_inputs_func(device="cpu", dtype=dtype):
            given = error.optimizer_error_input
            yield OptimizerCase(info, given.params, given.kwargs, dtype)


def tally(info: Any) -> Tally:
    """Every comparison of the samples of an optimiser."""
    made = Tally(f"optimizer {info.name}")
    with quickly():
        seed()
        for case in cases_of(info):
            made.compare(
                str(case.dtype)[6:],
                f"({describe({'params': case.params, **case.options})})",
                {"steps": lambda case=case: check(case)},
            )
    return made


OPTIMIZERS = {info.name: info for info in optim_db}
