"""An energy-based model: a network assigns every point an energy that is low near the data.

The probabilities cannot be normalised, so training is contrastive: it lowers the energy of the data
and raises the energy of the model's own samples. Samples come from Langevin dynamics: gradient
descent on the energy with respect to the points, with added noise.

Expected: after 1500 steps (about 30 s on two cores) samples that start as noise end near the
two moons of the data: at least 85 % lie within 0.25 of a data point, against 25 % of the noise.
"""

import argparse
import math

import flambeau as torch
from flambeau import Tensor, nn


def two_moons(count: int) -> Tensor:
    angle = math.pi * torch.rand(count)
    is_upper = torch.rand(count) < 0.5
    x = torch.where(is_upper, angle.cos(), 1 - angle.cos()) - 0.5
    y = torch.where(is_upper, angle.sin(), 0.5 - angle.sin()) - 0.25
    return 1.5 * torch.stack([x, y], dim=1) + 0.08 * torch.randn(count, 2)


def noise(count: int) -> Tensor:
    return 6 * torch.rand(count, 2) - 3


def roll_downhill(energy: nn.Module, points: Tensor, steps: int, size: float = 0.02) -> Tensor:
    """Langevin dynamics: a step along the slope of the energy and a random one, many times."""
    for _ in range(steps):
        points = points.detach().requires_grad_()
        (slope,) = torch.autograd.grad(energy(points).sum(), points)
        points = points - size * slope + math.sqrt(2 * size) * 0.3 * torch.randn_like(points)
    return points.detach()


def train(steps: int = 1500, seed: int = 0, batch: int = 128) -> nn.Module:
    torch.manual_seed(seed)
    energy = nn.Sequential(
        nn.Linear(2, 128), nn.SiLU(), nn.Linear(128, 128), nn.SiLU(), nn.Linear(128, 1)
    )
    optimizer = torch.optim.Adam(energy.parameters(), lr=1e-3, betas=(0.0, 0.99))
    kept = noise(2048)  # samples go on from where they were, and sometimes begin anew
    bar = torch.progress(range(steps), "energy model")
    for _ in bar:
        chosen = torch.randperm(len(kept))[:batch]
        start = torch.where(torch.rand(batch, 1) < 0.05, noise(batch), kept[chosen])
        samples = roll_downhill(energy, start, 20)
        kept[chosen] = samples
        low, high = energy(two_moons(batch)), energy(samples)
        contrast = low.mean() - high.mean()
        loss = contrast + 0.1 * (low.square() + high.square()).mean()  # keeps energies near 0
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        bar.set(contrast=contrast)
    return energy


def share_near_data(points: Tensor) -> float:
    nearest = torch.cdist(points, two_moons(4000)).min(dim=1).values
    return (nearest < 0.25).float().mean().item()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--seed", type=int, default=0)
    energy = train(**vars(parser.parse_args()))
    start = noise(1000)
    end = roll_downhill(energy, start, 300)
    print(f"near the data: {share_near_data(start):.1%} of the noise")
    print(f"               {share_near_data(end):.1%} of the samples")


if __name__ == "__main__":
    main()
