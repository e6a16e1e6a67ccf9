"""Layers whose weights are kept as 8-bit integers.

The arithmetic is that of float32: a weight is multiplied out when the layer is called. What the
layers need in memory and in a checkpoint is a quarter; they are not faster.
"""

from __future__ import annotations

import copy
from typing import Any

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.func import functional_call

__all__ = ["GRU", "LSTM", "Linear"]

# Inputs are rounded to 7 bits, as PyTorch does on x86, where sums of products of 8 bits overflow.
_INPUT_STEPS = 127


def quantized(weight: Tensor) -> tuple[Tensor, float]:
    """A weight as integers from -128 to 127, and the size of their unit."""
    scale = (weight.abs().max() / 127.5).clamp(min=fb.finfo(fb.float32).eps)
    # By the inverse in float32, as PyTorch does: the greatest weight lies between two integers.
    return (weight * (1 / scale)).round().clamp(-128, 127).to(fb.int8), scale.item()


def rounded_input(x: Tensor) -> Tensor:
    """``x`` in 128 steps from its least to its greatest element, zero among them."""
    if x.numel() == 0:
        return x
    low, high = min(x.min().item(), 0.0), max(x.max().item(), 0.0)
    scale = (high - low) / _INPUT_STEPS or 1.0
    zero = min(max(round(-low / scale), 0), _INPUT_STEPS)
    steps = x.mul(1 / scale).add(zero).round().clamp(0, _INPUT_STEPS)
    return (steps - zero) * scale


def _without_weights(module: nn.Module) -> nn.Module:
    """A layer that knows what to compute, and gets its parameters in every call."""
    made = copy.copy(module)
    made.__dict__["_parameters"] = {
        name: None if each is None else nn.Parameter(fb.zeros(()).expand(each.shape), False)
        for name, each in module._parameters.items()
    }
    return made


class _DynamicQuantized(nn.Module):
    """A layer with some parameters as integers, and those that stay as they are."""

    def __init__(self, original: nn.Module, dtype: fb.dtype) -> None:
        super().__init__()
        self.dtype = dtype
        self.__dict__["_skeleton"] = _without_weights(original)
        self._fb_scales: dict[str, float] = {}
        for name, parameter in original.named_parameters():
            if "weight" not in name:
                self.register_buffer(f"kept_{name}", parameter.detach().clone())
            elif dtype == fb.float16:
                self.register_buffer(f"half_{name}", parameter.detach().half())
            else:
                values, self._fb_scales[name] = quantized(parameter.detach())
                self.register_buffer(f"int8_{name}", values)

    @classmethod
    def from_float(cls, mod: nn.Module, dtype: fb.dtype = fb.qint8) -> Any:
        """The layer with the weights of another one."""
        return cls(mod, dtype)

    def weight(self, name: str = "weight") -> Tensor:
        """A weight as it is used: rounded, in float32."""
        if self.dtype == fb.float16:
            return self._buffers[f"half_{name}"].float()  # type: ignore[union-attr]
        return self._buffers[f"int8_{name}"].float() * self._fb_scales[name]  # type: ignore[union-attr]

    def _fb_parameters_now(self) -> dict[str, Tensor]:
        made = {}
        for key, buffer in self._buffers.items():
            kind, _, name = key.partition("_")
            made[name] = buffer if kind == "kept" else self.weight(name)
        return made  # type: ignore[return-value]

    def get_extra_state(self) -> dict[str, float]:
        return dict(self._fb_scales)

    def set_extra_state(self, state: dict[str, float]) -> None:
        self._fb_scales = dict(state)

    def forward(self, *args: Any) -> Any:
        return functional_call(self.__dict__["_skeleton"], self._fb_parameters_now(), args)

    def _get_name(self) -> str:
        return f"DynamicQuantized{type(self).__name__}"


class Linear(_DynamicQuantized):
    """``nn.Linear`` with an 8-bit weight; inputs are rounded as PyTorch rounds them."""

    def __init__(self, original: nn.Linear, dtype: fb.dtype = fb.qint8) -> None:
        super().__init__(original, dtype)
        self.in_features: int = original.in_features
        self.out_features: int = original.out_features

    def bias(self) -> Tensor | None:
        """The bias, in float32."""
        return self._buffers.get("kept_bias")

    def forward(self, x: Tensor) -> Tensor:
        seen = x if self.dtype == fb.float16 else rounded_input(x)
        return nn.functional.linear(seen, self.weight(), self.bias())

    def extra_repr(self) -> str:
        text = f"in_features={self.in_features}, out_features={self.out_features}"
        scheme = "" if self.dtype == fb.float16 else ", qscheme=torch.per_tensor_affine"
        return f"{text}, dtype={self.dtype}{scheme}"


class LSTM(_DynamicQuantized):
    """``nn.LSTM`` with 8-bit weights."""

    def forward(self, input: Tensor, hx: Any = None) -> Any:
        return super().forward(input, hx)

    def extra_repr(self) -> str:
        return str(self.__dict__["_skeleton"].extra_repr())


class GRU(LSTM):
    """``nn.GRU`` with 8-bit weights."""
