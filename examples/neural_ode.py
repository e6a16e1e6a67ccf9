"""A neural ordinary differential equation that learns the motion of a pendulum.

A network predicts the derivative of angle and speed; a Runge-Kutta integrator, an ordinary Python
loop that autograd differentiates step by step, integrates it. Training sees only noisy
measurements.

Expected: after 3000 steps (about 4 s on two cores) a predicted trajectory of ten seconds stays
within 0.25 of the true one on average.
"""

import argparse
from collections.abc import Callable

import flambeau as torch
from flambeau import Tensor, nn

Field = Callable[[Tensor], Tensor]


def pendulum(y: Tensor) -> Tensor:
    """The law to be found: how angle and speed change, with some friction."""
    angle, speed = y.unbind(-1)
    return torch.stack([speed, -2 * angle.sin() - 0.1 * speed], dim=-1)


def integrate(field: Field, start: Tensor, steps: int, dt: float) -> Tensor:
    """The path from ``start`` by the classical fourth-order rule: one row for each time."""
    y, path = start, [start]
    for _ in range(steps):
        k1 = field(y)
        k2 = field(y + dt / 2 * k1)
        k3 = field(y + dt / 2 * k2)
        k4 = field(y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        path.append(y)
    return torch.stack(path)


class Law(nn.Module):
    def __init__(self, width: int = 50) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, width), nn.Tanh(), nn.Linear(width, 2))

    def forward(self, y: Tensor) -> Tensor:
        return self.net(y)


def train(steps: int = 3000, seed: int = 0) -> tuple[Tensor, Tensor]:
    """The true path and the learnt one, from the same start."""
    torch.manual_seed(seed)
    start, dt, length, stretch = torch.tensor([2.5, 0.0]), 0.05, 200, 10
    truth = integrate(pendulum, start, length, dt)
    seen = truth + 0.02 * torch.randn_like(truth)
    field = Law()
    optimizer = torch.optim.Adam(field.parameters(), lr=1e-2)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, gamma=0.1 ** (1 / steps))
    bar = torch.progress(range(steps), "neural ODE")
    for _ in bar:
        first = torch.randint(length - stretch, (32,))
        wanted = torch.stack([seen[first + k] for k in range(stretch + 1)])
        loss = (integrate(field, seen[first], stretch, dt) - wanted).abs().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        bar.set(loss=loss)
    with torch.no_grad():
        return truth, integrate(field, start, length, dt)


def mean_error(truth: Tensor, learnt: Tensor) -> float:
    return (truth - learnt).norm(dim=1).mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=0)
    truth, learnt = train(**vars(parser.parse_args()))
    for k in range(0, len(truth), 40):
        (x, y), (u, v) = truth[k].tolist(), learnt[k].tolist()
        print(f"t = {0.05 * k:4.1f}   true ({x:+.3f}, {y:+.3f})   learnt ({u:+.3f}, {v:+.3f})")
    print(f"mean distance of the two paths: {mean_error(truth, learnt):.4f}")


if __name__ == "__main__":
    main()
