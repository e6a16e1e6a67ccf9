"""Interrupts leave no mode switched, at whichever instruction they come.

Python checks for signals where a function begins, after each call and where a loop repeats. A
trace function raises there as the handler of Ctrl-C would: at one place after the other.
"""

from __future__ import annotations

import dis
import functools
import sys
import warnings
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

import pytest

import flambeau as fb
from flambeau import _C
from flambeau._operators.unrecorded import unrecorded
from flambeau._recording.tape import Tape
from flambeau.export._graphs import recorder_for
from flambeau.overrides import TorchFunctionMode

ONE = fb.ones(1)


class Mode(TorchFunctionMode):
    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return func(*args, **(kwargs or {}))


def state() -> tuple[Any, ...]:
    """Everything that a block may switch."""
    try:
        with fb.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            hooks = "allowed"
    except RuntimeError as error:
        hooks = str(error)
    return (
        fb.is_grad_enabled(),
        fb.is_inference_mode_enabled(),
        fb.is_anomaly_enabled(),
        fb.is_anomaly_check_nan_enabled(),
        [fb.is_autocast_enabled(kind) for kind in ("cpu", "cuda", "xpu")],
        [fb.get_autocast_dtype(kind) for kind in ("cpu", "cuda", "xpu")],
        fb.is_autocast_cache_enabled(),
        _C._autocast.nest(0),
        _C._len_torch_function_stack(),
        fb.empty(0).device.type,
        _C._are_functorch_transforms_active(),
        _C._only_dual_level(),
        hooks,
        _C._is_torch_function_enabled(),
        _C._is_recorded(),
        _C._recorder(),
    )


seen: list[fb.Tensor] = []


def pack(x: fb.Tensor) -> fb.Tensor:
    seen.append(x)
    return x


def saving_is_seen() -> bool:
    """Whether a hook that was left behind sees what a node saves."""
    seen.clear()
    x = fb.ones(1, requires_grad=True)
    (x * x).sum()
    return bool(seen)


def detect_anomaly() -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fb.autograd.detect_anomaly()


BLOCKS: dict[str, Callable[[], Any]] = {
    "no_grad": fb.no_grad,
    "enable_grad": fb.enable_grad,
    "inference_mode": fb.inference_mode,
    "inference_mode(False)": lambda: fb.inference_mode(False),
    "detect_anomaly": detect_anomaly,
    "autocast": lambda: fb.autocast("cpu", dtype=fb.float16),
    "autocast elsewhere": lambda: fb.autocast("xpu", dtype=fb.bfloat16),
    "device": lambda: fb.device("meta"),
    "mode": Mode,
    "saved_tensors_hooks": lambda: fb.autograd.graph.saved_tensors_hooks(pack, pack),
    "disable_saved_tensors_hooks": lambda: fb.autograd.graph.disable_saved_tensors_hooks("no"),
    "dual_level": fb.autograd.forward_ad.dual_level,
    "DisableTorchFunctionSubclass": _C.DisableTorchFunctionSubclass,
    "unrecorded": unrecorded,
    "Tape": Tape,
    "Recorder": lambda: recorder_for([ONE], [], traces_sizes=True),
}


def enter_and_leave(block: Any) -> None:
    with block:
        enter_nothing()


def decorated(block: Any) -> None:
    block(enter_nothing)()


def enter_nothing() -> None:
    pass


def mapped(_: Any) -> None:
    fb.vmap(fb.exp)(fb.ones(2))


def pushed(_: Any) -> None:
    fb.func.jvp(fb.exp, (ONE,), (ONE,))


# Instructions after which the interpreter looks for signals.
NAMES = ["RESUME", "CALL", "CALL_FUNCTION_EX", "JUMP_BACKWARD"]
NAMES += ["CALL_FUNCTION", "CALL_FUNCTION_KW", "CALL_METHOD", "JUMP_ABSOLUTE"]  # of Python 3.10
LOOKS = {dis.opmap.get(name) for name in NAMES}


@functools.cache
def handlers(code: CodeType) -> list[tuple[int, int, int]]:
    """From where to where each handler of exceptions is for. Python 3.10 has no such table."""
    parse = getattr(dis, "_parse_exception_table", lambda code: [])
    return [(entry.start, entry.end, entry.target) for entry in parse(code)]


def handler_at(code: CodeType, place: int) -> int | None:
    found = (target for start, end, target in handlers(code) if start <= place < end)
    return next(found, None)


