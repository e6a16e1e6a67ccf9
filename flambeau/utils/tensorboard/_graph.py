"""The graph of a network as TensorBoard draws it, from what one call of it records.

Operators are the nodes that autograd recorded; hooks tell which module each of them belongs to, and
a pass backwards through them the shapes of their results.
"""

from __future__ import annotations

import contextlib
import inspect
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.autograd.graph import Node, get_gradient_edge
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
    """Call the network and return its graph, and which device it ran on.

    `use_strict_trace` changes nothing here: dictionaries and lists may be returned in any case.
    """
    if args is None:
        raise ValueError("add_graph needs input_to_model, which the network is called with")
    arguments = args if isinstance(args, (tuple, list)) else (args,)
    recording = _Recording(model)
    with fb.enable_grad(), _all_trainable(model):
        followed = tree_map(recording.follow, tuple(arguments))
        with recording.hooks():
            outputs = model(*followed)
        recording.finish(followed, outputs)
    drawn = GraphDef(node=recording.drawn, versions=VersionDef(producer=_PRODUCER))
    if verbose:
        print(drawn)
    device = StepStats.DeviceStepStats(device="/device:CPU:0")
    return drawn, RunMetadata(step_stats=StepStats(dev_stats=[device]))


class _Recording:
    """One call of a network: nodes with their scopes, in the order in which they were found."""

    def __init__(self, model: Module) -> None:
        self.drawn: list[NodeDef] = []
        self._model = model
        self._scopes = _scopes_of(model)
        self._open = [""]  # scopes of the modules that are being called, innermost last
        self._scope_of: dict[Node, str] = {}
        self._known: dict[Node, str] = {}  # names of nodes that are drawn
        self._plain: dict[int, str] = {}  # inputs without gradient by id, with their names
        self._readers: dict[Node, list[str]] = {}  # and the nodes that read them
        self._counts: Counter[str] = Counter()

    def follow(self, value: Any) -> Any:
        """Have autograd record what is done with an input."""
        if isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex()):
            return value.detach().requires_grad_().clone()  # a leaf could not be changed in place
        return value

    @contextlib.contextmanager
    def hooks(self) -> Iterator[None]:
        """Watch the modules while they are called."""
        handles: list[Any] = []
        for module in self._scopes:
            handles.append(module.register_forward_pre_hook(self._enter, with_kwargs=True))
            handles.append(module.register_forward_hook(self._leave, with_kwargs=True))
        try:
            yield
        finally:
            for handle in handles:
                handle.remove()

    def _enter(self, module: Module, args: Any, kwargs: Any) -> None:
        # What was computed until now was computed around this module, not in it.
        self._claim(_tensors((args, kwargs)), self._open[-1])
        self._open.append(self._scopes[module])
        if len(self._open) == 2:
            self._name_inputs(args)

    def _leave(self, module: Module, args: Any, kwargs: Any, output: Any) -> None:
        results = _tensors(output)
        self._claim(results, self._open.pop())
        if not any(True for _ in module.children()):
            read = [self._plain[id(t)] for t in _tensors((args, kwargs)) if id(t) in self._plain]
            for result in results:
                if read and result.grad_fn is not None:
                    self._readers[result.grad_fn] = read

    def _name_inputs(self, args: Any) -> None:
        """Draw the inputs of the network under the names of its parameters."""
        names = [*inspect.signature(self._model.forward).parameters]
        for name, value in itertools.zip_longest(names[: len(args)], args, fillvalue="input"):
            for tensor in _tensors(value):
                full_name = self._unique(f"input/{name}")
                self._draw(full_name, "IO Node", [], [tuple(tensor.shape)])
                if tensor.grad_fn is not None:
                    self._known[tensor.grad_fn] = full_name
                    self._scope_of[tensor.grad_fn] = ""
                else:
                    self._plain[id(tensor)] = full_name

    def _claim(self, tensors: Iterable[Tensor], scope: str) -> None:
        """Give the nodes behind tensors that belong to no module yet to this one."""
        waiting = [tensor.grad_fn for tensor in tensors]
        while waiting:
            node = waiting.pop()
            if node is not None and node not in self._scope_of and not _is_leaf(node):
                self._scope_of[node] = scope
                waiting.extend(before for before, _ in node.next_functions)

    def finish(self, inputs: Any, outputs: Any) -> None:
        """Draw parameters, operators and outputs."""
        results = _tensors(outputs)
        self._draw_parameters()
        nodes = [node for node in self._scope_of if node not in self._known]
        nodes.sort(key=lambda node: node._sequence_nr)
        shapes = self._shapes(nodes, inputs, results)
        for node in nodes:
            kind = _operator(node)
            self._known[node] = self._unique(f"{self._scope_of[node]}/{kind}")
        for node in nodes:
            read = self._inputs(node) + self._readers.get(node, [])
            self._draw(self._known[node], f"aten::{_operator(node)}", read, shapes.get(node))
        for i, result in enumerate(results, 1):
            read = [self._known[result.grad_fn]] if result.grad_fn in self._known else []
            self._draw(f"output/output.{i}", "IO Node", read, [tuple(result.shape)])

    def _draw_parameters(self) -> None:
        for module, scope in self._scopes.items():
            for name, parameter in module.named_parameters(recurse=False):
                if not parameter.is_floating_point() and not parameter.is_complex():
                    continue
                leaf = get_gradient_edge(parameter).node
                if leaf not in self._known:
                    self._known[leaf] = f"{scope}/{name}"
                    self._draw(self._known[leaf], "Parameter", [], [tuple(parameter.shape)])

    def _inputs(self, node: Node) -> list[str]:
        return [
            f"{self._known[before]}:{place}" if place else self._known[before]
            for before, place in node.next_functions
            if before in self._known
        ]

    def _shapes(
        self, nodes: list[Node], inputs: Any, results: list[Tensor]
    ) -> dict[Node, list[tuple[int, ...]]]:
        """The shapes of the results of nodes: those of the gradients that come back to them."""
        shapes: dict[Node, list[tuple[int, ...]]] = {}

        def watch(node: Node) -> Any:
            def note(gradients: tuple[Tensor | None, ...]) -> None:
                shapes[node] = [tuple(g.shape) if g is not None else () for g in gradients]

            return node.register_prehook(note)

        ends = [result for result in results if result.requires_grad]
        sources = [t for t in _tensors(inputs) if t.requires_grad]
        sources += self._model.parameters()
        handles = [watch(node) for node in nodes]
        starts = [fb.ones_like(end) for end in ends]
        # A backward of the program's own may refuse: then shapes before it stay unknown.
        with contextlib.suppress(Exception):
            if ends and sources:
                fb.autograd.grad(ends, sources, starts, allow_unused=True)
        for handle in handles:
            handle.remove()
        return shapes

    def _draw(
        self, name: str, kind: str, read: list[str], shapes: list[tuple[int, ...]] | None
    ) -> None:
        node = NodeDef(name=name, op=kind, input=read)
        if shapes is not None:
            every = AttrValue.ListValue(shape=[TensorShapeProto.of(shape) for shape in shapes])
            node.attr["_output_shapes"] = AttrValue(list=every)
        self.drawn.append(node)

    def _unique(self, name: str) -> str:
        self._counts[name] += 1
        return name if self._counts[name] == 1 else f"{name}_{self._counts[name]}"


