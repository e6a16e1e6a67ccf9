"""A training program that saves after every step, for a test that kills it.

``python -m tests.data_loading.training FOLDER WORKERS`` goes on from the checkpoint in FOLDER if
there is one, and adds a line with the bits of each loss to FOLDER/losses.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path
from typing import Any

import numpy as np

import flambeau as torch
from flambeau import nn
from flambeau.utils.data import DataLoader, Dataset

EPOCHS = 4
SAMPLES = 60


class Augmented(Dataset[Any]):
    """Points of two classes, moved about by all three generators."""

    def __len__(self) -> int:
        return SAMPLES

    def __getitem__(self, index: int) -> Any:
        label = index % 2
        noise = torch.randn(4) + random.random() + float(np.random.rand())  # noqa: NPY002
        return noise + 2 * label, label


def main(folder: Path, workers: int) -> None:
    torch.manual_seed(3)
    random.seed(4)
    np.random.seed(5)  # noqa: NPY002
    net = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Dropout(0.3), nn.Linear(16, 2))
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    loader = DataLoader(Augmented(), batch_size=7, shuffle=True, num_workers=workers)
    epoch = step = 0
    checkpoint = folder / "checkpoint.pt"
    if checkpoint.exists():
        saved = torch.load(checkpoint)
        net.load_state_dict(saved["net"])
        optimizer.load_state_dict(saved["optimizer"])
        epoch, step = saved["epoch"], saved["step"]
        loader.load_state_dict(saved["loader"])
    with (folder / "losses").open("a") as losses:
        for number in range(epoch, EPOCHS):
            for x, y in loader:
                loss = nn.functional.cross_entropy(net(x), y)
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                step += 1
                print(step, loss.item().hex(), file=losses, flush=True)
                state = {
                    "net": net.state_dict(),
                    "optimizer": optimizer.state_dict(),
                    "loader": loader.state_dict(),
                    "epoch": number,
                    "step": step,
                }
                torch.save(state, checkpoint)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