class Interrupt:
    """Raises KeyboardInterrupt the n-th time that the interpreter looks for signals."""

    def __init__(self, at: int) -> None:
        self.at = at
        self.count = 0
        self.last: dict[FrameType, int] = {}  # where the instruction before was, in each frame

    def __call__(self, frame: FrameType, event: str, arg: Any) -> Any:
        frame.f_trace_opcodes = True
        if event == "opcode":
            code, place = frame.f_code, frame.f_lasti
            last = self.last.get(frame, place)
            self.last[frame] = place
            # The exception would be that of the instruction before: it must not matter.
            same = handler_at(code, last) == handler_at(code, place)
            if same and code.co_code[last] in LOOKS:
                self.look()
        elif event == "call":
            self.look()
        return self

    def look(self) -> None:
        self.count += 1
        if self.count == self.at:
            raise KeyboardInterrupt


def interrupted_everywhere(
    run: Callable[[Any], None], make: Callable[[], Any], step: int = 1
) -> int:
    """Interrupt a run at each place, or at some of them; returns how many there were."""
    run(make())  # what is imported when it is first needed is there now
    before = state()
    for at in range(1, 2000 * step, step):
        block = make()
        interrupt = Interrupt(at)
        sys.settrace(interrupt)
        try:
            run(block)
        except KeyboardInterrupt:  # contextlib.suppress would be traced, and interrupted itself
            pass
        finally:
            sys.settrace(None)
        assert state() == before, f"after an interrupt at place {at}"
        assert not saving_is_seen(), f"after an interrupt at place {at}"
        if interrupt.count < at:
            return interrupt.count
    raise AssertionError("the block has no end")


@pytest.mark.parametrize("make", BLOCKS.values(), ids=BLOCKS)
def test_blocks(make: Callable[[], Any]) -> None:
    assert interrupted_everywhere(enter_and_leave, make) >= 4


@pytest.mark.parametrize(
    "name", ["no_grad", "enable_grad", "inference_mode", "autocast", "autocast elsewhere"]
)
def test_decorated_functions(name: str) -> None:
    assert interrupted_everywhere(decorated, BLOCKS[name]) > 5


def exported(_: Any) -> None:
    fb.export.export(fb.nn.Identity(), (ONE,))


def traced(_: Any) -> None:
    fb.jit.trace(fb.exp, (ONE,), check_trace=False)


@pytest.mark.parametrize("run", [mapped, pushed])
def test_maps_and_derivatives(run: Callable[[Any], None]) -> None:
    assert interrupted_everywhere(run, lambda: None) > 20


@pytest.mark.parametrize("run", [exported, traced])
def test_recordings(run: Callable[[Any], None]) -> None:
    """Whole ones have thousands of places; every one of the recorder itself is tried above."""
    assert interrupted_everywhere(run, lambda: None, step=97) > 200


# Of dual levels there is one, hooks cannot be disabled twice, that switch keeps one level, and a
# recording begins once.
ONCE = {"dual_level", "disable_saved_tensors_hooks", "DisableTorchFunctionSubclass"}
ONCE |= {"Tape", "Recorder"}


@pytest.mark.parametrize("name", sorted(BLOCKS.keys() - ONCE))
def test_a_block_entered_again_before_it_was_left(name: str) -> None:
    before = state()
    block = BLOCKS[name]()
    with block:
        inside = state()
        with block:
            pass
        assert state() == inside
    assert state() == before


@pytest.mark.parametrize("name", ["Tape", "Recorder"])
def test_a_recording_that_runs_cannot_begin_again(name: str) -> None:
    before = state()
    block = BLOCKS[name]()
    with block:
        with pytest.raises(RuntimeError, match="runs already"), block:
            pass
        assert _C._is_recorded()
    assert state() == before


def test_leaving_what_was_not_entered() -> None:
    for block in (fb.inference_mode(), fb.autocast("cpu")):
        before = state()
        with pytest.raises(RuntimeError, match="left without being entered"):
            block.__exit__(None, None, None)
        assert state() == before


def test_a_block_that_cannot_begin() -> None:
    block = fb.autograd.graph.saved_tensors_hooks(pack, pack)
    with (
        fb.autograd.graph.disable_saved_tensors_hooks("not now"),
        pytest.raises(RuntimeError, match="not now"),
        block,
    ):
        pass
    with pytest.raises(RuntimeError, match="left without being entered"):
        block.__exit__(None, None, None)
