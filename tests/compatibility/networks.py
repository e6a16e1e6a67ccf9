"""Small networks that scripts and traces are made of."""

from __future__ import annotations

import flambeau as torch
from flambeau import jit, nn
from flambeau.nn import functional as F


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(1, 4, 3, padding=1)
        self.norm = nn.BatchNorm2d(4)
        self.head = nn.Linear(4 * 4, 3)
        self.scale = 2.0

    def forward(self, x):
        x = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        return self.head(x.view(x.size(0), -1)) * self.scale

    @jit.export
    def twice(self, x):
        return x * 2

    @jit.ignore
    def log(self, x):
        return "logged"


class Choice(nn.Module):
    def forward(self, x):
        return x + 1 if bool(x.sum() > 0) else x - 1


def network():
    torch.manual_seed(0)
    return Net().eval()


def images(count=2):
    return torch.linspace(-1, 1, count * 16).reshape(count, 1, 4, 4)
