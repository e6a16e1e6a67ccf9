"""Handles that remove hooks, and backward hooks of modules."""

from __future__ import annotations

import itertools
import warnings
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterable, MutableMapping, Sequence
from typing import Any, TypeVar

import flambeau as fb
from flambeau import Tensor

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]

_numbers = itertools.count()
_Hook = TypeVar("_Hook", bound=Callable[..., Any])


class RemovableHandle:
    """What registering a hook returns: ``remove()`` takes the hook away, and so does ``with``."""

    def __init__(self, hooks_dict: MutableMapping[int, Any], *, extra_dict: Any = None) -> None:
        self.id: int = next(_numbers)
        extras = extra_dict if isinstance(extra_dict, list) else [extra_dict]
        self._refer([hooks_dict, *(extra for extra in extras if extra is not None)])

    def _refer(self, dictionaries: Iterable[MutableMapping[int, Any]]) -> None:
        self._references = [_reference(each) for each in dictionaries]

    def remove(self) -> None:
        for reference in self._references:
            hooks = reference()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> Any:
        return self.id, [reference() for reference in self._references]

    def __setstate__(self, state: Any) -> None:
        # The number is kept: the dictionaries, copied or loaded along, know the hook by it.
        global _numbers
        self.id, dictionaries = state
        _numbers = itertools.count(max(next(_numbers), self.id + 1))
        self._refer(each for each in dictionaries if each is not None)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def _reference(hooks: MutableMapping[int, Any]) -> Callable[[], MutableMapping[int, Any] | None]:
    """A weak reference: a handle must not keep its owner alive."""
    try:
        return weakref.ref(hooks)
    except TypeError:  # a plain dict
        return lambda: hooks


def register_in(
    hooks: MutableMapping[int, Any],
    hook: Any,
    *,
    marks: Iterable[tuple[MutableMapping[int, bool], bool]] = (),
    prepend: bool = False,
) -> RemovableHandle:
    """Add a hook to a dictionary of hooks, in front if told so.

    ``marks`` are dictionaries of properties that only some hooks have, and whether this one has it.
    """
    marks = list(marks)
    handle = RemovableHandle(hooks, extra_dict=[mark for mark, _ in marks])
    hooks[handle.id] = hook
    for mark, holds in marks:
        if holds:
            mark[handle.id] = True
    if prepend and isinstance(hooks, OrderedDict):
        hooks.move_to_end(handle.id, last=False)
    return handle


def unserializable_hook(f: _Hook) -> _Hook:
    """Mark a tensor hook that pickles leave out on purpose."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """Warn about hooks on ``tensor`` that a pickle would lose."""
    for hook in (getattr(tensor, "_backward_hooks", None) or {}).values():
        if not hasattr(hook, "__torch_unserializable__"):
            warnings.warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, "
                "you can decorate the function with @torch.utils.hooks.unserializable_hook to "
                "suppress this warning",
                stacklevel=2,
            )


class BackwardHook:
    """One call of a module with backward hooks.

    Its inputs and its outputs each go through an identity in the graph. The node of the outputs
    sees the gradients first: it runs the pre-hooks and keeps what they leave. The node of the
    inputs then has both sides, and runs the hooks.
    """

    def __init__(self, module: Any, user_hooks: Sequence[Any], user_pre_hooks: Sequence[Any]):
        self.module = module
        self.user_hooks = user_hooks
        self.user_pre_hooks = user_pre_hooks
        self.grad_outputs: tuple[Any, ...] | None = None
        self.n_inputs: int = -1
        self.n_outputs: int = -1
        self.input_places: list[int] | None = None
        self.output_places: list[int] = []

    def setup_input_hook(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Send the tensors among the arguments through a node, and hook the hooks to it."""
        self.n_inputs = len(args)
        result, self.input_places = _through_node(args, self._run_hooks)
        return result

    def setup_output_hook(self, result: Any) -> Any:
        """Send the tensors of the result through a node, and hook the pre-hooks to it."""
        outputs = result if isinstance(result, tuple) else (result,)
        self.n_outputs = len(outputs)
        outputs, places = _through_node(outputs, self._run_pre_hooks)
        self.output_places = places or []
        return outputs if isinstance(result, tuple) else outputs[0]

    def _run_hooks(self, grad_input: Sequence[Any], _: Any) -> Any:
        if self.grad_outputs is None:  # nothing came through the outputs
            return None
        assert self.input_places is not None
        grads = _spread(grad_input, self.input_places, self.n_inputs)
        for hook in self.user_hooks:
            changed = hook(self.module, grads, self.grad_outputs)
            if changed is None:
                continue
            _check_count("hook", "grad_input", changed, grads)
            grads = changed
        self.grad_outputs = None
        return tuple(grads[place] for place in self.input_places)

    def _run_pre_hooks(self, _: Any, grad_output: Sequence[Any]) -> Any:
        grads = _spread(grad_output, self.output_places, self.n_outputs)
        for hook in self.user_pre_hooks:
            changed = hook(self.module, grads)
            if changed is None:
                continue
            _check_count("pre hook", "grad_output", changed, grads)
            grads = changed
        self.grad_outputs = grads
        if self.input_places is None:
            self._run_hooks_without_inputs(grads)
        return tuple(grads[place] for place in self.output_places)

    def _run_hooks_without_inputs(self, grads: tuple[Any, ...]) -> None:
        """No input needs a gradient, so the backward pass ends in the module: hooks run now."""
        warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients. See "
            "https://docs.pytorch.org/docs/main/generated/torch.nn.Module.html"
            "#torch.nn.Module.register_full_backward_hook for more details.",
            stacklevel=5,
        )
        for hook in self.user_hooks:
            result = hook(self.module, (None,) * self.n_inputs, grads)
            if result is not None and not (
                isinstance(result, tuple) and all(each is None for each in result)
            ):
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None


def _spread(grads: Sequence[Any], places: list[int], count: int) -> tuple[Any, ...]:
    """Gradients at the positions of their tensors, None elsewhere."""
    result: list[Any] = [None] * count
    for place, grad in zip(places, grads, strict=True):
        result[place] = grad
    return tuple(result)


def _check_count(kind: str, what: str, given: Sequence[Any], expected: Sequence[Any]) -> None:
    if len(given) != len(expected):
        raise RuntimeError(
            f"Backward {kind} returned an invalid number of {what}, got {len(given)}, but expected "
            f"{len(expected)}"
        )


def _through_node(
    values: tuple[Any, ...], hook: Callable[..., Any]
) -> tuple[tuple[Any, ...], list[int] | None]:
    """The values with their tensors sent through one node with the hook, and their positions.

    If no gradient is needed nothing is done, and there are no positions.
    """
    from flambeau.nn.modules._functions import BackwardHookFunction

    places = [i for i, value in enumerate(values) if isinstance(value, Tensor)]
    if not (any(values[i].requires_grad for i in places) and fb.is_grad_enabled()):
        return values, None
    tensors = BackwardHookFunction.apply(*[values[i] for i in places])
    node = next(tensor.grad_fn for tensor in tensors if tensor.grad_fn is not None)
    node.register_hook(hook)
    replaced = list(values)
    for place, tensor in zip(places, tensors, strict=True):
        replaced[place] = tensor
    if type(values) is tuple:
        return tuple(replaced), places
    return type(values)(*replaced), places  # a named tuple
