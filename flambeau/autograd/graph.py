"""The graph: its nodes and edges, and hooks on what it saves and on what flows through it."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._C import Node
from flambeau.utils.hooks import RemovableHandle

__all__ = [
    "GradientEdge",
    "Node",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """Where the gradient of a tensor goes: into the result `output_nr` of a node.

    `autograd.grad` and `autograd.backward` take edges in place of tensors.
    """

    node: Node
    output_nr: int
    ownership_token: Node | None = None


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the edge of a tensor, which stays when the tensor itself is let go."""
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require "
            "gradients"
        )
    return GradientEdge(*_C._gradient_edge(tensor))


def increment_version(tensor: Tensor | Iterable[Tensor]) -> None:
    """Count a change in place of elements that was made behind the back of autograd."""
    for changed in (tensor,) if isinstance(tensor, Tensor) else tensor:
        _C._bump_version(changed)


class saved_tensors_hooks(_C._Scope):
    """Within a block, save something else in place of tensors that backward needs.

    Args:
        pack_hook: Function of a tensor, called when it is saved; its result is kept.
        unpack_hook: Function of that result, called in backward; returns a tensor of the same
            content.

    Example:
        >>> kept = []
        >>> def pack(x):
        ...     kept.append(x.shape)
        ...     return x
        >>> x = torch.ones(3, requires_grad=True)
        >>> with torch.autograd.graph.saved_tensors_hooks(pack, lambda x: x):
        ...     y = x.exp()
        >>> len(kept)
        1

    See also:
        `autograd.graph.save_on_cpu`, `utils.checkpoint.checkpoint`.
    """

    _begin = staticmethod(_C._push_saved_tensors_hooks)
    _end = staticmethod(_C._pop_saved_tensors_hooks)

    def __init__(
        self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
    ) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    @property
    def _value(self) -> tuple[Any, Any]:
        return self.pack_hook, self.unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Within a block, keep tensors that backward needs in main memory.

    Args:
        pin_memory: Whether that is page-locked; without effect without a GPU. Default: False.
        device_type: Kind of device that tensors come from. Default: `"cuda"`.

    Example:
        >>> x = torch.ones(3, requires_grad=True)
        >>> with torch.autograd.graph.save_on_cpu():
        ...     y = (x * x).sum()
        >>> y.backward()
        >>> x.grad
        tensor([2., 2., 2.])
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[fb.device, Tensor]:
            return tensor.device, tensor.to("cpu", copy=True)

        def unpack(packed: tuple[fb.device, Tensor]) -> Tensor:
            device, copy = packed
            return copy.to(device)

        super().__init__(pack, unpack)


class disable_saved_tensors_hooks(_C._Scope, contextlib.ContextDecorator):
    """Make `saved_tensors_hooks` an error with this message inside the block."""

    _begin = _end = staticmethod(_C._disable_saved_tensors_hooks)

    def __init__(self, error_message: str) -> None:
        self._value = error_message


def register_multi_grad_hook(
    tensors: Sequence[Tensor],
    fn: Callable[[Sequence[Tensor | None]], None] | Callable[[Tensor], None],
    *,
    mode: Literal["all", "any"] = "all",
) -> RemovableHandle:
    """Call a function when gradients of several tensors have been computed.

    Args:
        tensors: The tensors.
        fn: Function of the list of gradients, None where there is none; with `mode="any"` of the
            first gradient.
        mode: `"all"` (the default) waits for all of them, `"any"` for the first.

    Returns:
        A handle, whose `remove()` removes the hook.

    Example:
        >>> from flambeau.autograd.graph import register_multi_grad_hook
        >>> a = torch.ones(1, requires_grad=True)
        >>> b = torch.ones(1, requires_grad=True)
        >>> handle = register_multi_grad_hook((a, b), lambda grads: print(len(grads)))
        >>> (a * b).backward()
        2
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    together = _Together(tensors, fn, mode == "any")
    return _Handles(
        [
            tensor.register_hook(functools.partial(together.receive, place))
            for place, tensor in enumerate(tensors)
        ]
    )


class _Together:
    """Gathers the gradients of several tensors in one backward, or in several at once."""

    def __init__(self, tensors: Sequence[Tensor], call: Callable[[Any], None], any_: bool) -> None:
        self.nodes = [get_gradient_edge(tensor).node for tensor in tensors]
        self.call = call
        self.wants_any = any_
        # By the number of the backward: what is there, and how many are still to come.
        self.seen: dict[int, list[Tensor | None]] = {}
        self.missing: dict[int, int] = {}

    def receive(self, place: int, grad: Tensor) -> None:
        """Take the gradient of one tensor."""
        run = _C._current_run()
        is_first = run not in self.seen
        if is_first:
            self.seen[run] = [None] * len(self.nodes)
            self.missing[run] = sum(map(_C._will_run, self.nodes))
        grads = self.seen[run]
        grads[place] = grad
        self.missing[run] -= 1
        is_last = self.missing[run] == 0
        if is_last:
            del self.seen[run], self.missing[run]
        if is_first if self.wants_any else is_last:
            self.call(grad if self.wants_any else grads)


class _Handles(RemovableHandle):
    """Removes several hooks."""

    def __init__(self, handles: list[RemovableHandle]) -> None:
        self.handles = handles

    def remove(self) -> None:
        for handle in self.handles:
            handle.remove()
