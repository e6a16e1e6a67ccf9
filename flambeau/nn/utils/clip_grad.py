"""Gradient clipping, by the norm of all gradients or by element."""

from __future__ import annotations

import math
import types
import warnings
from collections.abc import Iterable

import flambeau
from flambeau import _C, Tensor

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "get_total_norm",
]

# PyTorch's argument `foreach` chooses between two implementations; here there is only one,
# which goes over all tensors natively.
_Tensors = Tensor | Iterable[Tensor]


def _gradients(parameters: _Tensors) -> list[Tensor]:
    """Return the existing gradients."""
    if isinstance(parameters, Tensor):
        parameters = (parameters,)
    return [grad for p in parameters if (grad := p.grad) is not None]


def get_total_norm(
    tensors: _Tensors,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Norm of all tensors as one vector.

    Args:
        tensors: The tensors.
        norm_type: Order of the norm. Default: 2.
        error_if_nonfinite: Whether an infinite or NaN norm is an error. Default: False.
        foreach: Accepted; without effect. Default: None.

    Example:
        >>> nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
        tensor(5.)
    """
    listed = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    norm = _C._total_norm(listed, float(norm_type))
    if error_if_nonfinite and not math.isfinite(norm.item()):
        raise RuntimeError(
            f"The total norm of order {float(norm_type)} for gradients from `parameters` is "
            f"non-finite ({norm.item()}), so it cannot be clipped. To disable this error and scale "
            "the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
        )
    return norm


def clip_grads_with_norm_(
    parameters: _Tensors, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale gradients in place by max_norm / total_norm, if that is below 1.

    Args:
        parameters: Parameters, or one, whose gradients are scaled.
        max_norm: Largest norm.
        total_norm: Norm that they have.
        foreach: Accepted; without effect. Default: None.

    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grads_with_norm_([w], 1.0, torch.tensor(5.0))
        >>> w.grad
        tensor([0.6000, 0.8000])
    """
    with flambeau.no_grad():
        _C._shrink_to_norm(_gradients(parameters), float(max_norm), total_norm)


def clip_grad_norm_(
    parameters: _Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale gradients in place so that their total norm is at most `max_norm`.

    Args:
        parameters: Parameters, or one, whose gradients are clipped.
        max_norm: Largest norm.
        norm_type: Order of the norm. Default: 2.
        error_if_nonfinite: Whether an infinite or NaN norm is an error. Default: False.
        foreach: Accepted; the gradients are scaled in one native pass. Default: None.

    Returns:
        The norm that all gradients, as one vector, had before.

    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_norm_([w], max_norm=1.0)
        tensor(5.)
        >>> w.grad
        tensor([0.6000, 0.8000])

    See also:
        `nn.utils.clip_grad_value_`.
    """
    if isinstance(parameters, types.GeneratorType):
        parameters = list(parameters)
        if not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.",
                stacklevel=2,
            )
    grads = _gradients(parameters)
    norm = get_total_norm(grads, norm_type, error_if_nonfinite)
    if not norm.is_meta:
        with flambeau.no_grad():
            _C._shrink_to_norm(grads, float(max_norm), norm)
    return norm


def clip_grad_norm(
    parameters: _Tensors,
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """The old name of clip_grad_norm_."""
    warnings.warn(
        "`flambeau.nn.utils.clip_grad_norm` is now deprecated in favor of "
        "`flambeau.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: _Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Clamp every element of the gradients in place.

    Args:
        parameters: Parameters, or one, whose gradients are clipped.
        clip_value: Largest absolute value.
        foreach: Accepted; without effect. Default: None.

    Example:
        >>> w = torch.zeros(2, requires_grad=True)
        >>> w.grad = torch.tensor([3.0, 4.0])
        >>> nn.utils.clip_grad_value_([w], 3.5)
        >>> w.grad
        tensor([3.0000, 3.5000])
    """
    bound = float(clip_value)
    with flambeau.no_grad():
        _C._clamp_all(_gradients(parameters), -bound, bound)
