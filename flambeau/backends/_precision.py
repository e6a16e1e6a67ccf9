"""With which precision backends may compute products of float32.

A value is asked for by backend and operator (``cuda``'s ``matmul``); ``"none"`` leaves it to what
holds for the whole backend, and that to what holds for all backends. The CPU always computes in
float32 here, so its values are kept for programs that set and read them; products and convolutions
on a GPU follow theirs.
"""

from __future__ import annotations

from typing import Any

from flambeau import _C
from flambeau.backends._settings import Setting

__all__: list[str] = []

_CHOICES = {
    "generic": ("none", "ieee", "tf32", "bf16"),
    "cuda": ("none", "ieee", "tf32"),
    "mkldnn": ("none", "ieee", "tf32", "bf16"),
}
# PyTorch lets cuDNN use TF32 from the start, and nothing else.
_chosen = {("cuda", "conv"): "tf32", ("cuda", "rnn"): "tf32"}


def precision(backend: str, operator: str = "all") -> str:
    """What holds for an operator of a backend."""
    for key in ((backend, operator), (backend, "all"), ("generic", "all")):
        value = _chosen.get(key, "none")
        if value in _CHOICES[backend] and value != "none":
            return value
    return "none"


def set_precision(backend: str, operator: str, value: Any) -> None:
    """Choose for an operator of a backend, or for all of them."""
    if not isinstance(value, str):
        raise TypeError(f"fp32_precision: expected a string, got {type(value).__name__}")
    if value not in _CHOICES["generic"]:
        choices = ", ".join(_CHOICES["generic"])
        raise RuntimeError(f"fp32_precision: expected one of {choices}, got {value!r}")
    if value not in _CHOICES[backend]:
        raise RuntimeError(f"fp32_precision: backend {backend!r} does not support {value!r}")
    _choose((backend, operator), value)


def _choose(key: tuple[str, str], value: str) -> None:
    _chosen[key] = value
    # The kernels' own switches, which cost nothing where there is no GPU.
    _C._cuda_allow_tf32(precision("cuda", "matmul") == "tf32")
    _C._cudnn_set("tf32", precision("cuda", "conv") == "tf32")


class PrecisionSetting(Setting):
    """``fp32_precision`` of a module."""

    def __init__(self, backend: str, operator: str = "all") -> None:
        super().__init__(None)
        self.key = (backend, operator)

    def get(self) -> Any:
        return precision(*self.key)

    def set(self, name: str, value: Any) -> None:
        set_precision(*self.key, value)

    def save(self) -> Any:
        return _chosen.get(self.key, "none")

    def restore(self, saved: Any) -> None:
        _choose(self.key, saved)


class TensorFloatSetting(Setting):
    """``allow_tf32``: whether all of these operators may use TF32."""

    def __init__(self, *operators: str) -> None:
        super().__init__(None)
        self.operators = operators

    def get(self) -> Any:
        return all(precision("cuda", operator) == "tf32" for operator in self.operators)

    def set(self, name: str, value: Any) -> None:
        for operator in self.operators:
            set_precision("cuda", operator, "tf32" if self.check(name, value) else "ieee")

    def save(self) -> Any:
        return [_chosen.get(("cuda", operator), "none") for operator in self.operators]

    def restore(self, saved: Any) -> None:
        for operator, value in zip(self.operators, saved, strict=True):
            _choose(("cuda", operator), value)


class OperatorPrecision:
    """``fp32_precision`` of one operator: ``torch.backends.cudnn.conv.fp32_precision``."""

    def __init__(self, backend: str, operator: str) -> None:
        self._backend = backend
        self._operator = operator

    @property
    def fp32_precision(self) -> str:
        return precision(self._backend, self._operator)

    @fp32_precision.setter
    def fp32_precision(self, value: str) -> None:
        set_precision(self._backend, self._operator, value)


def set_matmul_precision(word: str) -> None:
    """What ``set_float32_matmul_precision`` means for the backends."""
    set_precision("cuda", "matmul", "ieee" if word == "highest" else "tf32")
    cpu = {"highest": "ieee", "high": "tf32", "medium": "bf16"}[word]
    set_precision("mkldnn", "matmul", cpu)


def matmul_precision() -> str:
    """The word that ``get_float32_matmul_precision`` answers with."""
    if precision("cuda", "matmul") != "tf32":
        return "highest"
    return "medium" if precision("mkldnn", "matmul") == "bf16" else "high"
