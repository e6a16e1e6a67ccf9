"""``cond`` and ``while_loop``: branches and loops in the form that PyTorch can trace."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from flambeau import Tensor

__all__ = ["cond", "while_loop"]


def cond(
    pred: Any,
    true_fn: Callable[..., Any],
    false_fn: Callable[..., Any],
    operands: Sequence[Any] = (),
) -> Any:
    """Call one of two functions, by a condition.

    Args:
        pred: The condition: a bool, or a tensor of one element.
        true_fn: Function to call if it is true.
        false_fn: Function to call otherwise.
        operands: Their arguments. Default: none.

    Example:
        >>> x = torch.tensor([1.0, -2.0])
        >>> torch.cond(x.sum() > 0, lambda x: x, lambda x: -x, (x,))
        tensor([-1.,  2.])
    """
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"cond: expected pred to be bool or single-element tensor, got {pred}")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("cond: expected both branches to be callable")
    if not isinstance(operands, (tuple, list)):
        raise RuntimeError(f"cond: expected operands to be a tuple, got {type(operands).__name__}")
    return true_fn(*operands) if pred else false_fn(*operands)


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: Sequence[Any]
) -> Any:
    """Replace ``carried_inputs`` by ``body_fn(*carried_inputs)`` as long as ``cond_fn`` holds."""
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        result = body_fn(*carried)
        if not isinstance(result, tuple) or len(result) != len(carried):
            raise RuntimeError(
                f"while_loop: body_fn must return a tuple of {len(carried)}, as it is given"
            )
        carried = result
    return carried
