"""Conversion between kinds of images and dtypes; normalisation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.transforms import functional as F
from flambeau.vision.transforms._values import Step, image_bytes, normalizing, pil_bytes

__all__ = [
    "ConvertImageDtype",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "ToPILImage",
    "ToTensor",
]


class ToTensor:
    """Convert a PIL image, or an array (H, W, C) of bytes, to a tensor (C, H, W) between 0 and 1.

    Arrays of other types keep their values.

    Example:
        >>> from flambeau.vision import transforms
        >>> import numpy as np
        >>> image = np.array([[[0, 51, 255]]], dtype=np.uint8)
        >>> transforms.ToTensor()(image).flatten()
        tensor([0.0000, 0.2000, 1.0000])

    See also:
        `transforms.ToPILImage`, `transforms.PILToTensor`, `transforms.Normalize`.
    """

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)

    def _fb_bytes_of(self, pic: Any) -> Tensor | None:
        return pil_bytes(pic)

    def _fb_value_step(self) -> Step:
        return F.convert_image_dtype, fb.get_default_dtype()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor:
    """Convert a PIL image to a tensor (C, H, W) of the same values.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.PILToTensor()(transforms.ToPILImage()(torch.rand(3, 4, 4))).dtype
        torch.uint8
    """

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToPILImage:
    """Convert a tensor (C, H, W) or an array (H, W, C) to a PIL image.

    Args:
        mode: Mode of the image. Default: by the number of channels.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.ToPILImage()(torch.rand(3, 4, 6)).size
        (6, 4)
    """

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(nn.Module):
    """Convert a tensor to another type, and scale its values to the range of that type.

    Args:
        dtype: The type.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.ConvertImageDtype(torch.float32)(torch.tensor([0, 255], dtype=torch.uint8))
        tensor([0., 1.])
    """

    def __init__(self, dtype: fb.dtype) -> None:
        super().__init__()
        self.dtype = dtype

    def forward(self, image: Tensor) -> Tensor:
        return F.convert_image_dtype(image, self.dtype)

    def _fb_bytes_of(self, image: Any) -> Tensor | None:
        return image_bytes(image)

    def _fb_value_step(self) -> Step:
        return F.convert_image_dtype, self.dtype


class Normalize(nn.Module):
    """Subtract a mean from each channel and divide by a standard deviation.

    y[c] = (x[c] - mean[c]) / std[c]

    Args:
        mean: Mean of each channel, or of all.
        std: Standard deviation of each channel, or of all.
        inplace: Whether to overwrite the image. Default: False.

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.Normalize(0.5, 0.25)(torch.tensor([[[0.5, 1.0]]]))
        tensor([[[0., 2.]]])
    """

    def __init__(
        self,
        mean: float | Sequence[float],
        std: float | Sequence[float],
        inplace: bool = False,
    ) -> None:
        super().__init__()
        self.mean = mean
        self.std = std
        self.inplace = inplace

    def forward(self, tensor: Tensor) -> Tensor:
        return F.normalize(tensor, self.mean, self.std, self.inplace)

    def _fb_value_step(self) -> Step | None:
        return normalizing(F.normalize, self.mean, self.std)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(mean={self.mean}, std={self.std})"


class LinearTransformation(nn.Module):
    """Whiten an image: flatten it, subtract a mean and multiply by a matrix.

    Args:
        transformation_matrix: Matrix (D, D).
        mean_vector: Vector (D,).

    Example:
        >>> from flambeau.vision import transforms
        >>> transforms.LinearTransformation(2 * torch.eye(4), torch.ones(4))(torch.ones(1, 2, 2))
        tensor([[[0., 0.],
                 [0., 0.]]])
    """

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        rows, columns = transformation_matrix.shape
        if rows != columns:
            raise ValueError(
                "transformation_matrix should be square. Got "
                f"{tuple(transformation_matrix.shape)} rectangular matrix."
            )
        if mean_vector.shape[0] != rows:
            raise ValueError(
                f"mean_vector should have the same length {mean_vector.shape[0]} as any one of "
                f"the dimensions of the transformation_matrix {(rows, columns)}"
            )
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def forward(self, tensor: Tensor) -> Tensor:
        features = tensor.shape[-3] * tensor.shape[-2] * tensor.shape[-1]
        size = self.transformation_matrix.shape[0]
        if features != size:
            raise ValueError(
                f"Input tensor and transformation matrix have incompatible shape: "
                f"{tuple(tensor.shape)[-3:]} makes {features} values, the matrix has {size}"
            )
        row = tensor.reshape(-1, features) - self.mean_vector
        return (row @ self.transformation_matrix).reshape(tensor.shape)

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(transformation_matrix="
            f"{self.transformation_matrix.tolist()}, mean_vector={self.mean_vector.tolist()})"
        )
