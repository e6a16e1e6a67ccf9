"""Points on an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.tv_tensors._bounding_boxes import size_of_canvas
from flambeau.vision.tv_tensors._tv_tensor import TVTensor

__all__ = ["KeyPoints"]


class KeyPoints(TVTensor):
    """Points (..., 2), each x and y, on an image of ``canvas_size`` (height, width).

    With more dimensions they form polygons or skeletons.
    """

    canvas_size: tuple[int, int]

    def __new__(
        cls,
        data: Any,
        *,
        canvas_size: Sequence[int],
        dtype: fb.dtype | None = None,
        device: Any = None,
        requires_grad: bool | None = None,
    ) -> Any:
        tensor = cls._to_tensor(data, dtype, device, requires_grad)
        points = tensor.unsqueeze(0) if tensor.ndim == 1 else tensor
        if points.ndim == 0 or points.shape[-1] not in (0, 2):
            raise ValueError(
                f"Expected a tensor of shape (..., 2), not {tuple(tensor.shape)}: a key point is "
                "its x and its y"
            )
        return cls._fb_say(points, canvas_size)

    @classmethod
    def _fb_say(cls, tensor: Tensor, canvas_size: Sequence[int]) -> Any:
        points: Any = tensor.as_subclass(cls)
        points.canvas_size = size_of_canvas(canvas_size)
        return points

    @classmethod
    def wrap(cls, tensor: Tensor, like: Any, **kwargs: Any) -> Any:
        """Wrap points with the canvas of others, or a new one."""
        return cls._fb_say(tensor, kwargs.get("canvas_size", like.canvas_size))

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return self._make_repr(canvas_size=self.canvas_size)
