"""Checkpointing: less memory in the forward pass, for a second one during backward."""

from __future__ import annotations

import contextlib
import sys
import warnings
import weakref
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.amp.autocast_mode import current_region
from flambeau.autograd import Function
from flambeau.autograd.graph import saved_tensors_hooks
from flambeau.autograd.profiler import record_function
from flambeau.utils._selective import (
    CheckpointPolicy,
    SelectiveCheckpointContext,
    create_selective_checkpoint_contexts,
)

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "create_selective_checkpoint_contexts",
    "detach_variable",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
]

_Contexts = tuple[AbstractContextManager[Any], AbstractContextManager[Any]]

_IMPLICIT = (
    "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. "
    "use_reentrant=False is recommended, but if you need to preserve the current default "
    "behavior, you can pass use_reentrant=True."
)


class CheckpointError(RuntimeError):
    """The recomputation of a checkpointed function differed from the first run."""


class _Overrides:
    """Overrides set by the context managers below, in place of arguments of `checkpoint`."""

    early_stop: bool | None = None
    debug: bool | None = None


def noop_context_fn() -> _Contexts:
    """Two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], _Contexts] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    **kwargs: Any,
) -> Any:
    """Call a function without keeping what its backward pass needs; compute it again then.

    Trades time for memory. Random numbers are the same in both runs.

    Args:
        function: Function or module to call.
        *args: Its arguments.
        use_reentrant: False (recommended) for the form described here; True for the older form,
            which calls backward within backward and takes no keyword arguments. Without it a
            warning asks for one.
        context_fn: Function that returns two contexts, for the first and the second run.
        determinism_check: `"default"` compares what both runs save; `"none"` does not.
        debug: Whether an error tells where the runs differ. Default: False.
        early_stop: Whether the second run ends as soon as it has what it needs. Default: True.
        **kwargs: Keyword arguments of the function; `preserve_rng_state=False` is taken out.

    Returns:
        What the function returns.

    Example:
        >>> from flambeau.utils.checkpoint import checkpoint
        >>> layer = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 4))
        >>> x = torch.ones(1, 4, requires_grad=True)
        >>> checkpoint(layer, x, use_reentrant=False).sum().backward()
        >>> x.grad.shape
        torch.Size([1, 4])
    """
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if use_reentrant is None:
        warnings.warn(_IMPLICIT, stacklevel=2)
        use_reentrant = True
    if not use_reentrant:
        is_debug = debug if _Overrides.debug is None else _Overrides.debug
        region = _Region(
            function,
            kwargs,
            contexts=context_fn(),
            preserve_rng_state=preserve_rng_state,
            is_checked=_is_checked(determinism_check),
            is_debug=is_debug,
            early_stop=early_stop if _Overrides.early_stop is None else _Overrides.early_stop,
        )
        return region.run(args)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    if context_fn is not noop_context_fn or debug:
        raise ValueError(
            "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
        )
    return CheckpointFunction.apply(function, preserve_rng_state, *args)


def checkpoint_sequential(
    functions: Any, segments: int, input: Any, use_reentrant: bool | None = None, **kwargs: Any
) -> Any:
    """Apply functions, or a module's children, one after the other in a number of `segments`.

    Each segment but the last, whose backward comes first anyway, is checkpointed.
    """
    if use_reentrant is None:
        warnings.warn(_IMPLICIT, stacklevel=2)
        use_reentrant = True
    preserve_rng_state = kwargs.pop("preserve_rng_state", True)
    if kwargs:
        raise ValueError("Unexpected keyword arguments: " + ",".join(kwargs))
    steps = list(functions.children() if hasattr(functions, "children") else functions)

    def segment(start: int, end: int) -> Callable[[Any], Any]:
        def run(value: Any) -> Any:
            for step in steps[start:end]:
                value = step(value)
            return value

        return run

    size = len(steps) // segments
    last = size * (segments - 1)
    for start in range(0, last, size) if size else ():
        input = checkpoint(
            segment(start, start + size),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return segment(last, len(steps))(input)


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Decide inside the block whether second runs stop early, whatever `checkpoint` is told."""
    previous, _Overrides.early_stop = _Overrides.early_stop, enable
    try:
        yield
    finally:
        _Overrides.early_stop = previous


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Decide inside the block whether `checkpoint` records lines; None keeps its argument."""
    previous, _Overrides.debug = _Overrides.debug, enabled
    try:
        yield
    finally:
        _Overrides.debug = previous


class _Place:
    """What a node holds instead of a saved tensor: a slot that the second run fills."""

    __slots__ = ("__weakref__", "tensor")

    def __init__(self) -> None:
        self.tensor: Tensor | None = None


class _Stop(BaseException):
    """All saved tensors are there again. Not an Exception, so that users' handlers ignore it."""


