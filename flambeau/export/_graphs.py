"""Recorded programs as graphs: every step is a node that calls an operator of torch.ops.aten."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._dynamo.exc import UserError
from flambeau._recording.program import (
    NOTES,
    Constant,
    Program,
    State,
    Step,
    row_named,
    trimmed,
)
from flambeau._recording.record import LOOKS_AT_ELEMENTS, Recorder, Rules
from flambeau._recording.sizes import check_decision
from flambeau._recording.tape import Ref
from flambeau.export._targets import library_name, library_operator, row_of, target_of
from flambeau.fx.graph import Graph
from flambeau.fx.node import Node

__all__: list[str] = []

# What is noted of sizes, as functions.
SIZE_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sizes.size": fb.ops.aten.sym_size.int,
    "sizes.check": check_decision,
    **{
        f"sizes.{name}": getattr(operator, name)
        for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "neg")
    },
}


def recorder_for(
    inputs: list[Tensor], state: list[tuple[str, Tensor]], traces_sizes: bool
) -> Recorder:
    """What records a program that becomes a graph."""
    return Recorder(inputs, state, int(traces_sizes), RULES)


def _refuse_read(method: str) -> None:
    """Refuse a look at elements: a graph cannot follow a course that may depend on them."""
    if method not in LOOKS_AT_ELEMENTS:
        raise NotImplementedError(f"export: Tensor.{method} cannot be recorded in a graph")
    raise UserError(
        f"export: the program looks at the elements of a tensor (Tensor.{method}), so what it does "
        "next may depend on them, and a graph cannot follow; use torch.where or masks, or move "
        "that part out of the exported module"
    )


def _refuse_constant() -> None:
    raise UserError(
        "export: a tensor lies on the memory of another that the program has made, but no operator "
        "has made it, so that a graph would keep its elements as they are now"
    )


RULES = Rules(_refuse_read, _refuse_constant, known_only=True)


class GraphWriter:
    """Writes the steps of a program into a graph that has its inputs already."""

    def __init__(
        self,
        graph: Graph,
        inputs: list[Node],
        state: dict[str, Node],
        constant: Callable[[int], Node],
        tensors: dict[int, Tensor],
    ) -> None:
        self.graph = graph
        self.slots: dict[int, Any] = dict(enumerate(inputs))
        self._state = state
        self._constant = constant
        self._constants: dict[int, Node] = {}
        self._tensors = tensors
        self._names: Iterator[str] = iter(())

    def write(self, program: Program, names: list[list[str]] | None = None) -> None:
        """All steps; `value` tells what is in a slot afterwards. Nodes may have names already."""
        for place, step in enumerate(program.steps):
            self._names = iter(names[place] if names is not None else ())
            if step.op in NOTES:
                self._write_note(step)
            else:
                self._write_call(step)

    def value(self, value: Any) -> Any:
        """The node that stands for something; lists as lists of them."""
        if isinstance(value, Ref):
            return self.slots[value.number]
        if isinstance(value, State):
            return self._state[value.name]
        if isinstance(value, Constant):
            if value.number not in self._constants:
                self._constants[value.number] = self._constant(value.number)
            return self._constants[value.number]
        if isinstance(value, (tuple, list)):
            return [self.value(each) for each in value]
        if isinstance(value, dict):
            return {key: self.value(each) for key, each in value.items()}
        return value

    def _write_note(self, step: Step) -> None:
        args = tuple([self.value(each) for each in step.args])
        function = SIZE_FUNCTIONS.get(step.op)
        if function is None:
            raise ValueError(f"load: the file has the step {step.op!r}, which no graph has")
        node = self.graph.call_function(function, args, name=next(self._names, None))
        for slot in step.results:
            self.slots[slot] = node

    def _write_call(self, step: Step) -> None:
        if step.mode is not None and step.mode.autocast is not None:
            raise UserError(
                "export: a graph has no blocks of autocast; export the module in the type that it "
                "is to compute in"
            )
        given = [self.value(each) for each in step.args]
        kwargs: dict[str, Any] = {}
        if step.op.startswith("torch.ops."):
            target, args = library_operator(step.op), tuple(given)
            if args and isinstance(args[-1], dict):
                args, kwargs = args[:-1], args[-1]
        else:
            target, args, kwargs = target_of(step.op, given)
        name = next(self._names, target.overloadpacket.__name__)
        node = self.graph.call_function(target, args, kwargs, name=name)
        node.meta["results"] = len(step.results)
        if not step.op.startswith("torch.ops."):
            node.meta["row"] = step.op
        self._note_results(step, node)

    def _note_results(self, step: Step, node: Node) -> None:
        is_several = len(step.results) > 1 or is_list(step.op)
        for place, slot in enumerate(step.results):
            if slot < 0:
                continue
            part = node
            if is_several:
                name = next(self._names, None)
                part = self.graph.call_function(operator.getitem, (node, place), name=name)
            self.slots[slot] = part
            if slot in self._tensors:
                part.meta["val"] = without_elements(self._tensors[slot])


def is_list(row: str) -> bool:
    """Whether an operator returns any number of tensors, which may be one."""
    return not row.startswith("torch.ops.") and bool(row_named(row).flags & _C._OP_MANY)


def without_elements(tensor: Tensor) -> Tensor:
    """A tensor that has the shape and type of another, but no memory."""
    return fb.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


# --- the other way


class GraphReader:
    """The steps of a graph, with the names of its nodes."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.names: list[list[str]] = []  # of the nodes of every step
        self.slots: dict[Node, int] = {}
        self.input_count = 0
        self._steps: list[Step] = []
        self._calls: dict[Node, int] = {}  # of several results, the first slot

    def program(self) -> Program:
        """The graph as a program whose inputs are all of its placeholders."""
        result: Any = ()
        for node in self.graph.nodes:
            if node.op == "placeholder":
                self.slots[node] = self.input_count
                self.input_count += 1
        self.next_slot = self.input_count
        for node in self.graph.nodes:
            if node.op == "output":
                result = self._value(node.args[0])
            elif node.op == "call_function":
                self._add(node)
            elif node.op != "placeholder":
                raise NotImplementedError(
                    f"save: a node of the kind {node.op!r} cannot be stored; programs consist of "
                    "calls of operators"
                )
        return Program([], self.input_count, self.next_slot, self._steps, [], result)

    def _add(self, node: Node) -> None:
        if node.target is operator.getitem and node.args[0] in self._calls:
            self._add_part(node)
            return
        name = _SIZE_NAMES.get(node.target) or library_name(node.target)
        if name is None:
            name, args = row_of(node)
        else:
            args = (*node.args, dict(node.kwargs)) if node.kwargs else node.args
        count = 0 if name == "sizes.check" else _result_count(node)
        first = self.next_slot
        self.next_slot += count
        results = tuple(range(first, self.next_slot))
        if count > 1 or (name not in NOTES and is_list(name)):
            self._calls[node] = first
            used = {each.args[1] for each in node.users if each.target is operator.getitem}
            results = tuple(slot if slot - first in used else -1 for slot in results)
        elif count:
            self.slots[node] = first
        values = tuple([self._value(each) for each in args])
        if name not in NOTES and not name.startswith("torch.ops."):
            values = trimmed(name, values)
        self._steps.append(Step(name, values, results))
        self.names.append([node.name])

    def _add_part(self, node: Node) -> None:
        call: Any = node.args[0]
        place: Any = node.args[1]
        self.slots[node] = self._calls[call] + place
        step = next(i for i, names in enumerate(self.names) if names[0] == call.name)
        self.names[step].append(node.name)

    def _value(self, value: Any) -> Any:
        if isinstance(value, Node):
            if value in self._calls:
                raise NotImplementedError(
                    f"save: {value.name}, which is several tensors, is used as one"
                )
            return Ref(self.slots[value])
        if isinstance(value, (tuple, list)):
            items = [self._value(each) for each in value]
            return tuple(items) if isinstance(value, tuple) else items
        if isinstance(value, dict):
            return {key: self._value(each) for key, each in value.items()}
        return value


def _result_count(node: Node) -> int:
    parts = [each.args[1] for each in node.users if each.target is operator.getitem]
    known = node.meta.get("results")
    if isinstance(known, int):
        return known
    return max(parts) + 1 if parts else 1


_SIZE_NAMES: dict[Any, str] = {function: name for name, function in SIZE_FUNCTIONS.items()}
