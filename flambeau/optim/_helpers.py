"""What optimisers of other packages call of PyTorch's: which form of a step to take, and groups."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import flambeau as fb
from flambeau import Tensor

__all__: list[str] = []

_Step = TypeVar("_Step", bound=Callable[..., Any])
_Groups = dict[tuple[fb.device, fb.dtype], tuple[list[list[Tensor | None]], list[int]]]


def _use_grad_for_differentiable(func: _Step) -> _Step:
    """Let a step record its operations only if the optimiser is to be differentiated."""

    @functools.wraps(func)
    def step(*args: Any, **kwargs: Any) -> Any:
        with fb.set_grad_enabled(args[0].defaults["differentiable"]):
            return func(*args, **kwargs)

    return step  # type: ignore[return-value]


def _default_to_fused_or_foreach(
    params: Sequence[Tensor], differentiable: bool, use_fused: bool = False
) -> tuple[bool, bool]:
    """Whether a step should by default be fused, or taken on lists: on GPUs alone."""
    return False, False


def _get_capturable_supported_devices(supports_xla: bool = True) -> list[str]:
    """The devices on which a step can be captured in a graph."""
    return ["cuda", "xpu", "hpu", "privateuseone", *(["xla"] if supports_xla else [])]


def _get_foreach_kernels_supported_devices() -> list[str]:
    """The devices on which operators on lists save time."""
    return ["cuda", "xpu", "mtia", "privateuseone"]


def _get_fused_kernels_supported_devices() -> list[str]:
    """The devices that have fused steps."""
    return ["mps", "cuda", "xpu", "hpu", "cpu", "mtia", "privateuseone"]


def _get_scalar_dtype(is_fused: bool | None = None) -> fb.dtype:
    """The type of the number of steps."""
    return fb.float64 if not is_fused and fb.get_default_dtype() == fb.float64 else fb.float32


def _view_as_real(params: list[Tensor], *state_and_grads: list[Tensor]) -> None:
    """Replace the complex tensors in lists by pairs of real numbers."""
    for index, param in enumerate(params):
        if fb.is_complex(param):
            params[index] = fb.view_as_real(param)
            for tensors in state_and_grads:
                tensors[index] = fb.view_as_real(tensors[index])


def _get_value(x: Any) -> Any:
    """The number in a tensor of one element."""
    return x.item() if isinstance(x, Tensor) else x


def _stack_if_compiling(x: Any) -> Any:
    """A list as it is: no compiler looks at it."""
    return x


def _disable_dynamo_if_unsupported(
    single_tensor_fn: Callable[..., object] | None = None,
) -> Callable[[_Step], _Step]:
    """A decorator that changes nothing: no compiler looks at the step."""
    return lambda step: step


def _group_tensors_by_device_and_dtype(
    tensorlistlist: Sequence[Sequence[Tensor | None]], with_indices: bool = False
) -> _Groups:
    """Split lists that belong together by the place and the type of the tensors in the first."""
    groups: _Groups = {}
    for index, first in enumerate(tensorlistlist[0]):
        if first is None:
            raise ValueError("expected the first list to hold tensors alone, got None")
        lists, indices = groups.setdefault(
            (first.device, first.dtype), ([[] for _ in tensorlistlist], [])
        )
        for found, tensors in zip(lists, tensorlistlist, strict=True):
            if tensors:
                found.append(tensors[index])
        indices.append(index)
    return groups
