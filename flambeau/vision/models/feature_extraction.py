"""Networks that return the outputs of some of their layers, by tracing."""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict
from collections.abc import Iterable, Mapping
from typing import Any

from flambeau import fx, nn
from flambeau.vision import ops

__all__ = ["NodePathTracer", "create_feature_extractor", "get_graph_node_names"]

_Names = list[str] | dict[str, str] | None
_NUMBERED = re.compile(r"(.+?)(?:_\d+)?$")


class NodePathTracer(fx.Tracer):
    """Tracer that names each node by the module it comes from: ``layer1.0.add``.

    Further nodes of the same name get ``_1`` at their end, and so on. Modules of
    `vision.ops` and of ``leaf_modules`` are one node each.
    """

    def __init__(
        self, *args: Any, leaf_modules: Iterable[type[nn.Module]] = (), **kwargs: Any
    ) -> None:
        super().__init__(*args, **kwargs)
        exported = (getattr(ops, name) for name in ops.__all__)
        own = [each for each in exported if isinstance(each, type) and issubclass(each, nn.Module)]
        self._fb_leaves = (*own, *leaf_modules)
        self.current_module_qualname: str = ""
        self.node_to_qualname: OrderedDict[fx.Node, str] = OrderedDict()
        self._fb_times: dict[str, int] = {}

    def is_leaf_module(self, m: nn.Module, module_qualname: str) -> bool:
        return isinstance(m, self._fb_leaves) or super().is_leaf_module(m, module_qualname)

    def call_module(self, m: nn.Module, forward: Any, args: Any, kwargs: Any) -> Any:
        outer = self.current_module_qualname
        try:
            self.current_module_qualname = self.path_of_module(m)
            return super().call_module(m, forward, args, kwargs)
        finally:
            self.current_module_qualname = outer

    def create_proxy(self, *args: Any, **kwargs: Any) -> Any:
        proxy = super().create_proxy(*args, **kwargs)
        self.node_to_qualname[proxy.node] = self._fb_name(proxy.node)
        return proxy

    def _fb_name(self, node: fx.Node) -> str:
        name = self.current_module_qualname
        if node.op != "call_module":
            name = f"{name}.{node}" if name else str(node)
        # A number at the end is unique in the whole graph; a module's own number is lost with it.
        found = _NUMBERED.match(name)
        name = found[1] if found else name
        times = self._fb_times.get(name, 0)
        self._fb_times[name] = times + 1
        return f"{name}_{times}" if times else name


class DualGraphModule(fx.GraphModule):
    """Network with one graph for training and one for evaluation."""

    def __init__(
        self, root: nn.Module, train_graph: fx.Graph, eval_graph: fx.Graph, class_name: str
    ) -> None:
        super().__init__(root, train_graph, class_name)
        # Add modules that only the other graph calls, and drop those that neither calls.
        self.train_graph = train_graph
        self.eval_graph = eval_graph
        kept = {node.target for g in (train_graph, eval_graph) for node in g.nodes}
        for path in sorted(target for target in kept if isinstance(target, str)):
            _copy_module(root, self, path)

    def train(self, mode: bool = True) -> Any:
        wanted = self.train_graph if mode else self.eval_graph
        if self.graph is not wanted:
            self.graph = wanted
        return super().train(mode)


def _copy_module(source: nn.Module, target: nn.Module, path: str) -> None:
    """Set a module at the same path of another network."""
    *outer, last = path.split(".")
    for name in outer:
        if not hasattr(target, name):
            target.add_module(name, nn.Module())
        source, target = getattr(source, name, None), getattr(target, name)  # type: ignore[assignment]
    if isinstance(found := getattr(source, last, None), nn.Module) and not hasattr(target, last):
        target.add_module(last, found)


def _traced(
    model: nn.Module, training: bool, tracer_kwargs: Mapping[str, Any] | None, concrete: Any
) -> tuple[fx.Graph, OrderedDict[fx.Node, str]]:
    was_training = model.training
    model.train(training)
    try:
        tracer = NodePathTracer(**(tracer_kwargs or {}))
        graph = tracer.trace(model, concrete_args=concrete)
    finally:
        model.train(was_training)
    return graph, tracer.node_to_qualname


def get_graph_node_names(
    model: nn.Module,
    tracer_kwargs: Mapping[str, Any] | None = None,
    suppress_diff_warning: bool = False,
    concrete_args: dict[str, Any] | None = None,
) -> tuple[list[str], list[str]]:
    """Return the names of all nodes, in training and in evaluation, in order of execution."""
    train, evaluation = (
        list(_traced(model, mode, tracer_kwargs, concrete_args)[1].values())
        for mode in (True, False)
    )
    if train != evaluation and not suppress_diff_warning:
        warnings.warn(
            "The nodes obtained by tracing the model in eval mode are not those obtained in train "
            "mode: you may need train_return_nodes and eval_return_nodes.",
            stacklevel=2,
        )
    return train, evaluation


def create_feature_extractor(
    model: nn.Module,
    return_nodes: _Names = None,
    train_return_nodes: _Names = None,
    eval_return_nodes: _Names = None,
    tracer_kwargs: Mapping[str, Any] | None = None,
    suppress_diff_warning: bool = False,
    concrete_args: dict[str, Any] | None = None,
) -> fx.GraphModule:
    """Make a network that returns a dictionary of the outputs of some nodes.

    A node is given by its name (see `get_graph_node_names`) or by a module, for the module's last
    node; a dictionary renames the outputs. Nodes that no output needs are removed.
    """
    if (return_nodes is None) == (train_return_nodes is None and eval_return_nodes is None):
        raise ValueError(
            "return_nodes must be given, or both of train_return_nodes and eval_return_nodes, but "
            "not all of them"
        )
    if (train_return_nodes is None) != (eval_return_nodes is None):
        raise ValueError("train_return_nodes and eval_return_nodes must be given together")
    was_training = model.training
    graphs = []
    for mode, wanted in (
        (True, train_return_nodes or return_nodes),
        (False, eval_return_nodes or return_nodes),
    ):
        graph, names = _traced(model, mode, tracer_kwargs, concrete_args)
        assert wanted is not None
        pairs = wanted if isinstance(wanted, dict) else {name: name for name in wanted}
        owner = fx.GraphModule(model, graph)  # through which the graph finds its modules
        _return(owner.graph, names, {str(name): str(new) for name, new in pairs.items()})
        graphs.append(owner.graph)
    extractor = DualGraphModule(model, graphs[0], graphs[1], type(model).__name__)
    extractor.train(was_training)
    return extractor


def _return(graph: fx.Graph, names: OrderedDict[fx.Node, str], wanted: dict[str, str]) -> None:
    """Let a graph return some of its nodes and nothing else."""
    found: dict[str, fx.Node] = {}
    for node, name in names.items():
        for each in wanted:
            if name == each or name.startswith(f"{each}."):
                found[each] = node  # the last one stays
    if missing := [name for name in wanted if name not in found]:
        raise ValueError(
            f"return_nodes: '{missing[0]}' is not present in the network, whose nodes "
            "get_graph_node_names lists; where those of training and evaluation differ, pass "
            "train_return_nodes and eval_return_nodes"
        )
    old = next(node for node in reversed(list(graph.nodes)) if node.op == "output")
    graph.erase_node(old)
    graph.output({wanted[name]: found[name] for name in wanted})
    graph.eliminate_dead_code()
