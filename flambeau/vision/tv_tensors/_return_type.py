"""Whether operators on tv_tensors return tv_tensors."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.utils import _pytree
from flambeau.vision.tv_tensors._tv_tensor import TVTensor

__all__ = ["set_return_type"]


def _spread(
    cls: type[TVTensor],
    func: Any,
    types: Any,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """Run an operator and wrap its results like the first argument that is a tv_tensor."""
    if not all(issubclass(cls, kind) for kind in types):
        return NotImplemented
    with fb._C.DisableTorchFunctionSubclass():
        output = func(*args, **(kwargs or {}))
        leaves = _pytree.tree_leaves((args, kwargs))
        like = next(each for each in leaves if isinstance(each, cls))
        return _meaning_of(output, like)


def _meaning_of(output: Any, like: TVTensor) -> Any:
    if isinstance(output, Tensor):
        return output if isinstance(output, TVTensor) else type(like).wrap(output, like)
    if isinstance(output, (tuple, list)) and any(isinstance(each, Tensor) for each in output):
        return type(output)([_meaning_of(each, like) for each in output])
    return output


_RULES = {False: TVTensor.__dict__["__torch_function__"], True: classmethod(_spread)}


def _let_spread(spreads: bool) -> None:
    TVTensor.__torch_function__ = _RULES[spreads]
    TVTensor._fb_spreads = spreads


class set_return_type:
    """Let operators return ``"Tensor"`` (the default) or ``"TVTensor"``.

    As a context manager, for a ``with`` block only.
    """

    def __init__(self, return_type: str) -> None:
        if str(return_type).lower() not in ("tensor", "tvtensor"):
            raise ValueError(f"return_type must be 'TVTensor' or 'Tensor', got {return_type}")
        self._before = TVTensor._fb_spreads
        _let_spread(return_type.lower() == "tvtensor")

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        _let_spread(self._before)
