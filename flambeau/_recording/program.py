"""Programs: the operations of a function on tensors, step by step, without its Python code.

A program is plain data: names of operators, numbers, and references to inputs, to parameters by
their names, to constants and to results of earlier steps. It can be written into a file and run in
a process that does not have the function. A step names a row of the operator table, which checks
its arguments, or says what is computed of sizes: nothing else can be called.
"""

from __future__ import annotations

import ast
import functools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._recording.sizes import are_checked
from flambeau._recording.tape import Ref, SizeRef

__all__: list[str] = []

# Steps that are not operators: properties of tensors, arithmetic and decisions on sizes.
ARITHMETIC = ("add", "sub", "mul", "floordiv", "mod", "pow", "neg")
NOTES = frozenset((*(f"sizes.{name}" for name in ("size", "rank", "check", *ARITHMETIC)),))
# Argument types beside lists: these are written as they are.
LITERALS: tuple[type, ...] = (
    *(type(None), bool, int, float, complex, str),
    *(fb.dtype, fb.device, fb.layout, fb.memory_format),
)


class State(NamedTuple):
    """A parameter or buffer, by its name."""

    name: str

    def __repr__(self) -> str:
        return f"self.{self.name}"


class Constant(NamedTuple):
    """A tensor that belongs to the program."""

    number: int

    def __repr__(self) -> str:
        return f"constants[{self.number}]"


class Mode(NamedTuple):
    """The modes of a step, where they differ from the rest of the program."""

    no_grad: bool
    autocast: fb.dtype | None

    def __repr__(self) -> str:
        words = ["no_grad"] if self.no_grad else []
        return ", ".join([*words, *([f"autocast({self.autocast})"] if self.autocast else [])])


class Row(NamedTuple):
    """An operator of the table."""

    number: int
    name: str
    overload: str
    parameters: tuple[tuple[str, str, str | None, bool], ...]  # name, type, default, keyword only
    flags: int

    @property
    def writes(self) -> bool:
        return bool(self.flags & (_C._OP_WRITES | _C._OP_STORES))


# Operators of the table that hand out memory.
_BEYOND_TENSORS = frozenset(("data_ptr",))


@functools.cache
def row_named(name: str) -> Row:
    """The row of an operator that programs may call; RuntimeError if there is none."""
    found = _C._find_op(name)
    if found is None or found[4] & _C._OP_INNER or name in _BEYOND_TENSORS:
        raise RuntimeError(f"there is no operator called {name!r} that programs may call")
    return Row(*found)


@functools.cache
def default_of(row: str, place: int) -> Any:
    """The default of a parameter, as a program writes it; a sentinel if it has none."""
    text = row_named(row).parameters[place][2]
    if text is None:
        return _NO_DEFAULT
    if text in ("inf", "-inf"):
        return float(text)
    try:
        return ast.literal_eval(text)
    except ValueError:  # 1/3
        return _NO_DEFAULT


_NO_DEFAULT = object()


class Step(NamedTuple):
    """One call; its results go into slots.

    Arguments stand in the order of the table's row, and those at the end that have their default
    are left out. None among them means the default, too.
    """

    op: str  # "sum.dim", or one of NOTES
    args: tuple[Any, ...]
    results: tuple[int, ...]
    mode: Mode | None = None

    def __repr__(self) -> str:
        names = [] if self.op in NOTES else row_named(self.op).parameters
        texts = [
            f"{names[place][0]}={value!r}" if names and names[place][3] else repr(value)
            for place, value in enumerate(self.args)
            if not (names and names[place][3] and value == default_of(self.op, place))
        ]
        end = "" if self.mode is None else f"  # {self.mode!r}"
        return f"{self.op}({', '.join(texts)}){end}"

    @property
    def is_size(self) -> bool:
        """Whether it only computes a size."""
        return self.op in NOTES and self.op != "sizes.check"


class Program(NamedTuple):
    """Steps with their inputs, constants and result."""

    arguments: list[str]  # the names of the function's arguments
    input_count: int  # the tensors in them
    slot_count: int
    steps: list[Step]
    constants: list[Tensor]
    result: Any

    def __str__(self) -> str:
        inputs = ", ".join(f"%{slot}" for slot in range(self.input_count))
        return "\n".join(
            [
                f"def forward({inputs}):",
                *(f"  {_left_side(step)}{step!r}" for step in self.steps),
                f"  return {self.result!r}\n",
            ]
        )


