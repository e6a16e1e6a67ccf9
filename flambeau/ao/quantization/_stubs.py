"""Where a model begins and ends to be quantised. Before that they pass their inputs on."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor, nn

__all__: list[str] = []


class QuantStub(nn.Module):
    """The place at which inputs are quantised."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Tensor) -> Tensor:
        return x


class DeQuantStub(QuantStub):
    """The place at which results are floating-point numbers again."""


class QuantWrapper(nn.Module):
    """A model between both."""

    def __init__(self, module: nn.Module) -> None:
        super().__init__()
        self.quant: QuantStub = QuantStub()
        self.dequant: DeQuantStub = DeQuantStub()
        self.module = module
        self.train(module.training)

    def forward(self, x: Tensor) -> Tensor:
        result: Tensor = self.dequant(self.module(self.quant(x)))
        return result
