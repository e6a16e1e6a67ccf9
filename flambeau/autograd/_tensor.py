"""Methods of tensors that concern the graph."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.autograd.engine import backward as run_backward
from flambeau.utils.hooks import RemovableHandle, register_in


def backward(
    input: Tensor,
    gradient: Tensor | None = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    is_default_call = gradient is None and inputs is None and input.requires_grad
    if is_default_call and input.numel() == 1 and input.is_floating_point():
        # The loss of a training step: there is nothing to check and to collect.
        keep = create_graph if retain_graph is None else retain_graph
        _C._run_backward((input,), (fb.ones_like(input),), keep, create_graph, (), True, True)
    else:
        run_backward(input, gradient, retain_graph, create_graph, inputs=inputs)


def register_hook(input: Tensor, hook: Callable[[Tensor], Tensor | None]) -> RemovableHandle:
    if not input.requires_grad:
        raise RuntimeError(
            "cannot register a hook on a tensor that doesn't require gradient; call "
            "requires_grad_() first"
        )
    if input._backward_hooks is None:
        input._backward_hooks = OrderedDict()
    return register_in(input._backward_hooks, hook)


def register_post_accumulate_grad_hook(
    input: Tensor, hook: Callable[[Tensor], None]
) -> RemovableHandle:
    hooks = getattr(input, "_post_accumulate_grad_hooks", None)
    if hooks is None:
        hooks = OrderedDict()
        _C._after_accumulation(input, hooks)
        input._post_accumulate_grad_hooks = hooks
    return register_in(hooks, hook)


def retain_grad(input: Tensor) -> None:
    _C._retain_grad(input)