def _left_side(step: Step) -> str:
    makes = step.results and not (step.op not in NOTES and row_named(step.op).writes)
    return ", ".join(f"%{slot}" for slot in step.results) + " = " if makes else ""


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Apply ``function`` to the contents of containers, at any depth."""
    if isinstance(value, tuple) and not isinstance(value, (Ref, SizeRef, State, Constant)):
        return tuple([mapped(function, each) for each in value])
    if type(value) is list:
        return [mapped(function, each) for each in value]
    if isinstance(value, dict):
        return {key: mapped(function, each) for key, each in value.items()}
    return function(value)


def leaves(value: Any) -> list[Any]:
    """The contents of containers, in order."""
    found: list[Any] = []
    mapped(found.append, value)
    return found


# A slot, and the dictionary and key that its parameter is found by.
Bound = tuple[int, dict[str, Any], str]


class Replay:
    """A program ready to run. After the program's slots come those of constants and state."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.state: dict[str, int] = {}  # the slots of parameters, by name
        self._result = program.result
        self._next = program.slot_count + len(program.constants)
        self._constants = list(enumerate(program.constants, start=program.slot_count))
        self._first_constant = program.slot_count
        last_use = _last_uses(program)
        dead: dict[int, list[int]] = {}
        for slot, place in last_use.items():
            dead.setdefault(place, []).append(slot)
        steps = [
            _native_step(step, mapped(self._slot, step.args), dead.get(place, []))
            for place, step in enumerate(program.steps)
        ]
        outputs = [
            self._slot(leaf).number
            for leaf in leaves(program.result)
            if isinstance(leaf, (Ref, State, Constant))
        ]
        self._native = _C._replay(self._next, steps, outputs)

    def __reduce__(self) -> Any:
        return Replay, (self.program,)

    def run(self, inputs: list[Any], bound: Iterable[Bound]) -> Any:
        """The result for these inputs."""
        given = [*enumerate(inputs), *self._constants]
        given += [(slot, owner[key]) for slot, owner, key in bound]
        values = iter(self._native.run(given, are_checked()))

        def value(leaf: Any) -> Any:
            return next(values) if isinstance(leaf, (Ref, State, Constant)) else leaf

        return mapped(value, self._result)

    def _slot(self, value: Any) -> Any:
        if type(value) is State:
            if value.name not in self.state:
                self.state[value.name] = self._next
                self._next += 1
            return Ref(self.state[value.name])
        if type(value) is Constant:
            if not 0 <= value.number < len(self._constants):
                raise RuntimeError(f"a program has no constant {value.number}")
            return Ref(self._first_constant + value.number)
        return value


def _native_step(step: Step, args: tuple[Any, ...], dead: list[int]) -> tuple[Any, ...]:
    is_note = step.op in NOTES
    note = step.op.removeprefix("sizes.") if is_note else ""
    return "" if is_note else step.op, note, args, step.results, step.mode, dead


def slots_in(value: Any) -> Iterator[int]:
    """The numbers of the slots that a value reads."""
    return (leaf.number for leaf in leaves(value) if type(leaf) is Ref)


def _last_uses(program: Program) -> dict[int, int]:
    """For every slot the last step that reads or writes it; not for those of the result."""
    last: dict[int, int] = {}
    for place, step in enumerate(program.steps):
        for slot in (*slots_in(step.args), *(slot for slot in step.results if slot >= 0)):
            last[slot] = place
    for slot in slots_in(program.result):
        last.pop(slot, None)
    return last


class Body(NamedTuple):
    """Steps and what comes of them, with slots that are all used."""

    steps: list[Step]
    result: Any
    slots: dict[int, int]  # by their numbers before

    @property
    def slot_count(self) -> int:
        return len(self.slots)


# Operators after which a tensor may have other sizes than before.
_RESIZING = frozenset(
    ("resize_", "resize_as_", "set_", "t_", "transpose_", "squeeze_", "unsqueeze_")
)


def tidied(input_count: int, steps: list[Step], result: Any) -> Body:
    """Ask for sizes once, drop unused ones, and renumber the slots."""
    steps, result = _without_repeats(steps, result)
    used = set(slots_in(result))
    kept = []
    for step in reversed(steps):
        if step.is_size and not used & set(step.results):
            continue
        used.update(slots_in(step.args))
        kept.append(step)
    slots = {slot: slot for slot in range(input_count)}
    for step in reversed(kept):
        for slot in step.results:
            if slot >= 0:
                slots.setdefault(slot, len(slots))
    made = [
        _with_slots(step, slots)._replace(
            results=tuple([slots.get(slot, -1) for slot in step.results])
        )
        for step in reversed(kept)
    ]
    return Body(made, _renumbered(result, slots), slots)


def _without_repeats(steps: list[Step], result: Any) -> tuple[list[Step], Any]:
    if any(step.op.partition(".")[0] in _RESIZING for step in steps):
        return steps, result
    same: dict[int, int] = {}  # slots of what was known already
    seen: dict[str, Step] = {}
    kept = []
    for step in steps:
        if step.op not in NOTES:
            kept.append(_with_slots(step, same))
            continue
        step = _with_slots(step, same)
        first = seen.setdefault(repr((step.op, step.args)), step)
        if first is step:
            kept.append(step)
        else:
            same.update(zip(step.results, first.results, strict=True))
    return kept, _renumbered(result, same)


def _with_slots(step: Step, slots: dict[int, int]) -> Step:
    return step._replace(args=_renumbered(step.args, slots))


def _renumbered(value: Any, slots: dict[int, int]) -> Any:
    def number(leaf: Any) -> Any:
        return Ref(slots.get(leaf.number, leaf.number)) if type(leaf) is Ref else leaf

    return mapped(number, value)


def trimmed(row: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with defaults filled in, without trailing defaults."""
    filled = [_filled(value, default_of(row, place)) for place, value in enumerate(args)]
    while filled and is_default(filled[-1], default_of(row, len(filled) - 1)):
        filled.pop()
    return tuple(filled)


def _filled(value: Any, default: Any) -> Any:
    if value is not None or default is _NO_DEFAULT:
        return value
    return tuple(default) if isinstance(default, list) else default


def is_default(value: Any, default: Any) -> bool:
    """Whether an argument equals its default."""
    if default is _NO_DEFAULT:
        return False
    if type(value) is float and type(default) in (int, float):
        return value == default or (math.isnan(value) and math.isnan(default))
    if type(value) in (tuple, list) and type(default) in (tuple, list):
        return tuple(value) == tuple(default)
    return type(value) is type(default) and bool(value == default)
