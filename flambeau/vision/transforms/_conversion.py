"""Kinds of images and types of elements; values as networks want them."""

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
    """A PIL image or an array (H, W, C) of bytes as a tensor (C, H, W) between 0 and 1."""

    def __call__(self, pic: Any) -> Tensor:
        return F.to_tensor(pic)

    def _fb_bytes_of(self, pic: Any) -> Tensor | None:
        return pil_bytes(pic)

    def _fb_value_step(self) -> Step:
        return F.convert_image_dtype, fb.get_default_dtype()

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class PILToTensor:
    """A PIL image as a tensor (C, H, W) of the same values."""

    def __call__(self, pic: Any) -> Tensor:
        return F.pil_to_tensor(pic)

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ToPILImage:
    """A tensor (C, H, W) or an array (H, W, C) as a PIL image."""

    def __init__(self, mode: str | None = None) -> None:
        self.mode = mode

    def __call__(self, pic: Any) -> Any:
        return F.to_pil_image(pic, self.mode)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self.mode is None else f'mode={self.mode}'})"


class ConvertImageDtype(nn.Module):
    """A tensor as another type, its values scaled to that type's range."""

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
    """Every channel less its mean, divided by its standard deviation."""

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
    """An image, as one row, less a mean and times a matrix: whitening."""

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
