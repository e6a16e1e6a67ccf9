"""1797 handwritten digits by 13 people, of 8×8 grey pixels (see LICENSE.digits)."""

from __future__ import annotations

from pathlib import Path

import flambeau as fb
from flambeau import Tensor
from flambeau.nn.functional import interpolate
from flambeau.utils.data import TensorDataset

__all__ = ["Digits"]

_FILE = Path(__file__).with_name("digits.txt")
_LINE = 67  # the digit, a space, 64 pixels and the end of the line
_PIXELS = bytes.maketrans(b"0123456789abcdefg", bytes(range(17)))  # one character is 0 to 16
_EVERY = 5  # one image in so many of each digit is for the test


class Digits(TensorDataset):
    """1797 handwritten digits that come with the package: images and labels.

    Images are (1, size, size) between 0 and 1. Four fifths of every digit are for training, the
    rest
    for the test, the same in every run.

    Args:
        train: Whether to take the training part, or else the test part.
        size: Height and width of the images; 8 is the original, others are interpolated. Default:
            8.

    Attributes:
        images: All images, a tensor (N, 1, size, size).
        labels: All labels, a tensor (N,).

    Example:
        >>> from flambeau.datasets import Digits
        >>> digits = Digits(train=True)
        >>> len(digits), digits.images.shape
        (1442, torch.Size([1442, 1, 8, 8]))
        >>> image, label = digits[0]

    See also:
        `vision.datasets.MNIST`.
    """

    def __init__(self, train: bool, size: int = 8) -> None:
        images, labels = _read()
        chosen = _is_for_test(labels) != train
        images = images[chosen]
        if size != 8:
            images = interpolate(images, size=(size, size), mode="bilinear")
        super().__init__(images, labels[chosen])

    @property
    def images(self) -> Tensor:
        """All pictures, ``(count, 1, size, size)``."""
        return self.tensors[0]

    @property
    def labels(self) -> Tensor:
        """The digit on each picture."""
        return self.tensors[1]


def _read() -> tuple[Tensor, Tensor]:
    lines = bytearray(_FILE.read_bytes().translate(_PIXELS))
    table = fb.frombuffer(lines, dtype=fb.uint8).view(-1, _LINE)
    return table[:, 2:66].reshape(-1, 1, 8, 8) / 16, table[:, 0].long()


def _is_for_test(labels: Tensor) -> Tensor:
    chosen = fb.zeros(len(labels), dtype=fb.bool)
    for digit in range(10):
        places = (labels == digit).nonzero().flatten()
        chosen[places[_EVERY - 1 :: _EVERY]] = True
    return chosen
