"""Programs: the operators that a function called, one after the other, without its Python code.

A program is plain data: names of operators, numbers, and references to inputs, to parameters by
their names, to constants and to results of earlier steps. It can be written into a file and run in
a process that does not have the function. Operators are looked up by name among those that files
may call (`_stored_calls.py`), so that a file cannot call anything else.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import Tensor, overrides
from flambeau._stored_calls import may_call, operators
from flambeau._traced_int import check_decision

__all__: list[str] = []

# Arithmetic on sizes, which are plain numbers.
NUMBERS: dict[str, Callable[..., Any]] = {
    f"operator.{name}": getattr(operator, name)
    for name in ("add", "sub", "mul", "floordiv", "mod", "neg", "truediv", "pow", "getitem")
}
NUMBERS["sizes.check"] = check_decision
NUMBER_NAMES = {function: name for name, function in NUMBERS.items()}
# What arguments may be beside containers: these are written as they are.
LITERALS: tuple[type, ...] = (
    *(type(None), bool, int, float, complex, str),
    *(fb.dtype, fb.device, fb.layout, fb.memory_format, fb.Size),
)


class Reference(NamedTuple):
    """A value of a running program: by the number of its slot, and the way into it."""

    slot: int
    path: tuple[Any, ...] = ()

    def __repr__(self) -> str:
        return f"%{self.slot}" + "".join(f"[{key!r}]" for key in self.path)


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
    """What a step was called in, where that differs from the rest of the program."""

    no_grad: bool
    autocast: fb.dtype | None

    def __repr__(self) -> str:
        words = ["no_grad"] if self.no_grad else []
        return ", ".join([*words, *([f"autocast({self.autocast})"] if self.autocast else [])])


class Step(NamedTuple):
    """One call; its result goes into the next slot."""

    function: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    mode: Mode | None = None

    def __repr__(self) -> str:
        arguments = [repr(each) for each in self.args]
        arguments += [f"{name}={value!r}" for name, value in self.kwargs.items()]
        end = "" if self.mode is None else f"  # {self.mode!r}"
        return f"{self.function}({', '.join(arguments)}){end}"


@functools.cache
def functions() -> dict[str, Callable[..., Any]]:
    """Everything that a step may call, by its name."""
    table: dict[str, Callable[..., Any]] = dict(NUMBERS)
    for group in overrides.get_overridable_functions().values():
        for function in filter(may_call, group):
            table[str(overrides.resolve_name(function))] = function
    table["torch.Tensor.data.__set__"] = Tensor.data.__set__  # type: ignore[attr-defined]
    for function in operators():
        if overrides.resolve_name(function) is None:  # what functions of the package are made of
            table[f"torch._C.{function.__name__}"] = function
    return table


@functools.cache
def _names() -> dict[Any, str]:
    return {function: name for name, function in functions().items()}


def name_of(function: Callable[..., Any]) -> str | None:
    """The name of something that a step may call; None of anything else."""
    return _names().get(function)


class Program(NamedTuple):
    """Steps with their inputs, constants and result."""

    arguments: list[str]  # the names of the function's arguments
    input_count: int  # the tensors in them
    steps: list[Step]
    constants: list[Tensor]
    result: Any

    def __str__(self) -> str:
        inputs = ", ".join(f"%{slot}" for slot in range(self.input_count))
        lines = [
            f"  %{slot} = {step!r}" for slot, step in enumerate(self.steps, start=self.input_count)
        ]
        return "\n".join([f"def forward({inputs}):", *lines, f"  return {self.result!r}\n"])


def mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """Containers with ``function`` applied to what is in them; anything else as it is."""
    if type(value) is tuple:
        return tuple([function(each) for each in value])
    if type(value) is list:
        return [function(each) for each in value]
    if type(value) is dict:
        return {key: function(each) for key, each in value.items()}
    if type(value) is slice:
        return slice(function(value.start), function(value.stop), function(value.step))
    return value


def function_named(name: str) -> Callable[..., Any]:
    """What a step calls."""
    try:
        return functions()[name]
    except KeyError:
        raise RuntimeError(f"jit: there is no operator called {name!r}") from None
