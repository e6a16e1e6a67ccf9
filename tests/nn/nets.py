"""Small networks that the tests share."""

from __future__ import annotations

from typing import Any

import flambeau as torch
from flambeau import nn


class Affine(nn.Module):
    """A layer with a weight, a bias and a buffer."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(outputs, inputs))
        self.bias = nn.Parameter(torch.zeros(outputs))
        self.register_buffer("calls", torch.zeros((), dtype=torch.int64))

    def forward(self, x: Any) -> Any:
        self.calls += 1
        return x @ self.weight.t() + self.bias


class Net(nn.Module):
    """Two layers, one of them within a Sequential, and a parameter of its own."""

    def __init__(self) -> None:
        super().__init__()
        self.first = Affine(3, 4)
        self.rest = nn.Sequential(Affine(4, 4), Affine(4, 2))
        self.scale = nn.Parameter(torch.tensor(2.0))

    def forward(self, x: Any) -> Any:
        return self.rest(self.first(x)) * self.scale
