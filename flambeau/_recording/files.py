"""Program files: tensors and plain data, so that loading runs no code from them.

``torch.jit.save`` and ``torch.export.save`` write checkpoints in the archive format of
``torch.save``, with programs as lists of steps. A file is untrusted: what a step calls is looked up
among the rows of the operator table and the notes on sizes, which check their arguments, and never
by ``getattr``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._recording.program import (
    LITERALS,
    NOTES,
    Constant,
    Mode,
    Program,
    Replay,
    State,
    Step,
    row_named,
)
from flambeau._recording.tape import Ref
from flambeau.serialization._trees import check_tree

__all__: list[str] = []

FORMAT = "flambeau.program"
VERSION = 2
_OLD_FORMATS = ("flambeau.jit", "flambeau exported program")  # of version 1
_TAGS: dict[type, str] = {Ref: "slot", State: "state", Constant: "constant"}
_KINDS: dict[str, Any] = {tag: kind for kind, tag in _TAGS.items()}
# Values that checkpoints have no word for.
_NAMED_TYPES: dict[str, Any] = {"memory_format": fb.memory_format, "layout": fb.layout}
_MOST_INPUTS = 1 << 16


def header(kind: str) -> dict[str, Any]:
    """The header of a file's content: ``kind`` says which function reads it."""
    return {"format": FORMAT, "version": VERSION, "kind": kind}


def check_header(content: Any, kind: str, reader: str, other: str) -> None:
    """Refuse files that ``reader`` does not read; ``other`` says what else a checkpoint may be."""
    form = content.get("format") if isinstance(content, dict) else None
    if form in _OLD_FORMATS:
        raise RuntimeError(
            f"{reader}: the file was written by an older version of Flambeau, whose programs named "
            "functions of Python and not operators; record the program and save it again"
        )
    if form != FORMAT or content.get("kind") != kind:
        raise RuntimeError(f"{reader}: {other}")
    check_tree(content)
    version = content.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise RuntimeError(
            f"{reader}: the file is of version {version}, written by a newer version of Flambeau, "
            f"and this one reads {VERSION}"
        )


def program_data(program: Program) -> dict[str, Any]:
    """A program as plain data."""
    return {
        "arguments": program.arguments,
        "input_count": program.input_count,
        "steps": [_step_data(step) for step in program.steps],
        "constants": program.constants,
        "result": encoded(program.result),
    }


def _step_data(step: Step) -> tuple[Any, ...]:
    mode = None if step.mode is None else tuple(step.mode)
    return step.op, encoded(step.args), step.results, mode


def program_of(
    data: dict[str, Any], library_operator: Callable[[str], Any] | None = None
) -> Program:
    """The program in a file, every step of which can be called.

    ``library_operator`` finds operators of torch.library, or refuses to.
    """
    input_count = data["input_count"]
    if not isinstance(input_count, int) or not 0 <= input_count <= _MOST_INPUTS:
        raise RuntimeError(f"a program has {input_count!r} inputs")
    steps = [_step(each, library_operator) for each in data["steps"]]
    slots = [slot for step in steps for slot in step.results]
    if not all(isinstance(each, Tensor) for each in data["constants"]):
        raise RuntimeError("a constant of a program is no tensor")
    program = Program(
        list(data["arguments"]),
        input_count,
        # Every step has slots of its own, or writes to an existing one.
        input_count + len(slots),
        steps,
        list(data["constants"]),
        decoded(data["result"]),
    )
    own = [step for step in steps if not step.op.startswith("torch.ops.")]
    Replay(program._replace(steps=own))  # which checks what steps are given
    return program


def _step(data: Any, library_operator: Callable[[str], Any] | None) -> Step:
    op, args, results, mode = data
    if library_operator is not None and op not in NOTES and _C._find_op(op) is None:
        library_operator(op)
    elif op not in NOTES:
        row_named(op)  # or there is no such operator
    return Step(op, decoded(args), tuple(int(slot) for slot in results), _mode(mode))


def _mode(data: Any) -> Mode | None:
    if data is None:
        return None
    if not isinstance(data, (tuple, list)) or len(data) != 2:
        raise RuntimeError(f"load: the mode of a step is {data!r}, which is no pair")
    return Mode(*data)  # the types of its parts are checked with those of arguments


def encoded(value: Any) -> Any:
    """Encode values as pairs of a tag and plain data, which any unpickler understands."""
    kind = type(value)
    if kind in _TAGS:
        return (_TAGS[kind], value[0])
    if kind in (tuple, list):
        return (kind.__name__, [encoded(each) for each in value])
    if kind is dict:
        return ("dict", {key: encoded(each) for key, each in value.items()})
    for word, named in _NAMED_TYPES.items():
        if isinstance(value, named):
            return (word, str(value).removeprefix("torch."))
    if isinstance(value, LITERALS):
        return ("value", value)
    raise RuntimeError(f"save: a value of type {kind.__name__} cannot be written")


def decoded(pair: Any) -> Any:
    """Decode such a pair."""
    word, value = pair
    if word in ("slot", "constant") and type(value) is int:
        return _KINDS[word](value)
    if word == "state" and type(value) is str:
        return State(value)
    if word in ("tuple", "list"):
        items = [decoded(each) for each in value]
        return tuple(items) if word == "tuple" else items
    if word == "dict":
        return {key: decoded(each) for key, each in value.items()}
    if word in _NAMED_TYPES and isinstance(found := vars(fb).get(value), _NAMED_TYPES[word]):
        return found
    if word == "value" and isinstance(value, LITERALS):
        return value
    raise RuntimeError(f"load: the file holds {word!r}, which no program has")
