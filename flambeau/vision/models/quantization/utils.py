"""Common parts of the quantisable networks."""

from __future__ import annotations

from typing import Any

from flambeau import Tensor, nn
from flambeau.ao.quantization import DeQuantStub, QuantStub, fuse_modules, fuse_modules_qat

__all__ = ["quantize_model"]


def quantize_model(model: nn.Module, backend: str) -> None:
    """Raise NotImplementedError: integer networks need kernels that do not exist yet."""
    raise NotImplementedError(
        f"quantize_model: {type(model).__name__} cannot be made a network of 8-bit integers for "
        f"'{backend}', there are no kernels for them yet. Leave out quantize=True: the same "
        "network works with floating-point numbers, and its fuse_model() makes it faster"
    )


def _replace_relu(module: nn.Module) -> None:
    """Replace every ReLU by a plain one, which can be fused."""
    for name, child in module.named_children():
        _replace_relu(child)
        if type(child) in (nn.ReLU, nn.ReLU6):
            setattr(module, name, nn.ReLU(inplace=False))


def _fuse_modules(
    model: nn.Module, modules_to_fuse: list[Any], is_qat: bool | None, **kwargs: Any
) -> nn.Module:
    """Fuse several layers, for quantisation-aware training or for evaluation."""
    training = model.training if is_qat is None else is_qat
    fuse = fuse_modules_qat if training else fuse_modules
    return fuse(model, modules_to_fuse, inplace=True, **kwargs)


def finished(model: Any, quantize: bool, backend: str) -> Any:
    """Make a network whose layers can be fused, quantised if requested."""
    _replace_relu(model)
    if quantize:
        quantize_model(model, backend)
    return model


class Stubbed(nn.Module):
    """Mixin that marks where a network's integers would begin and end."""

    _forward_impl: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.quant: QuantStub = QuantStub()
        self.dequant: DeQuantStub = DeQuantStub()

    def forward(self, x: Tensor) -> Tensor:
        return self.dequant(self._forward_impl(self.quant(x)))  # type: ignore[no-any-return]
