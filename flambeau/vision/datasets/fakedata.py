"""A data set of random noise, for trying out programs."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau.vision.datasets.vision import Transform, VisionDataset
from flambeau.vision.transforms.functional import to_pil_image

__all__ = ["FakeData"]


class FakeData(VisionDataset):
    """Noise images with random labels, the same every time they are read.

    Args:
        size: Number of images. Default: 1000.
        image_size: Shape of an image. Default: (3, 224, 224).
        num_classes: Number of classes. Default: 10.
        transform: Transform of an image. Default: None.
        target_transform: Transform of a label. Default: None.
        random_offset: Offset of the seeds. Default: 0.

    Example:
        >>> from flambeau.vision import transforms
        >>> from flambeau.vision.datasets import FakeData
        >>> data = FakeData(size=4, image_size=(3, 8, 8), transform=transforms.ToTensor())
        >>> len(data), data[0][0].shape
        (4, torch.Size([3, 8, 8]))
    """

    def __init__(
        self,
        size: int = 1000,
        image_size: tuple[int, ...] = (3, 224, 224),
        num_classes: int = 10,
        transform: Transform = None,
        target_transform: Transform = None,
        random_offset: int = 0,
    ) -> None:
        super().__init__(transform=transform, target_transform=target_transform)
        self.size = size
        self.image_size = image_size
        self.num_classes = num_classes
        self.random_offset = random_offset

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= len(self):
            raise IndexError(f"{type(self).__name__} index out of range")
        state = fb.get_rng_state()
        fb.manual_seed(index + self.random_offset)
        noise = fb.randn(*self.image_size)
        target = fb.randint(0, self.num_classes, size=(1,), dtype=fb.long)[0]
        fb.set_rng_state(state)
        image, target = self._fb_transformed(to_pil_image(noise), target)
        return image, int(target) if isinstance(target, fb.Tensor) else target

    def __len__(self) -> int:
        return self.size
