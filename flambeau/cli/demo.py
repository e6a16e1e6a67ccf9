"""``flambeau demo``: a convolutional network learns to read handwritten digits.

A whole program, meant to be read from the top: the network, an epoch of training, the evaluation,
the checkpoint. What it prints is in ``_demo_output``, the report that it writes in ``_report``.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from pathlib import Path

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import Tensor, nn, optim
from flambeau._display.progress import Progress
from flambeau.cli import _demo_output as output
from flambeau.cli._report import Report
from flambeau.datasets import Digits
from flambeau.utils.data import DataLoader

__all__ = ["Net", "add_arguments", "run"]

EPOCHS = 20
BATCH = 32
SIZE = 32  # of the pictures that the network takes


class Net(nn.Module):
    """Two convolutions with pooling, then three linear layers: 32×32 pixels to ten scores."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1: nn.Conv2d = nn.Conv2d(1, 6, 5)
        self.conv2: nn.Conv2d = nn.Conv2d(6, 16, 5)
        self.fc1: nn.Linear = nn.Linear(16 * 5 * 5, 120)
        self.fc2: nn.Linear = nn.Linear(120, 84)
        self.fc3: nn.Linear = nn.Linear(84, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        x = x.flatten(1)
        x = F.relu(self.fc1(x))
        x = F.relu(self.fc2(x))
        scores: Tensor = self.fc3(x)
        return scores


@dataclass
class Evaluation:
    """How a network does on a set of digits."""

    loss: float
    accuracy: float
    probabilities: Tensor  # of each digit for each picture


@dataclass
class History:
    """What was measured on the way."""

    step_losses: list[float] = field(default_factory=list)
    train_loss: list[float] = field(default_factory=list)
    train_accuracy: list[float] = field(default_factory=list)
    test_loss: list[float] = field(default_factory=list)
    test_accuracy: list[float] = field(default_factory=list)
    seconds: float = 0.0


def augment(images: Tensor) -> Tensor:
    """Shift, turn, stretch and slant every picture a little, each in its own way."""
    maps = torch.eye(2, 3) + 0.15 * (2 * torch.rand(len(images), 2, 3) - 1)
    grid = F.affine_grid(maps, list(images.shape), align_corners=False)
    return F.grid_sample(images, grid, align_corners=False)


def train_epoch(
    net: Net,
    loader: DataLoader[tuple[Tensor, ...]],
    optimizer: optim.Optimizer,
    scheduler: optim.lr_scheduler.LRScheduler,
    bar: Progress[None],
) -> tuple[list[float], float]:
    """Go through the data once; the loss of each step and the share that was read correctly."""
    net.train()
    losses: list[Tensor] = []
    right = torch.zeros((), dtype=torch.int64)
    for images, labels in loader:
        scores = net(augment(images))
        loss = F.cross_entropy(scores, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        scheduler.step()
        losses.append(loss.detach())
        right += (scores.argmax(1) == labels).sum()
        bar.set(loss=losses[-1])
        bar.update()
    return torch.stack(losses).tolist(), right.item() / len(loader.dataset)


@torch.no_grad()
def evaluate(net: Net, digits: Digits) -> Evaluation:
    """Loss, accuracy and probabilities on `digits`."""
    net.eval()
    scores = net(digits.images)
    return Evaluation(
        loss=F.cross_entropy(scores, digits.labels).item(),
        accuracy=(scores.argmax(1) == digits.labels).float().mean().item(),
        probabilities=scores.softmax(1),
    )


def train(
    net: Net, train_data: Digits, test_data: Digits, epochs: int, show: bool | None
) -> History:
    """Train for some epochs, with a test after each."""
    loader: DataLoader[tuple[Tensor, ...]]
    loader = DataLoader(train_data, batch_size=BATCH, shuffle=True)
    steps = epochs * len(loader)
    optimizer = optim.AdamW(net.parameters(), lr=3e-3)
    scheduler = optim.lr_scheduler.OneCycleLR(optimizer, max_lr=4e-3, total_steps=steps)
    history = History()
    start = time.perf_counter()
    with torch.progress(total=steps, description="training", show=show) as bar:
        for epoch in range(1, epochs + 1):
            losses, accuracy = train_epoch(net, loader, optimizer, scheduler, bar)
            test = evaluate(net, test_data)
            history.step_losses += losses
            history.train_loss.append(sum(losses) / len(losses))
            history.train_accuracy.append(accuracy)
            history.test_loss.append(test.loss)
            history.test_accuracy.append(test.accuracy)
            bar.set(epoch=f"{epoch}/{epochs}", test=f"{test.accuracy:.1%}")
    history.seconds = time.perf_counter() - start
    return history


def save_and_reload(net: Net, path: Path) -> Net:
    """Write a checkpoint and read it into a new network."""
    torch.save({"model": net.state_dict()}, path)
    reloaded = Net()
    reloaded.load_state_dict(torch.load(path)["model"])
    return reloaded


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = """\
examples:
  flambeau demo                          trains for 20 epochs, a few seconds
  flambeau demo --epochs 5 --seed 1      a shorter run with other random numbers
  flambeau demo --output /tmp/digits     writes digits.pt and report.html there"""
    parser.add_argument(
        "--epochs",
        type=_positive,
        default=EPOCHS,
        metavar="N",
        help="passes over the data; default: 20",
    )
    parser.add_argument(
        "--seed", type=int, default=0, metavar="N", help="of the random numbers; default: 0"
    )
    parser.add_argument(
        "--output",
        type=Path,
        default=Path("flambeau-demo"),
        metavar="FOLDER",
        help="folder for the checkpoint and the report; default: flambeau-demo",
    )
    parser.add_argument("--quiet", action="store_true", help="print only the result")


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return int(text)


def run(arguments: argparse.Namespace) -> int:
    arguments.output.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(arguments.seed)
    # One thread is quick enough here, and on a busy machine it never waits for another.
    torch.set_num_threads(1)
    train_data, test_data = Digits(train=True, size=SIZE), Digits(train=False, size=SIZE)
    net = Net()
    if not arguments.quiet:
        output.introduce(net, train_data, test_data)
    show = False if arguments.quiet else None
    history = train(net, train_data, test_data, arguments.epochs, show)

    checkpoint = arguments.output / "digits.pt"
    reloaded = save_and_reload(net, checkpoint)
    final = evaluate(reloaded, test_data)
    if not torch.equal(final.probabilities, evaluate(net, test_data).probabilities):
        raise RuntimeError("the network loaded from the checkpoint gives other results")

    report = arguments.output / "report.html"
    summary = net.summary(test_data.images[:1])
    page = Report(history, final, test_data, summary, checkpoint, arguments.seed)
    report.write_text(page.html(), encoding="utf-8")
    if not arguments.quiet:
        output.show_confusion(page.confusion)
    output.conclude(page, report)
    return 0