class _SaveInputs(Function):
    """Keeps tensors as a node does: hooks, of an outer checkpoint say, apply to them."""

    @staticmethod
    def forward(ctx: Any, recorded: Tensor, *tensors: Tensor) -> Tensor:
        ctx.save_for_backward(*tensors)
        return recorded.new_empty(0)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        raise AssertionError("nothing is computed from the output of this node")


class _Draws:
    """The states of the generators that a function may draw from: the CPU's and its arguments'."""

    def __init__(self, args: Iterable[Any]) -> None:
        self.state = fb.get_rng_state()
        places = {x.device.index for x in args if isinstance(x, Tensor) and x.is_cuda}
        self.devices = sorted(index for index in places if index is not None)
        self.device_states = [fb.cuda.get_rng_state(index) for index in self.devices]

    @contextlib.contextmanager
    def again(self) -> Iterator[None]:
        """Draw the same numbers within a block, without an effect on what is drawn after it."""
        with fb.random.fork_rng(self.devices):
            fb.set_rng_state(self.state)
            for index, state in zip(self.devices, self.device_states, strict=True):
                fb.cuda.set_rng_state(state, index)
            yield


class _Region:
    """One call of a checkpointed function, which is called again when a saved tensor is wanted.

    A slot is emptied when it is read. A second backward through the same graph finds it empty,
    so it causes another run.
    """

    def __init__(
        self,
        function: Callable[..., Any],
        kwargs: dict[str, Any],
        *,
        contexts: _Contexts,
        preserve_rng_state: bool,
        is_checked: bool,
        is_debug: bool,
        early_stop: bool,
    ) -> None:
        self.function = function
        self.kwargs = kwargs
        self.first_context, self.second_context = contexts
        self.preserve_rng_state = preserve_rng_state
        self.draws: _Draws | None = None
        self.autocast = current_region("cpu"), current_region("cuda")
        self.is_checked = is_checked
        self.is_debug = is_debug
        self.early_stop = early_stop
        # Weak, because slots that nobody will read need not be filled.
        self.places: list[weakref.ref[_Place]] = []
        self.saved: list[_Saved] = []
        self.is_complete = False

    def run(self, args: tuple[Any, ...]) -> Any:
        """Make the first call."""
        self._save_arguments(args)
        if self.preserve_rng_state:
            self.draws = _Draws((*args, *self.kwargs.values()))
        with saved_tensors_hooks(self._pack, self._unpack), self.first_context:
            result = self.function(*args, **self.kwargs)
        self.is_complete = True
        return result

    def _save_arguments(self, args: tuple[Any, ...]) -> None:
        self.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        self.tensors_at = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        with fb.enable_grad():
            recorded = fb.empty(0, requires_grad=True)
            self.saver = _SaveInputs.apply(recorded, *(args[i] for i in self.tensors_at)).grad_fn

    def _arguments(self) -> list[Any]:
        args = list(self.others)
        with fb.enable_grad():  # so that they come with their history
            saved = self.saver.saved_tensors
        for i, tensor in zip(self.tensors_at, saved, strict=True):
            args[i] = tensor
        return args

    def _pack(self, tensor: Tensor) -> _Place:
        place = _Place()
        self.places.append(weakref.ref(place))
        self.saved.append(_Saved(tensor, self.is_debug))
        return place

    def _unpack(self, place: _Place) -> Tensor:
        if place.tensor is None:
            self._run_again()
        tensor, place.tensor = place.tensor, None
        if tensor is None:
            raise CheckpointError("torch.utils.checkpoint: a saved tensor was not recomputed.")
        return tensor

    def _run_again(self) -> None:
        args = self._arguments()
        found: list[_Saved] = []

        def pack(tensor: Tensor) -> Tensor:
            found.append(_Saved(tensor, self.is_debug))
            if len(found) <= len(self.places):
                place = self.places[len(found) - 1]()
                if place is not None:
                    place.tensor = tensor.detach()
                if self.early_stop and len(found) == len(self.places):
                    raise _Stop
            return tensor.detach()

        hooks = saved_tensors_hooks(pack, lambda tensor: tensor)
        with (
            self.draws.again() if self.draws else contextlib.nullcontext(),
            contextlib.suppress(_Stop),
            fb.enable_grad(),
            self.autocast[0],
            self.autocast[1],
            hooks,
            self.second_context,
            record_function("checkpoint: second run"),
        ):
            self.function(*args, **self.kwargs)
        self._compare(found)

    def _compare(self, found: list[_Saved]) -> None:
        if not self.is_complete:  # a backward within the function: the first run goes on behind it
            found = found[: len(self.saved)]
        if len(found) != len(self.saved):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation.\n"
                f"Number of tensors saved during forward: {len(self.saved)}\n"
                f"Number of tensors saved during recomputation: {len(found)}"
                f"{self._different_ways(found)}"
            )
        if not self.is_checked:
            return
        pairs = enumerate(zip(self.saved, found, strict=True))
        mismatches = [
            f"tensor at position {i}:\nsaved metadata: {one}\nrecomputed metadata: {other}"
            for i, (one, other) in pairs
            if one.metadata != other.metadata
        ]
        if mismatches:
            raise CheckpointError(
                "torch.utils.checkpoint: Recomputed values for the following tensors have "
                "different metadata than during the forward pass.\n"
                + "\n".join(mismatches)
                + self._different_ways(found)
            )

    def _different_ways(self, found: list[_Saved]) -> str:
        """Where the runs first saved something at different lines, if lines were recorded."""
        if not self.is_debug:
            return "\nWith debug=True this error says where the two runs went different ways."
        nowhere = _Saved.nowhere()
        for i in range(max(len(self.saved), len(found))):
            one = self.saved[i] if i < len(self.saved) else nowhere
            other = found[i] if i < len(found) else nowhere
            if one.line != other.line or one.metadata != other.metadata:
                return (
                    f"\nThe runs went different ways at tensor {i}: in the forward pass it was "
                    f"saved at {one.line}, in the recomputation at {other.line}."
                )
        return ""


