"""Running a program: all of its values in one list, and every step with the places it reads."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import flambeau as fb
from flambeau.jit._program import Constant, Mode, Program, Reference, State, function_named

__all__: list[str] = []

# Reads what it needs from the list of values.
Getter = Callable[[list[Any]], Any]
# A place, and the dictionary and key that its parameter is found by.
Bound = tuple[int, dict[str, Any], str]


class _Ready(NamedTuple):
    call: Callable[..., Any]
    args: Getter
    kwargs: Getter | None
    place: int
    dead: tuple[int, ...]  # values that nothing reads after this


class Replay:
    """A program made ready to run.

    The first places are those of the inputs and of the results of steps, as the program numbers
    them; constants, numbers and parameters follow.
    """

    def __init__(self, program: Program) -> None:
        self.input_count = program.input_count
        self.state: dict[str, int] = {}  # the places of parameters, by name
        self._values: list[Any] = [None] * (program.input_count + len(program.steps))
        self._constants = program.constants
        last_use = _last_uses(program)
        self._steps = []
        for place, step in enumerate(program.steps, start=program.input_count):
            call = function_named(step.function)
            self._steps.append(
                _Ready(
                    call if step.mode is None else _in_mode(call, step.mode),
                    self._all(step.args),
                    self._getter(step.kwargs) if step.kwargs else None,
                    place,
                    tuple(slot for slot, last in last_use.items() if last == place),
                )
            )
        self._result = self._getter(program.result)

    def run(self, inputs: list[Any], bound: Iterable[Bound]) -> Any:
        """The result for these inputs."""
        values = self._values.copy()
        values[: self.input_count] = inputs
        for place, owner, key in bound:
            values[place] = owner[key]
        for call, args, kwargs, place, dead in self._steps:
            if kwargs is None:
                values[place] = call(*args(values))
            else:
                values[place] = call(*args(values), **kwargs(values))
            for slot in dead:
                values[slot] = None
        return self._result(values)

    def _place(self, value: Any) -> int | None:
        """The place of a value that has one; None for what is put together of others."""
        if type(value) is Reference:
            return None if value.path else value.slot
        if type(value) is State:
            if value.name not in self.state:
                self.state[value.name] = self._new_place(None)
            return self.state[value.name]
        if type(value) is Constant:
            return self._new_place(self._constants[value.number])
        if type(value) in (tuple, list, dict, slice):
            return None
        return self._new_place(value)

    def _new_place(self, value: Any) -> int:
        self._values.append(value)
        return len(self._values) - 1

    def _getter(self, value: Any) -> Getter:
        place = self._place(value)
        if place is not None:
            return operator.itemgetter(place)
        if type(value) is Reference:
            return _inside(value)
        if type(value) is dict:
            parts = {key: self._getter(each) for key, each in value.items()}
            return lambda values: {key: get(values) for key, get in parts.items()}
        if type(value) is slice:
            ends = self._all((value.start, value.stop, value.step))
            return lambda values: slice(*ends(values))
        items = self._all(value)
        return items if type(value) is tuple else lambda values: list(items(values))

    def _all(self, parts: Iterable[Any]) -> Getter:
        """A tuple of values, in one step where each of them has a place."""
        parts = list(parts)
        places = [self._place(part) for part in parts]
        known = [place for place in places if place is not None]
        if len(parts) > 1 and len(known) == len(parts):
            return operator.itemgetter(*known)
        getters = [
            self._getter(part) if place is None else operator.itemgetter(place)
            for part, place in zip(parts, places, strict=True)
        ]
        return lambda values: tuple([get(values) for get in getters])


def _inside(reference: Reference) -> Getter:
    def get(values: list[Any]) -> Any:
        found = values[reference.slot]
        for key in reference.path:
            found = found[key]
        return found

    return get


def _in_mode(call: Callable[..., Any], mode: Mode) -> Callable[..., Any]:
    """A call as it was recorded: without gradients, or with another element type."""

    def called(*args: Any, **kwargs: Any) -> Any:
        is_cast = mode.autocast is not None
        records = fb.is_grad_enabled() and not mode.no_grad
        with fb.set_grad_enabled(records), fb.autocast("cpu", mode.autocast, is_cast):
            return call(*args, **kwargs)

    return called


def _last_uses(program: Program) -> dict[int, int]:
    """For every value the place of the last step that reads it; not for those of the result."""
    last: dict[int, int] = {}
    for place, step in enumerate(program.steps, start=program.input_count):
        for slot in _slots((step.args, step.kwargs)):
            last[slot] = place
    for slot in _slots(program.result):
        last.pop(slot, None)
    return last


def _slots(value: Any) -> Iterable[int]:
    if type(value) is Reference:
        yield value.slot
    elif type(value) in (tuple, list):
        for each in value:
            yield from _slots(each)
    elif type(value) is dict:
        yield from _slots(list(value.values()))
    elif type(value) is slice:
        yield from _slots((value.start, value.stop, value.step))
