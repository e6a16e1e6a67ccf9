"""Dtypes, normalisation, user functions and subsampling of videos."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision._pillow import is_pil_image
from flambeau.vision.transforms import _conversion
from flambeau.vision.transforms._values import Step, image_bytes, normalizing
from flambeau.vision.transforms.v2 import functional as F
from flambeau.vision.transforms.v2._query import has_any
from flambeau.vision.transforms.v2._transform import Transform, applying
from flambeau.vision.transforms.v2.functional import is_pure_tensor
from flambeau.vision.tv_tensors import Image, Video

__all__ = [
    "ConvertImageDtype",
    "Identity",
    "Lambda",
    "LinearTransformation",
    "Normalize",
    "ToDtype",
    "UniformTemporalSubsample",
]


class Identity(Transform):
    """Return a sample unchanged.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Identity()(torch.ones(1, 1, 2))
        tensor([[[1., 1.]]])
    """

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return inpt


class Lambda(Transform):
    """Apply a function to the parts of a sample that have one of some types.

    Args:
        lambd: The function.
        *types: The types. Default: every object.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Lambda(lambda image: 1 - image)(torch.tensor([0.25, 1.0]))
        tensor([0.7500, 0.0000])
    """

    _transformed_types = (object,)

    def __init__(self, lambd: Callable[[Any], Any], *types: type) -> None:
        super().__init__()
        self.lambd = lambd
        self.types: tuple[type, ...] = types or (object,)

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        return self.lambd(inpt) if isinstance(inpt, self.types) else inpt

    def extra_repr(self) -> str:
        name = getattr(self.lambd, "__name__", None)
        shown = [] if name is None else [name]
        return ", ".join([*shown, f"types={[each.__name__ for each in self.types]}"])


class _OfTensors(Transform):
    """A transform that does not support PIL images."""

    def check_inputs(self, flat_inputs: list[Any]) -> None:
        if has_any(flat_inputs, is_pil_image):
            raise TypeError(
                f"{type(self).__name__}() does not support PIL images: use ToImage() and "
                "ToDtype() first."
            )


class LinearTransformation(_OfTensors):
    """Whiten an image: flatten it, subtract a mean and multiply by a matrix.

    Args:
        transformation_matrix: Matrix (D, D).
        mean_vector: Vector (D,).

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.LinearTransformation(torch.eye(4), torch.ones(4))(torch.ones(1, 2, 2))
        tensor([[[0., 0.],
                 [0., 0.]]])
    """

    _transformed_types = (is_pure_tensor, Image, Video)

    def __init__(self, transformation_matrix: Tensor, mean_vector: Tensor) -> None:
        super().__init__()
        self._fb_of_tensors = _conversion.LinearTransformation(transformation_matrix, mean_vector)
        self.transformation_matrix = transformation_matrix
        self.mean_vector = mean_vector

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        whitened = self._fb_of_tensors(inpt.as_subclass(Tensor))
        return whitened if is_pure_tensor(inpt) else type(inpt).wrap(whitened, inpt)


class Normalize(_OfTensors):
    """Subtract a mean from each channel and divide by a standard deviation.

    Args:
        mean: Mean of each channel.
        std: Standard deviation of each channel.
        inplace: Whether to overwrite the image. Default: False.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.Normalize([0.5], [0.5])(torch.tensor([[[0.0, 0.5, 1.0]]]))
        tensor([[[-1.,  0.,  1.]]])
    """

    def __init__(self, mean: Sequence[float], std: Sequence[float], inplace: bool = False) -> None:
        super().__init__()
        self.mean: list[float] = list(mean)
        self.std: list[float] = list(std)
        self.inplace = inplace

    transform = applying(F.normalize, "mean", "std", "inplace")

    def _fb_value_step(self) -> Step | None:
        return normalizing(F.normalize, self.mean, self.std)


class ToDtype(Transform):
    """Convert tensors to another dtype: images and videos, or each type as a dictionary says.

    ``"others"`` in it is for all types that are not named, and None leaves a type as it is.

    Args:
        dtype: The type, or a dictionary from kinds of tensors to types.
        scale: Whether to map the values of images to the range of the type. Default: False.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> image = torch.tensor([[[0, 51, 255]]], dtype=torch.uint8)
        >>> v2.ToDtype(torch.float32, scale=True)(image)
        tensor([[[0.0000, 0.2000, 1.0000]]])
    """

    _transformed_types = (Tensor,)

    def __init__(
        self, dtype: fb.dtype | Mapping[Any, fb.dtype | None], scale: bool = False
    ) -> None:
        super().__init__()
        if not isinstance(dtype, (Mapping, fb.dtype)):
            raise ValueError(f"dtype must be a dict or a torch.dtype, got {type(dtype)} instead")
        if isinstance(dtype, Mapping) and Tensor in dtype and (Image in dtype or Video in dtype):
            warnings.warn(
                "Got `dtype` values for `torch.Tensor` and either `tv_tensors.Image` or "
                "`tv_tensors.Video`: a plain `torch.Tensor` is not transformed where an image or "
                "a video is in the sample.",
                stacklevel=2,
            )
        self.dtype = dtype
        self.scale = scale

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        shows = is_pure_tensor(inpt) or isinstance(inpt, (Image, Video))
        if not isinstance(self.dtype, Mapping):
            return self._call_kernel(F.to_dtype, inpt, self.dtype, self.scale) if shows else inpt
        dtype = self._fb_named(inpt)
        if dtype is not None:
            return self._call_kernel(F.to_dtype, inpt, dtype, self.scale)
        if self.scale and shows:
            warnings.warn(
                "scale was set to True but no dtype was specified for images or videos: no "
                "scaling will be done.",
                stacklevel=2,
            )
        return inpt

    def _fb_bytes_of(self, inpt: Any) -> Tensor | None:
        return image_bytes(inpt)

    def _fb_value_step(self) -> Step | None:
        is_one = isinstance(self.dtype, fb.dtype)
        return (F.to_dtype, self.dtype, self.scale) if is_one else None

    def _fb_named(self, inpt: Any) -> fb.dtype | None:
        types: Any = self.dtype
        for kind in (type(inpt), "others"):
            if kind in types:
                return types[kind]  # type: ignore[no-any-return]
        raise ValueError(
            f"No dtype was specified for type {type(inpt)}. To convert images and videos only, "
            "pass e.g. dtype=torch.float32; in a dict, the key 'others' is for the rest: "
            "dtype={tv_tensors.Mask: torch.int64, 'others': None}"
        )


class ConvertImageDtype(Transform):
    """Convert a tensor to another dtype and scale its values to the range of that dtype.

    Args:
        dtype: The type. Default: torch.float32.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> v2.ConvertImageDtype()(torch.tensor([[[255, 51]]], dtype=torch.uint8))
        tensor([[[1.0000, 0.2000]]])
    """

    def __init__(self, dtype: fb.dtype = fb.float32) -> None:
        super().__init__()
        self.dtype = dtype

    def transform(self, inpt: Any, params: dict[str, Any]) -> Any:
        if not (is_pure_tensor(inpt) or isinstance(inpt, (Image, Video))):
            return inpt
        return self._call_kernel(F.to_dtype, inpt, self.dtype, True)

    def _fb_bytes_of(self, inpt: Any) -> Tensor | None:
        return image_bytes(inpt)

    def _fb_value_step(self) -> Step:
        return F.to_dtype, self.dtype, True


class UniformTemporalSubsample(Transform):
    """Keep evenly spaced frames of a video.

    Args:
        num_samples: Number of frames.

    Example:
        >>> from flambeau.vision.transforms import v2
        >>> from flambeau.vision import tv_tensors
        >>> video = tv_tensors.Video(torch.zeros(10, 3, 8, 8))
        >>> v2.UniformTemporalSubsample(4)(video).shape
        torch.Size([4, 3, 8, 8])
    """

    _transformed_types = (is_pure_tensor, Video)

    def __init__(self, num_samples: int) -> None:
        super().__init__()
        self.num_samples = num_samples

    transform = applying(F.uniform_temporal_subsample, "num_samples")
