"""Training steps of convolutional networks: LeNet on digits, ResNet-18 on CIFAR's images."""

import itertools
from typing import Any

from benchmarks.roofline import Work, convolution, product
from benchmarks.training import Program, add_step

BATCH = 64


def classify(t: Any, module: Any, channels: int, size: int) -> Program:
    """A batch of random images of ten classes."""
    x, y = t.randn(BATCH, channels, size, size), t.randint(0, 10, (BATCH,))
    return Program(module, lambda: t.nn.functional.cross_entropy(module(x), y))


def lenet(t: Any) -> Program:
    nn = t.nn
    module = nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5),
        nn.ReLU(),
        nn.MaxPool2d(2),
        nn.Flatten(),
        nn.Linear(400, 120),
        nn.ReLU(),
        nn.Linear(120, 84),
        nn.ReLU(),
        nn.Linear(84, 10),
    )
    return classify(t, module, 1, 28)


LENET_WORK = (
    convolution(BATCH, (1, 6), (28, 28), 5, is_first=True)
    + convolution(BATCH, (6, 16), (14, 10), 5)
    + product(BATCH, 400, 120)
    + product(BATCH, 120, 84)
    + product(BATCH, 84, 10)
)


def resnet18(t: Any) -> Program:
    """The form for 32 x 32 images: a stem of 3 x 3 without pooling, then 64 to 512 channels."""
    nn = t.nn

    class Block(nn.Module):
        def __init__(self, inputs: int, outputs: int, stride: int) -> None:
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(outputs)
            self.conv2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(outputs)
            self.shortcut = nn.Sequential()
            if stride != 1:
                self.shortcut = nn.Sequential(
                    nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs)
                )

        def forward(self, x: Any) -> Any:
            out = t.relu(self.bn1(self.conv1(x)))
            out = self.bn2(self.conv2(out))
            return t.relu(out + self.shortcut(x))

    layers = [nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    inputs = 64
    for outputs in (64, 128, 256, 512):
        layers += [Block(inputs, outputs, 1 if outputs == 64 else 2), Block(outputs, outputs, 1)]
        inputs = outputs
    layers += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(512, 10)]
    return classify(t, nn.Sequential(*layers), 3, 32)


def resnet18_work() -> Work:
    work = convolution(BATCH, (3, 64), (32, 32), 3, is_first=True) + product(BATCH, 512, 10)
    work += convolution(BATCH, (64, 64), (32, 32), 3) * 4
    for (inputs, outputs), size in zip(
        itertools.pairwise((64, 128, 256, 512)), (16, 8, 4), strict=True
    ):
        work += convolution(BATCH, (inputs, outputs), (2 * size, size), 3)
        work += convolution(BATCH, (inputs, outputs), (2 * size, size), 1)
        work += convolution(BATCH, (outputs, outputs), (size, size), 3) * 3
    return work


add_step("LeNet 28 x 28, batch 64, SGD", 2.0, lenet, "SGD", 61_706, LENET_WORK)
add_step(
    "ResNet-18 32 x 32, batch 64, SGD momentum",
    1.1,
    resnet18,
    "momentum",
    11_173_962,
    resnet18_work(),
)
