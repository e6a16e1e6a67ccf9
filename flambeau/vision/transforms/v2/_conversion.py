"""Kinds of images, element types, normalisation, and functions of one's own."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.utils import _pytree
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms import _conversion
from flambeau.vision.transforms._values import Step, image_bytes, normalizing
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._transform import Transform, of_images
from flambeau.vision.tv_tensors import Mask, TVTensor

__all__ = [
    "ConvertImageDtype",
    "Identity",
    "Lambda",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "ToDtype",
    "ToImage",
    "ToPILImage",
    "ToPureTensor",
    "ToTensor",
]


class _Everywhere(Transform):
    """A transform of every part of a sample that it knows."""

    def forward(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        return _pytree.tree_map(lambda inpt: self.transform(inpt, {}), sample)


class Identity(Transform):
    """A sample as it is."""

    def forward(self, *inputs: Any) -> Any:
        return inputs if len(inputs) > 1 else inputs[0]


class ToTensor(_Everywhere):
    """PIL images and arrays as tensors between 0 and 1; others stay as they are."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        is_array = hasattr(inpt, "__array_interface__") and not isinstance(inpt, Tensor)
        return F.to_tensor(inpt) if is_array or is_pil_image(inpt) else inpt


class PILToTensor(_Everywhere):
    """PIL images as tensors of the same values."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.pil_to_tensor(inpt) if is_pil_image(inpt) else inpt


class ToImage(Transform):
    """PIL images, arrays and tensors as image tensors."""

    def forward(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        flat, structure = _pytree.tree_flatten(sample)
        arrays = [
            hasattr(each, "__array_interface__") and not isinstance(each, Tensor) for each in flat
        ]
        if not any(arrays):
            return super().forward(*inputs)
        results = [F.to_image(e) if use else e for e, use in zip(flat, arrays, strict=True)]
        return _pytree.tree_unflatten(results, structure)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt if isinstance(inpt, Mask) else F.to_image(inpt)


class ToPILImage(Transform, _conversion.ToPILImage):
    """Tensors and arrays as PIL images."""

    def __init__(self, mode: str | None = None) -> None:
        Transform.__init__(self)
        self.mode = mode

    __call__ = Transform.__call__

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt if is_pil_image(inpt) else F.to_pil_image(inpt, self.mode)


class ToPureTensor(_Everywhere):
    """Tensors without their meaning."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt.as_subclass(Tensor) if isinstance(inpt, TVTensor) else inpt


class ToDtype(Transform):
    """Tensors in another type, also one for each kind of them (``"others"`` for the rest).

    ``scale`` keeps black and white of images where they are.
    """

    def __init__(
        self, dtype: fb.dtype | Mapping[Any, fb.dtype | None], scale: bool = False
    ) -> None:
        super().__init__()
        self.dtype = dtype
        self.scale = scale

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        dtype = self._dtype_for(inpt)
        return inpt if dtype is None else F.to_dtype(inpt, dtype, self.scale)

    def _bytes_of(self, inpt: Any) -> Tensor | None:
        return image_bytes(inpt)

    def _value_step(self) -> Step | None:
        is_one = isinstance(self.dtype, fb.dtype)
        return (F.to_dtype, self.dtype, self.scale) if is_one else None

    def _dtype_for(self, inpt: Any) -> fb.dtype | None:
        if isinstance(self.dtype, Mapping):
            return self.dtype.get(type(inpt), self.dtype.get("others"))
        return None if isinstance(inpt, Mask) else self.dtype


class ConvertImageDtype(Transform, _conversion.ConvertImageDtype):
    """A tensor as another type, its values scaled to that type's range."""

    def __init__(self, dtype: fb.dtype = fb.float32) -> None:
        super().__init__(dtype)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return F.to_dtype(inpt, self.dtype, True)

    def _bytes_of(self, inpt: Any) -> Tensor | None:
        return image_bytes(inpt)

    def _value_step(self) -> Step:
        return F.to_dtype, self.dtype, True


class Normalize(Transform, _conversion.Normalize):
    """Every channel less its mean, divided by its standard deviation."""

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__(list(mean), list(std), inplace)

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        if any(is_pil_image(each) for each in flat_inputs):
            raise TypeError("Normalize() does not support PIL images: use ToImage() first")

    transform = of_images(F.normalize, "mean", "std", "inplace")

    def _value_step(self) -> Step | None:
        return normalizing(F.normalize, self.mean, self.std)


class LinearTransformation(Transform, _conversion.LinearTransformation):
    """An image, as one row, less a mean and times a matrix: whitening."""

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return _conversion.LinearTransformation.forward(self, inpt)


class Lambda(Transform):
    """Any function of the parts of a sample that have one of some types."""

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        self.lambd = lambd
        self.types: tuple[type, ...] = types or (object,)

    def forward(self, *inputs: Any) -> Any:
        sample = inputs if len(inputs) > 1 else inputs[0]
        return _pytree.tree_map(
            lambda inpt: self.lambd(inpt) if isinstance(inpt, self.types) else inpt, sample
        )

    def extra_repr(self) -> str:
        name = getattr(self.lambd, "__name__", None)
        shown = [] if name is None else [name]
        return ", ".join([*shown, f"types={[each.__name__ for each in self.types]}"])
