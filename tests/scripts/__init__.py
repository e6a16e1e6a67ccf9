"""Complete programs as people publish them, and what is known of the losses they print."""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

__all__ = ["SCRIPTS", "Script", "losses"]


class Script(NamedTuple):
    """A program; `falling` is the label of a loss that training must bring down."""

    name: str
    falling: str | None
    short: tuple[str, ...] = ()  # arguments with which it does little

    @property
    def path(self) -> Path:
        return Path(__file__).with_name(f"{self.name}.py")


SCRIPTS = (
    Script("classifier", "Average loss", ("--epochs", "2")),
    Script("gan", None, ("--niter", "1")),  # two losses, each of which rises when the other falls
    Script("vae", "test loss", ("--epochs", "3")),
    Script("seq2seq_attention", "test loss", ("--epochs", "2")),
    Script("transformer_lm", "loss", ("--epochs", "1", "--chars", "20000")),
    Script("siamese", "Current loss"),
    Script("super_resolution", "Test Loss", ("--nEpochs", "2")),
    Script("dqn", None, ("--episodes", "40")),  # its targets grow while it learns
    Script("gcn", "loss_train"),
    Script("finetune", "val Loss"),
    Script("mixed_precision", "val loss", ("--epochs", "4")),
    Script("multiprocess_data", "test loss", ("--epochs", "2")),
)

_LOSS = re.compile(
    r"(?:([a-z]+)[ .]+)?\b(\w*loss\w*)[:=]? +([-+]?(?:\d[\d.]*(?:e[-+]?\d+)?|nan|inf))",
    re.IGNORECASE,
)


def losses(output: str) -> dict[str, list[float]]:
    """The losses that a program printed by the words before them, in their order."""
    found: dict[str, list[float]] = {}
    for before, name, number in _LOSS.findall(output):
        found.setdefault(f"{before} {name}".strip(), []).append(float(number))
    return found
