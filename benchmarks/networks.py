"""Which networks are compared, and on how many images they are trained."""

import dataclasses
from typing import Any

from benchmarks.definitions import network
from benchmarks.training import Program

CLASSES, SIZE = 1000, 224


@dataclasses.dataclass(frozen=True)
class Network:
    """One of `flambeau/vision/models`: the file, the function, and the images of a batch."""

    title: str
    file: str
    function: str
    batch: int

    def make(self, t: Any) -> Any:
        return network(t, self.file, self.function)


NETWORKS = (
    Network("AlexNet", "alexnet", "alexnet", 16),
    Network("VGG-16", "vgg", "vgg16", 4),
    Network("ResNet-18", "resnet", "resnet18", 8),
    Network("ResNet-50", "resnet", "resnet50", 4),
    Network("MobileNet v3 small", "mobilenetv3", "mobilenet_v3_small", 8),
    Network("MobileNet v3 large", "mobilenetv3", "mobilenet_v3_large", 8),
    Network("ViT-B/16", "vision_transformer", "vit_b_16", 4),
)


def images(t: Any, count: int) -> Any:
    return t.randn(count, 3, SIZE, SIZE)


def training_program(t: Any, network: Network) -> Program:
    """A batch of random images of random classes."""
    module = network.make(t)
    x, y = images(t, network.batch), t.randint(0, CLASSES, (network.batch,))
    return Program(module, lambda: t.nn.functional.cross_entropy(module(x), y))
