"""Data sets of images, from local files or fetched once."""

from flambeau.datasets import Digits
from flambeau.vision.datasets._unavailable import unavailable as _unavailable
from flambeau.vision.datasets.cifar import CIFAR10, CIFAR100
from flambeau.vision.datasets.fakedata import FakeData
from flambeau.vision.datasets.folder import DatasetFolder, ImageFolder
from flambeau.vision.datasets.mnist import EMNIST, KMNIST, MNIST, QMNIST, FashionMNIST
from flambeau.vision.datasets.stl10 import STL10
from flambeau.vision.datasets.svhn import SVHN
from flambeau.vision.datasets.vision import VisionDataset

__all__ = [
    "CIFAR10",
    "CIFAR100",
    "EMNIST",
    "KMNIST",
    "MNIST",
    "QMNIST",
    "STL10",
    "SVHN",
    "DatasetFolder",
    "Digits",
    "FakeData",
    "FashionMNIST",
    "ImageFolder",
    "VisionDataset",
]

globals().update(_unavailable())
