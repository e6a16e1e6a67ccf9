"""Networks and functions that are traced in these tests."""

from __future__ import annotations

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import fx, nn

fx.wrap("doubled")
fx.wrap("len")


def doubled(x):
    return x * 2


class Block(nn.Module):
    def __init__(self, features):
        super().__init__()
        self.norm = nn.LayerNorm(features)
        self.linear = nn.Linear(features, features)

    def forward(self, x):
        return x + F.relu(self.linear(self.norm(x)))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.blocks = nn.Sequential(Block(4), Block(4))
        self.scale = nn.Parameter(torch.full((4,), 2.0))
        self.register_buffer("shift", torch.ones(4))

    def forward(self, x):
        return self.blocks(x) * self.scale + self.shift
