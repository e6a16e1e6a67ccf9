"""make_fx: a function, recorded as operators by running it on tensors."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from flambeau import Tensor
from flambeau.export._record import Recorder
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Node, map_aggregate
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
    """Make a function that runs ``f`` on its arguments and returns what ``f`` did as a module.

    With ``tracing_mode="symbolic"`` sizes of the inputs may be others when the module runs.
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
    recorder = Recorder(graph, traces_sizes)
    leaves, spec = pytree.tree_flatten(args)
    flat = len(leaves) == len(args)
    names = _names(f, len(args)) if flat else [f"arg{i}_1" for i in range(len(leaves))]
    given = []
    for name, leaf in zip(names, leaves, strict=True):
        node = graph.placeholder(name)
        if isinstance(leaf, Tensor):
            # An object of its own, even where one tensor is given twice.
            own = leaf.detach().requires_grad_(leaf.requires_grad)
            recorder.know(own, node, True)
            given.append(own)
        else:
            given.append(leaf)
    with recorder:
        result = f(*pytree.tree_unflatten(given, spec))
    graph.output(map_aggregate(result, recorder._leaf))
    attributes = _constants_as_attributes(graph, recorder)
    graph.eliminate_dead_code()
    return GraphModule(attributes, graph)


def _constants_as_attributes(graph: Graph, recorder: Recorder) -> dict[str, Tensor]:
    """Tensors from outside are attributes of the module."""
    attributes = {}
    for number, (name, value) in enumerate(recorder.constants.items()):
        old: Node = next(n for n in graph.nodes if n.target == f"c_{name}")
        attributes[f"_tensor_constant{number}"] = value
        with graph.inserting_before(min(old.users)):
            old.replace_all_uses_with(graph.get_attr(f"_tensor_constant{number}"))
        graph.erase_node(old)
    return attributes


def get_proxy_mode() -> Recorder | None:
    """The recording that is going on, if one is."""
    from flambeau.overrides import _get_current_function_mode_stack

    modes = reversed(_get_current_function_mode_stack())
    return next((mode for mode in modes if isinstance(mode, Recorder)), None)