def _scopes_of(model: Module) -> dict[Module, str]:
    """The scope of every module: the names on the way to it, with their classes."""
    scopes: dict[Module, str] = {}

    def visit(module: Module, scope: str) -> None:
        if module not in scopes:
            scopes[module] = scope
            for name, child in module.named_children():
                visit(child, f"{scope}/{type(child).__name__}[{name}]")

    visit(model, type(model).__name__)
    return scopes


@contextlib.contextmanager
def _all_trainable(model: Module) -> Iterator[None]:
    """Have autograd record what is done with frozen parameters too."""
    frozen = [p for p in model.parameters() if not p.requires_grad and p.is_floating_point()]
    for parameter in frozen:
        parameter.requires_grad_()
    try:
        yield
    finally:
        for parameter in frozen:
            parameter.requires_grad_(False)


def _tensors(values: Any) -> list[Tensor]:
    return [value for value in tree_flatten(values)[0] if isinstance(value, Tensor)]


def _is_leaf(node: Node) -> bool:
    return node.name().endswith("AccumulateGrad")


def _operator(node: Node) -> str:
    """The operator of a node: ``native_batch_norm`` for ``NativeBatchNormBackward0``."""
    name = re.sub(r"Backward\d*$", "", node.name().rpartition("::")[2])
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()
