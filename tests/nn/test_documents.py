"""The network of a beginner's document: built, printed, run, and its gradients."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn


class Net(nn.Module):
    def __init__(self) -> None:
        super(Net, self).__init__()  # noqa: UP008  as the document has it
        # 1 input image channel, 6 output channels, 5x5 square convolution
        self.conv1 = nn.Conv2d(1, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x: Any) -> Any:
        x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.view(-1, self.num_flat_features(x))
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        return self.fc3(x)

    def num_flat_features(self, x: Any) -> int:
        size = x.size()[1:]  # all dimensions except the batch dimension
        num_features = 1
        for s in size:
            num_features *= s
        return num_features


@pytest.fixture
def net() -> Net:
    torch.manual_seed(0)
    return Net()


def test_it_is_shown(net: Net) -> None:
    assert str(net) == (
        "Net(\n"
        "  (conv1): Conv2d(1, 6, kernel_size=(5, 5), stride=(1, 1))\n"
        "  (conv2): Conv2d(6, 16, kernel_size=(5, 5), stride=(1, 1))\n"
        "  (fc1): Linear(in_features=400, out_features=120, bias=True)\n"
        "  (fc2): Linear(in_features=120, out_features=84, bias=True)\n"
        "  (fc3): Linear(in_features=84, out_features=10, bias=True)\n"
        ")"
    )
    assert len(list(net.parameters())) == 10
    assert next(net.parameters()).size() == (6, 1, 5, 5)


def test_it_runs(net: Net) -> None:
    out = net(torch.randn(1, 1, 32, 32))
    assert out.shape == (1, 10)
    assert "grad_fn=<AddmmBackward0>" in repr(out)
    with pytest.raises(RuntimeError):
        net(torch.randn(1, 3, 32, 32))


def test_its_gradients(net: Net) -> None:
    out = net(torch.randn(1, 1, 32, 32))
    target = torch.randn(10).view(1, -1)
    loss = ((out - target) ** 2).mean()
    net.zero_grad()
    assert net.conv1.bias.grad is None
    loss.backward()
    first = net.conv1.bias.grad.clone()
    assert first.shape == (6,)
    assert first.abs().sum() > 0
    net.zero_grad(set_to_none=False)
    assert str(net.conv1.bias.grad) == "tensor([0., 0., 0., 0., 0., 0.])"


def test_it_learns(net: Net) -> None:
    images, target = torch.randn(8, 1, 32, 32), torch.arange(8) % 4
    losses = []
    for _ in range(15):
        loss = -torch.log_softmax(net(images), 1)[torch.arange(8), target].mean()
        net.zero_grad()
        loss.backward()
        with torch.no_grad():
            for parameter in net.parameters():
                parameter.sub_(parameter.grad * 0.1)
        losses.append(loss.item())
    assert losses[-1] < losses[0] * 0.9
