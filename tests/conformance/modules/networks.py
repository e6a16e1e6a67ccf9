"""Whole networks: built from one seed, run forwards and backwards, and trained."""

from __future__ import annotations

from typing import Any

from tests.conformance.modules.registry import program


def trained(t: Any, net: Any, x: Any, loss_of: Any, steps: int = 3) -> Any:
    """The losses of a few steps down the slope, and every parameter and buffer afterwards."""
    losses = []
    for _ in range(steps):
        loss = loss_of(net(x))
        net.zero_grad()
        loss.backward()
        with t.no_grad():
            for parameter in net.parameters():
                parameter -= 0.05 * parameter.grad
        losses.append(loss.item())
    return losses, net.state_dict(), repr(net)


def numbers(t: Any, *shape: int) -> Any:
    """Numbers that are not in order, the same in both frameworks."""
    count = 1
    for size in shape:
        count *= size
    return t.sin(t.arange(count, dtype=t.float64) * 1.7).reshape(shape)


@program
def the_network_of_a_document(t: Any) -> Any:
    F = t.nn.functional

    class Net(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv1 = t.nn.Conv2d(1, 6, 5)
            self.conv2 = t.nn.Conv2d(6, 16, 5)
            self.fc1 = t.nn.Linear(16 * 5 * 5, 120)
            self.fc2 = t.nn.Linear(120, 84)
            self.fc3 = t.nn.Linear(84, 10)

        def forward(self, x: Any) -> Any:
            x = F.max_pool2d(F.relu(self.conv1(x)), (2, 2))
            x = F.max_pool2d(F.relu(self.conv2(x)), 2)
            x = x.view(-1, 400)
            return self.fc3(F.relu(self.fc2(F.relu(self.fc1(x)))))

    t.manual_seed(3)
    net = Net().double()
    target = numbers(t, 2, 10)
    return trained(t, net, numbers(t, 2, 1, 32, 32), lambda y: ((y - target) ** 2).mean())


@program
def rows_of_layers(t: Any) -> Any:
    nn = t.nn
    t.manual_seed(1)
    net = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding=1, bias=False),
        nn.ReLU(inplace=True),
        nn.AvgPool2d(2),
        nn.Flatten(),
        nn.Linear(64, 16),
        nn.Tanh(),
        nn.Sequential(nn.Linear(16, 8), nn.GELU(), nn.Identity()),
        nn.Linear(8, 3),
        nn.LogSoftmax(dim=1),
    ).double()
    target = t.tensor([0, 2, 1])
    loss = nn.NLLLoss()
    return trained(t, net, numbers(t, 3, 2, 8, 8), lambda y: loss(y, target))


@program
def hooks_within_a_network(t: Any) -> Any:
    nn = t.nn
    t.manual_seed(2)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten(), nn.Linear(8, 2)).double()
    log: list[Any] = []
    for name, module in net.named_children():
        module.register_forward_hook(
            lambda m, args, out, name=name: log.append((name, tuple(out.shape)))
        )
        module.register_full_backward_hook(
            lambda m, gi, go, name=name: log.append((name, gi[0], go[0]))
        )
    x = numbers(t, 1, 1, 4, 4).requires_grad_()
    net(x).sum().backward()
    return log, x.grad
