"""From a tape to a program: run a function once, and keep what it did."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._recording.program import (
    Constant,
    Mode,
    Program,
    State,
    Step,
    mapped,
    tidied,
    trimmed,
)
from flambeau._recording.sizes import TracedInt, plain
from flambeau._recording.tape import MADE_OF_DATA, Call, Ref, SizeRef, Tape, Value

__all__: list[str] = []

# Methods that give Python values which later steps may depend on.
LOOKS_AT_ELEMENTS = {
    "__bool__": "a Python boolean",
    "__float__": "a Python float",
    "__index__": "a Python index",
    "__int__": "a Python integer",
    "item": "a Python number",
    "numpy": "a NumPy array",
    "tolist": "a Python list",
}

# Operators that return such a boolean.
_COMPARES_ELEMENTS = frozenset(("equal", "allclose", "is_nonzero"))


def current() -> Recorder | None:
    """The current recording of this thread, outside of blocks that are not recorded."""
    return _C._recorder() if _C._is_recorded() else None


class Rules(NamedTuple):
    """How a recorder treats things that are not operators."""

    on_read: Callable[[str], None]  # Python reads elements, by this method
    # A constant shares memory with inputs or results: something that is not an operator made it.
    on_constant: Callable[[], None]
    known_only: bool = False  # whether elements of tensors from elsewhere may be read
    notes_lengths: bool = True  # the program is for tensors of the same length
    # A constant requires a gradient, which the program would not give it.
    on_trainable: Callable[[], None] | None = None
    # Python has a size as a number, in this line; without it the program is for that size alone.
    on_size: Callable[[int, str], None] | None = None


class Recorder(_C._SelfScope):
    """Records what its block does with tensors.

    Inputs are numbered, parameters and buffers named; all other tensors that the block did not make
    are constants of the program.
    """

    def __init__(
        self,
        inputs: list[Tensor],
        state: list[tuple[str, Tensor]],
        tracing: int,
        rules: Rules,
    ) -> None:
        self.tape = Tape(tracing=tracing)
        self.constants: list[Tensor] = []
        self.tensors: dict[int, Tensor] = {}  # by slots of the program that was made
        self._inputs = [self.tape.add_input(tensor) for tensor in inputs]
        self._state = {self.tape.number(tensor): name for name, tensor in state}
        self.rules = rules
        self._records_gradients = fb.is_grad_enabled()
        self._left: set[str] = set()  # lines in which sizes became numbers

    _begin = staticmethod(_C._start_recording)
    _end = staticmethod(_C._stop_tape)

    @property
    def _value(self) -> tuple[Any, ...]:
        """What is started: the tape, and what it tells of reads and of sizes that leave."""
        on_size = None if self.rules.on_size is None else self._size_left
        return (self.tape._native, self, self._read, on_size)

    def _read(self, method: str, tensor: Tensor) -> None:
        if method == "__len__" and self.rules.notes_lengths:
            int(tensor.shape[0])  # which is noted
        elif self.tape.knows(tensor) or not self.rules.known_only:
            self.rules.on_read(method)

    def _size_left(self, value: int, location: str) -> None:
        if self.rules.on_size is not None and location not in self._left:
            self._left.add(location)  # said once for a line
            self.rules.on_size(value, location)

    def program(self, arguments: list[str], result: Any) -> Program:
        """What was recorded, with the result of the block."""
        return _Builder(self, result).program(arguments)

    def _mode(self, call: Call) -> Mode | None:
        """The modes of the thread that the program itself has switched."""
        no_grad = self._records_gradients and call.no_grad
        return Mode(no_grad, call.autocast) if no_grad or call.autocast is not None else None


class _Builder:
    """A program in the making: tape numbers become slots."""

    def __init__(self, recorder: Recorder, result: Any) -> None:
        self.recorder = recorder
        # Tensors of the result that the tape has not met are constants; so it meets them first.
        self.result = mapped(self._number, result)
        self.calls = recorder.tape.calls()
        self.values = recorder.tape.values()
        self.slots: dict[int, Any] = {n: Ref(i) for i, n in enumerate(recorder._inputs)}
        self.sizes: dict[int, Ref] = {}
        self.next_slot = len(recorder._inputs)
        self.steps: list[Step] = []
        self.written = {
            self.values[n].shares for call in self.calls if call.writes for n in call.outputs()
        }

    def program(self, arguments: list[str]) -> Program:
        for call in self.calls:
            self._add(call)
        input_count = len(self.recorder._inputs)
        body = tidied(input_count, self.steps, mapped(self._argument, self.result))
        for number, known in self.slots.items():
            if isinstance(known, Ref) and known.number in body.slots:
                self.recorder.tensors[body.slots[known.number]] = self.values[number].tensor
        return Program(
            arguments,
            input_count,
            body.slot_count,
            body.steps,
            self.recorder.constants,
            body.result,
        )

    def _number(self, value: Any) -> Any:
        if isinstance(value, Tensor):
            return Ref(self.recorder.tape.number(value))
        if isinstance(value, TracedInt):
            is_own = value.tape is self.recorder.tape._native
            return SizeRef(value.number) if is_own else plain(value)
        return value

    def _add(self, call: Call) -> None:
        if call.note:
            if call.note != "read":
                self._add_note(call)
            return
        if not call.outputs() and not call.writes:
            if call.op in _COMPARES_ELEMENTS:
                self.recorder.rules.on_read("__bool__")
            return  # a question, which was answered
        if call.flags & _C._OP_INNER:
            raise RuntimeError(
                f"trace: {call.op} cannot be recorded: it is a part of other operators, as a "
                f"gradient is made of, and was called alone ({call.location})"
            )
        args = trimmed(call.op, tuple([self._argument(each) for each in call.args]))
        results = tuple([self._result(each) for each in _flat(call.results)])
        self.steps.append(Step(call.op, args, results, self.recorder._mode(call)))

    def _add_note(self, call: Call) -> None:
        args = tuple([self._argument(each) for each in call.args])
        results = []
        for size in call.results:
            self.sizes[size.number] = Ref(self._new_slot())
            results.append(self.sizes[size.number].number)
        self.steps.append(Step(f"sizes.{call.note}", args, tuple(results)))

    def _new_slot(self) -> int:
        self.next_slot += 1
        return self.next_slot - 1

    def _result(self, value: Any) -> int:
        if not isinstance(value, Ref):
            return -1
        if value.number not in self.slots and self.values[value.number].maker >= 0:
            self.slots[value.number] = Ref(self._new_slot())
        known = self._tensor(value.number)
        return known.number if isinstance(known, Ref) else -1

    def _argument(self, value: Any) -> Any:
        if isinstance(value, Ref):
            return self._tensor(value.number)
        if isinstance(value, SizeRef):
            return self.sizes[value.number]
        if isinstance(value, (tuple, list)):  # a Size is one
            items = [self._argument(each) for each in value]
            return items if isinstance(value, list) else tuple(items)
        if isinstance(value, fb.Generator):
            return None  # the default one, in another process
        return value

    def _tensor(self, number: int) -> Any:
        if number in self.slots:
            return self.slots[number]
        value = self.values[number]
        known: Any
        if number in self.recorder._state:
            known = State(self.recorder._state[number])
        else:
            known = self._constant(value)
        self.slots[number] = known
        return known

    def _constant(self, value: Value) -> Any:
        if value.shares in self.slots and isinstance(self.slots[value.shares], Ref):
            self.recorder.rules.on_constant()
        if value.tensor.requires_grad and self.recorder.rules.on_trainable is not None:
            self.recorder.rules.on_trainable()
        self.recorder.constants.append(value.original.detach())
        constant = Constant(len(self.recorder.constants) - 1)
        if value.maker != MADE_OF_DATA or value.shares not in self.written:
            return constant
        # The program changes it, and begins with the same one in every call.
        self.steps.append(Step("clone", (constant,), (self._new_slot(),)))
        return Ref(self.next_slot - 1)


def _flat(results: tuple[Any, ...]) -> list[Any]:
    found: list[Any] = []
    for each in results:
        if isinstance(each, list):
            found += each
        else:
            found.append(each)
    return found
