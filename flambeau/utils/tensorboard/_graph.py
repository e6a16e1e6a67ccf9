"""The graph of a network as TensorBoard draws it, recorded from one call.

Operators are the calls on a tape; hooks tell which module each of them belongs to.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
from collections import Counter
from collections.abc import Iterator
from typing import Any

from flambeau import Tensor
from flambeau._recording.tape import Call, Tape
from flambeau.nn import Module
from flambeau.utils._pytree import tree_flatten, tree_map
from flambeau.utils.tensorboard._messages import (
    AttrValue,
    GraphDef,
    NodeDef,
    RunMetadata,
    StepStats,
    TensorShapeProto,
    VersionDef,
)

__all__ = ["graph"]

_PRODUCER = 22  # the version of the graph format


def graph(
    model: Module, args: Any, verbose: bool = False, use_strict_trace: bool = True
) -> tuple[GraphDef, RunMetadata]:
    """Call the network and return its graph, and the device that it ran on.

    `use_strict_trace` changes nothing here: dictionaries and lists may be returned in any case.
    """
    if args is None:
        raise ValueError("add_graph needs input_to_model, which the network is called with")
    arguments = args if isinstance(args, (tuple, list)) else (args,)
    # Copies, as the network may change them in place.
    given = tree_map(
        lambda leaf: leaf.detach().clone() if isinstance(leaf, Tensor) else leaf, tuple(arguments)
    )
    recording = _Recording(model)
    with recording.hooks(), recording.tape:
        outputs = model(*given)
    recording.draw(given, outputs)
    drawn = GraphDef(node=recording.drawn, versions=VersionDef(producer=_PRODUCER))
    if verbose:
        print(drawn)
    device = StepStats.DeviceStepStats(device="/device:CPU:0")
    return drawn, RunMetadata(step_stats=StepStats(dev_stats=[device]))


class _Recording:
    """One call of a network: its operators with their scopes."""

    def __init__(self, model: Module) -> None:
        self.tape = Tape(in_parts=True)
        self.drawn: list[NodeDef] = []
        self._model = model
        self._scopes = _scopes_of(model)
        self._open = [""]  # scopes of the modules that are being called, innermost last
        self._turns: list[tuple[int, str]] = []  # the call at which a scope becomes the innermost
        self._names: dict[int, str] = {}  # of what gave a tensor its elements, by its number
        self._counts: Counter[str] = Counter()

    @contextlib.contextmanager
    def hooks(self) -> Iterator[None]:
        """Watch the modules while they are called."""
        handles: list[Any] = []
        for module in self._scopes:
            handles.append(module.register_forward_pre_hook(self._enter))
            handles.append(module.register_forward_hook(self._leave))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, module: Module, args: Any) -> None:
        self._open.append(self._scopes[module])
        self._turns.append((len(self.tape), self._open[-1]))

    def _leave(self, module: Module, args: Any, output: Any) -> None:
        self._open.pop()
        self._turns.append((len(self.tape), self._open[-1]))

    def draw(self, inputs: Any, outputs: Any) -> None:
        """Draw inputs, parameters, operators and outputs."""
        self._draw_inputs(inputs)
        self._draw_parameters()
        results = _tensors(outputs)
        ends = [self.tape.number(result) for result in results]
        values = self.tape.values()
        shapes = [tuple(value.tensor.shape) for value in values]
        sharing: dict[int, list[int]] = {}
        for number, value in enumerate(values):
            sharing.setdefault(value.shares, []).append(number)
        turns = iter([*self._turns, (len(self.tape), "")])
        (start, following), scope = next(turns), ""
        for index, call in enumerate(self.tape.calls()):
            while start <= index:
                scope = following
                start, following = next(turns)
            self._draw_call(call, scope, shapes)
            if call.writes:
                # Tensors on the same memory have changed too.
                for number in call.outputs():
                    for other in sharing[values[number].shares]:
                        self._names[other] = self._names[number]
        for i, (end, result) in enumerate(zip(ends, results, strict=True), 1):
            read = [self._names[end]] if end in self._names else []
            self._draw(f"output/output.{i}", "IO Node", read, [tuple(result.shape)])

    def _draw_inputs(self, inputs: tuple[Any, ...]) -> None:
        """Draw the inputs of the network under the names of its parameters."""
        names = [*inspect.signature(self._model.forward).parameters]
        for name, value in itertools.zip_longest(names[: len(inputs)], inputs, fillvalue="input"):
            for tensor in _tensors(value):
                number = self.tape.number(tensor)
                self._names[number] = self._unique(f"input/{name}")
                self._draw(self._names[number], "IO Node", [], [tuple(tensor.shape)])

    def _draw_parameters(self) -> None:
        for module, scope in self._scopes.items():
            for name, parameter in module.named_parameters(recurse=False):
                number = self.tape.number(parameter)
                if number not in self._names:
                    self._names[number] = f"{scope}/{name}"
                    self._draw(self._names[number], "Parameter", [], [tuple(parameter.shape)])

    def _draw_call(self, call: Call, scope: str, shapes: list[tuple[int, ...]]) -> None:
        outputs = call.outputs()
        if not outputs:
            return  # a number, which no other call reads
        kind = call.aten.removeprefix("aten::").rstrip("_")
        name = self._unique(f"{scope}/{kind}")
        read = [self._names[number] for number in call.inputs() if number in self._names]
        self._draw(name, f"aten::{kind}", read, [shapes[number] for number in outputs])
        for place, number in enumerate(outputs):
            self._names[number] = f"{name}:{place}" if place else name

    def _draw(self, name: str, kind: str, read: list[str], shapes: list[tuple[int, ...]]) -> None:
        node = NodeDef(name=name, op=kind, input=read)
        every = AttrValue.ListValue(shape=[TensorShapeProto.of(shape) for shape in shapes])
        node.attr["_output_shapes"] = AttrValue(list=every)
        self.drawn.append(node)

    def _unique(self, name: str) -> str:
        self._counts[name] += 1
        return name if self._counts[name] == 1 else f"{name}_{self._counts[name]}"


def _scopes_of(model: Module) -> dict[Module, str]:
    """The scope of every module: the names on its path, with their classes."""
    scopes: dict[Module, str] = {}

    def visit(module: Module, scope: str) -> None:
        if module not in scopes:
            scopes[module] = scope
            for name, child in module.named_children():
                visit(child, f"{scope}/{type(child).__name__}[{name}]")

    visit(model, type(model).__name__)
    return scopes


def _tensors(values: Any) -> list[Tensor]:
    return [value for value in tree_flatten(values)[0] if isinstance(value, Tensor)]
