"""Operators as a module, so that their results can be observed."""

from __future__ import annotations

import flambeau as fb
from flambeau import Tensor, nn

__all__: list[str] = []


class FloatFunctional(nn.Module):
    """Sums, products and joints of tensors before a model is quantised."""

    def __init__(self) -> None:
        super().__init__()
        self.activation_post_process: nn.Identity = nn.Identity()

    def forward(self, x: Tensor) -> Tensor:
        raise RuntimeError("FloatFunctional is not called itself: use one of its methods")

    def add(self, x: Tensor, y: Tensor) -> Tensor:
        return self._fb_observed(fb.add(x, y))

    def add_scalar(self, x: Tensor, y: float) -> Tensor:
        return fb.add(x, y)

    def mul(self, x: Tensor, y: Tensor) -> Tensor:
        return self._fb_observed(fb.mul(x, y))

    def mul_scalar(self, x: Tensor, y: float) -> Tensor:
        return fb.mul(x, y)

    def matmul(self, x: Tensor, y: Tensor) -> Tensor:
        return self._fb_observed(fb.matmul(x, y))

    def cat(self, x: list[Tensor], dim: int = 0) -> Tensor:
        return self._fb_observed(fb.cat(x, dim=dim))

    def add_relu(self, x: Tensor, y: Tensor) -> Tensor:
        return self._fb_observed(fb.relu(fb.add(x, y)))

    def _fb_observed(self, result: Tensor) -> Tensor:
        seen: Tensor = self.activation_post_process(result)
        return seen


class FXFloatFunctional(FloatFunctional):
    """The same for models that are traced."""
