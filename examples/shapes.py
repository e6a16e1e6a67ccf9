"""Draws images of ten shapes, for the examples that train on images.

They replace photographs on machines without a network connection:

    python examples/shapes.py cifar data        files in the format of CIFAR-10
    python examples/shapes.py folders pictures  a folder for each shape, in train and in test
"""

import argparse
import pickle
from pathlib import Path

import flambeau as torch
from flambeau import Tensor
from flambeau.vision import io

KINDS = [
    "disc",
    "ring",
    "square",
    "frame",
    "triangle",
    "cross",
    "stripes",
    "checks",
    "heart",
    "moon",
]


def inside(kind: str, x: Tensor, y: Tensor) -> Tensor:
    """Which points of the plane belong to a shape that fills the square from -1 to 1."""
    radius, edge = (x**2 + y**2).sqrt(), torch.maximum(x.abs(), y.abs())
    if kind == "disc":
        return radius < 0.9
    if kind == "ring":
        return (radius < 0.95) & (radius > 0.55)
    if kind == "square":
        return edge < 0.8
    if kind == "frame":
        return (edge < 0.85) & (edge > 0.5)
    if kind == "triangle":
        return (y < 0.7) & (y > 1.8 * x.abs() - 0.9)
    if kind == "cross":
        return (torch.minimum(x.abs(), y.abs()) < 0.25) & (edge < 0.9)
    if kind == "stripes":
        return (edge < 0.9) & (torch.sin(9 * y) > 0)
    if kind == "checks":
        return (edge < 0.9) & (torch.sin(6 * x) * torch.sin(6 * y) > 0)
    if kind == "heart":
        x, y = 1.2 * x, 1.2 * (0.15 - y)
        return (x**2 + y**2 - 0.6) ** 3 < 1.5 * x**2 * y**3
    return (radius < 0.9) & ((x - 0.45) ** 2 + y**2 > 0.5)  # a moon


def draw(kind: str, size: int) -> Tensor:
    """A picture (3, size, size) in bytes: any place, size, turn and two colours, and some noise."""
    grid = torch.linspace(-1, 1, size)
    y, x = torch.meshgrid(grid, grid, indexing="ij")
    scale, turn = torch.empty(1).uniform_(0.55, 0.85), torch.empty(1).uniform_(-0.4, 0.4)
    right, down = torch.empty(2).uniform_(-0.2, 0.2)
    x, y = (x - right) / scale, (y - down) / scale
    mask = inside(kind, x * turn.cos() - y * turn.sin(), x * turn.sin() + y * turn.cos())
    # One dark colour and one light one, so that a shape is always seen.
    dark, light = 0.45 * torch.rand(3, 1, 1), 0.55 + 0.45 * torch.rand(3, 1, 1)
    figure, ground = (dark, light) if torch.rand(()) < 0.5 else (light, dark)
    picture = torch.where(mask, figure, ground) + 0.05 * torch.randn(3, size, size)
    return (picture.clamp(0, 1) * 255).to(torch.uint8)


def write_cifar(folder: Path, kinds: list[str] = KINDS, count: int = 400) -> None:
    """Six batches of `count` pictures of 32×32, as in cifar-10-python.tar.gz."""
    inner = folder / "cifar-10-batches-py"
    inner.mkdir(parents=True, exist_ok=True)
    for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:
        labels = torch.randint(len(kinds), (count,)).tolist()
        pixels = torch.stack([draw(kinds[label], 32) for label in labels])
        batch = {"data": pixels.flatten(1).numpy(), "labels": labels}
        (inner / name).write_bytes(pickle.dumps(batch))
    (inner / "batches.meta").write_bytes(pickle.dumps({"label_names": kinds}))


def write_folders(folder: Path, kinds: list[str] = KINDS, count: int = 40) -> None:
    """`count` pictures of different sizes in a folder for each kind; every fifth is a test."""
    for kind in kinds:
        for number in range(count):
            part = folder / ("test" if number % 5 == 4 else "train") / kind
            part.mkdir(parents=True, exist_ok=True)
            size = int(torch.randint(80, 140, ()))
            io.write_png(draw(kind, size), str(part / f"{number:03}.png"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("form", choices=["cifar", "folders"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS, metavar="KIND")
    parser.add_argument("--count", type=int, help="in a batch (default: 400), or of a kind (40)")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.manual_seed(arguments.seed)
    write = write_cifar if arguments.form == "cifar" else write_folders
    options = {"count": arguments.count} if arguments.count else {}
    write(arguments.folder, arguments.kinds, **options)
    print(f"pictures of {', '.join(arguments.kinds)} are in {arguments.folder}")


if __name__ == "__main__":
    main()