class _Saved:
    """The metadata of a saved tensor, and the line that saved it if requested."""

    __slots__ = ("line", "metadata")

    def __init__(self, tensor: Tensor, is_debug: bool) -> None:
        self.metadata: tuple[Any, ...] = (tuple(tensor.shape), tensor.dtype, tensor.device)
        self.line = _calling_line() if is_debug else ""

    @classmethod
    def nowhere(cls) -> _Saved:
        saved = cls.__new__(cls)
        saved.metadata, saved.line = (), "no line, because the run had ended"
        return saved

    def __str__(self) -> str:
        shape, dtype, device = self.metadata
        return f"{{'shape': {shape}, 'dtype': {dtype}, 'device': {device}}}"


def _calling_line() -> str:
    """The innermost line outside of this package."""
    frame = sys._getframe(1)
    package = __name__.partition(".")[0]
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] == package:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


def _is_checked(determinism_check: str) -> bool:
    if determinism_check not in ("default", "none"):
        raise ValueError(
            f"determinism_check should be one of ['default', 'none'] but got {determinism_check!r}"
        )
    return determinism_check == "default"


class CheckpointFunction(Function):
    """The re-entrant form: one node, whose backward runs the function again and then backward."""

    @staticmethod
    def forward(ctx: Any, run_function: Any, preserve_rng_state: bool, *args: Any) -> Any:
        check_backward_validity(args)
        ctx.run_function = run_function
        ctx.draws = _Draws(args) if preserve_rng_state else None
        ctx.autocast = current_region("cpu"), current_region("cuda")
        ctx.others = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.tensors_at = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.save_for_backward(*(args[i] for i in ctx.tensors_at))
        with fb.no_grad():
            return run_function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> Any:
        if _C._run_has_inputs():
            # The backward in here would reach leaves that were not asked for.
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        inputs = list(ctx.others)
        for i, tensor in zip(ctx.tensors_at, ctx.saved_tensors, strict=True):
            inputs[i] = tensor
        inputs = list(detach_variable(tuple(inputs)))
        draws = ctx.draws.again() if ctx.draws else contextlib.nullcontext()
        with draws, fb.enable_grad(), ctx.autocast[0], ctx.autocast[1]:
            outputs = ctx.run_function(*inputs)
        outputs = (outputs,) if isinstance(outputs, Tensor) else outputs
        pairs = [
            (output, grad)
            for output, grad in zip(outputs, grads, strict=True)
            if isinstance(output, Tensor) and output.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        fb.autograd.backward([output for output, _ in pairs], [grad for _, grad in pairs])
        return None, None, *(x.grad if isinstance(x, Tensor) else None for x in inputs)


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """The inputs, with new leaves in place of the tensors."""
    return tuple(
        x.detach().requires_grad_(x.requires_grad) if isinstance(x, Tensor) else x for x in inputs
    )


def check_backward_validity(inputs: tuple[Any, ...]) -> None:
    """Warn if no input requires a gradient."""
    if not any(isinstance(x, Tensor) and x.requires_grad for x in inputs):
        warnings.warn(
            "None of the inputs have requires_grad=True. Gradients will be None", stacklevel=4
        )
