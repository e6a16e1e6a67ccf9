"""A convolutional network for handwritten digits: the whole training loop on one page.

Expected: after 30 epochs (about 5 s on two cores) at least 98 % of the test images are
classified correctly.
"""

import argparse

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import Tensor, nn
from flambeau.datasets import Digits
from flambeau.utils.data import DataLoader


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.dropout = nn.Dropout()
        self.fc1 = nn.Linear(32 * 2 * 2, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x: Tensor) -> Tensor:
        x = F.max_pool2d(F.relu(self.conv1(x)), 2)  # 16 channels of 4×4
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)  # 32 channels of 2×2
        return self.fc2(F.relu(self.fc1(self.dropout(x.flatten(1)))))


@torch.no_grad()
def accuracy(net: nn.Module, digits: Digits) -> float:
    net.eval()
    return (net(digits.images).argmax(1) == digits.labels).float().mean().item()


def train(epochs: int = 30, seed: int = 0) -> tuple[Net, float]:
    """The network, and its accuracy on the test images."""
    torch.manual_seed(seed)
    loader = DataLoader(Digits(train=True), batch_size=32, shuffle=True)
    net = Net()
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, epochs)
    for epoch in range(epochs):
        net.train()
        bar = torch.progress(loader, f"epoch {epoch + 1}/{epochs}")
        for images, labels in bar:
            loss = F.cross_entropy(net(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            bar.set(loss=loss)
        schedule.step()
    return net, accuracy(net, Digits(train=False))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    _, share = train(**vars(parser.parse_args()))
    print(f"{share:.1%} of the test images are classified correctly")


if __name__ == "__main__":
    main()
