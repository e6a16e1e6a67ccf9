"""make_fx: record a function as operators by running it on tensors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from flambeau import Tensor
from flambeau._recording.program import mapped, row_named
from flambeau._recording.record import Recorder, current
from flambeau._recording.sizes import check_decision
from flambeau.export._graphs import RULES, GraphWriter, recorder_for, without_elements
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Node
from flambeau.utils import _pytree as pytree

__all__ = ["get_proxy_mode", "make_fx"]


def make_fx(
    f: Callable[..., Any],
    decomposition_table: dict[Any, Any] | None = None,
    tracing_mode: str = "real",
    _allow_non_fake_inputs: bool = False,
    *,
    pre_dispatch: bool = False,
    record_module_stack: bool = False,
    _allow_fake_constant: bool = False,
    _error_on_data_dependent_ops: bool = True,
    record_stack_traces: bool = False,
) -> Callable[..., GraphModule]:
    """Make a function that runs ``f`` on its arguments and returns the record as a module.

    With ``tracing_mode="symbolic"`` the sizes of inputs may differ when the module runs.
    """
    if tracing_mode not in ("real", "fake", "symbolic"):
        raise AssertionError(f"tracing_mode is real, fake or symbolic, got {tracing_mode!r}")
    if decomposition_table:
        raise NotImplementedError(
            "make_fx: operators are recorded as the program calls them, and cannot be replaced by "
            "others on the way; change the graph, for instance with replace_pattern"
        )

    @functools.wraps(f)
    def record(*args: Any) -> GraphModule:
        return _record(f, args, tracing_mode == "symbolic")

    return record


def _names(f: Callable[..., Any], count: int) -> list[str]:
    try:
        names = list(inspect.signature(f).parameters)
    except (TypeError, ValueError):
        names = []
    return (
        [f"{name}_1" for name in names[:count]]
        if len(names) >= count
        else [f"arg{i}_1" for i in range(count)]
    )


def _record(f: Callable[..., Any], args: tuple[Any, ...], traces_sizes: bool) -> GraphModule:
    graph = Graph()
    leaves, spec = pytree.tree_flatten(args)
    flat = len(leaves) == len(args)
    names = _names(f, len(args)) if flat else [f"arg{i}_1" for i in range(len(leaves))]
    given, tensors, nodes = [], [], []
    for name, leaf in zip(names, leaves, strict=True):
        node = graph.placeholder(name)
        if isinstance(leaf, Tensor):
            # A distinct object, even if one tensor is given twice.
            leaf = leaf.detach().requires_grad_(leaf.requires_grad)
            node.meta["val"] = without_elements(leaf)
            tensors.append(leaf)
            nodes.append(node)
        given.append(leaf)
    recorder = recorder_for(tensors, [], traces_sizes)
    with recorder:
        result = f(*pytree.tree_unflatten(given, spec))
    program = recorder.program([], result)
    attributes: dict[str, Tensor] = {}

    def constant(number: int) -> Node:
        """Tensors from outside become attributes of the module."""
        attributes[f"_tensor_constant{number}"] = recorder.constants[number]
        return graph.get_attr(f"_tensor_constant{number}")

    writer = GraphWriter(graph, nodes, {}, constant, recorder.tensors)
    writer.write(program)
    graph.output(mapped(writer.value, program.result))
    graph.eliminate_dead_code(lambda node: node.is_impure() or _writes(node))
    return GraphModule(attributes, graph)


def _writes(node: Node) -> bool:
    row = node.meta.get("row")
    return node.target is check_decision or (row is not None and row_named(row).writes)


def get_proxy_mode() -> Recorder | None:
    """Return the current recording, if there is one."""
    recorder = current()
    return recorder if recorder is not None and recorder.rules is RULES else None
