"""Weights split into length and direction, recomputed before each call.

The older form; `parametrizations.weight_norm` is the one to use.
"""

from __future__ import annotations

import warnings
from typing import Any, TypeVar

from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter, UninitializedParameter

__all__ = ["WeightNorm", "remove_weight_norm", "weight_norm"]

_M = TypeVar("_M", bound=Module)


def _lengths(v: Tensor, dim: int | None) -> Tensor:
    """The norm of each slice along `dim`, with all other dimensions 1; of all for None or -1."""
    if dim is None or dim == -1:
        return v.norm()
    others = [d for d in range(v.ndim) if d != dim]
    return v.norm(2, dim=others, keepdim=True) if others else v.abs()


def _weight_of(v: Tensor, g: Tensor, dim: int | None) -> Tensor:
    """The slices of `v` along `dim`, with the lengths `g`."""
    return v * (g / _lengths(v, dim))


class WeightNorm:
    """The hook that computes the weight."""

    name: str
    dim: int

    def __init__(self, name: str, dim: int | None) -> None:
        self.name = name
        self.dim = -1 if dim is None else dim

    def compute_weight(self, module: Module) -> Tensor:
        """The weight, from its length and direction."""
        v, g = getattr(module, self.name + "_v"), getattr(module, self.name + "_g")
        return _weight_of(v, g, self.dim)

    @staticmethod
    def apply(module: Module, name: str, dim: int | None) -> WeightNorm:
        """Replace the parameter by its length and direction."""
        if _hook_of(module, name) is not None:
            raise RuntimeError(
                f"Cannot register two weight_norm hooks on the same parameter {name}"
            )
        hook = WeightNorm(name, dim)
        weight = getattr(module, name)
        if isinstance(weight, UninitializedParameter):
            raise ValueError(
                "The module passed to `WeightNorm` can't have uninitialized parameters. "
                "Make sure to run the dummy forward before applying weight normalization"
            )
        del module._parameters[name]
        lengths = _lengths(weight.detach(), hook.dim)
        module.register_parameter(name + "_g", Parameter(lengths))
        module.register_parameter(name + "_v", Parameter(weight.data))
        setattr(module, name, hook.compute_weight(module))
        module.register_forward_pre_hook(hook)
        return hook

    def remove(self, module: Module) -> None:
        """Make the parameter an ordinary one again, with its current value."""
        weight = self.compute_weight(module)
        delattr(module, self.name)
        del module._parameters[self.name + "_g"]
        del module._parameters[self.name + "_v"]
        setattr(module, self.name, Parameter(weight.data))

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module))


def _hook_of(module: Module, name: str) -> int | None:
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, WeightNorm) and hook.name == name:
            return key
    return None


def weight_norm(module: _M, name: str = "weight", dim: int | None = 0) -> _M:
    """Reparametrize a weight by its length and direction: w = g v / ||v||.

    The parameter `weight` becomes `weight_g` and `weight_v` (Salimans and Kingma, 2016). The older
    form; see `nn.utils.parametrizations.weight_norm`.

    Args:
        module: Module with the weight.
        name: Name of the weight. Default: `"weight"`.
        dim: Dimension along which slices have lengths of their own; None for one length.
            Default: 0.

    Returns:
        The module.

    Example:
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     layer = nn.utils.weight_norm(nn.Linear(2, 3))
        >>> layer.weight_g.shape
        torch.Size([3, 1])
    """
    warnings.warn(
        "`flambeau.nn.utils.weight_norm` is deprecated in favor of "
        "`flambeau.nn.utils.parametrizations.weight_norm`.",
        FutureWarning,
        stacklevel=2,
    )
    WeightNorm.apply(module, name, dim)
    return module


def remove_weight_norm(module: _M, name: str = "weight") -> _M:
    """Make a weight one parameter again, with its current value.

    Args:
        module: Module with the weight.
        name: Name of the weight. Default: `"weight"`.

    Example:
        >>> import warnings
        >>> warnings.simplefilter("ignore")  # deprecated, so it warns
        >>> layer = nn.utils.weight_norm(nn.Linear(2, 2))
        >>> [name for name, _ in nn.utils.remove_weight_norm(layer).named_parameters()]
        ['bias', 'weight']
    """
    key = _hook_of(module, name)
    if key is None:
        raise ValueError(f"weight_norm of '{name}' not found in {module}")
    hook = module._forward_pre_hooks[key]
    assert isinstance(hook, WeightNorm)
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module
