"""Interpreters: a graph is run node by node, by methods to override."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from flambeau import nn
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Argument, Node, Target, map_arg
from flambeau.fx.proxy import Proxy, TracerBase

__all__ = ["Interpreter", "Transformer"]


class Interpreter:
    """Runs a graph node by node; subclasses change what single nodes do."""

    def __init__(
        self,
        module: nn.Module,
        garbage_collect_values: bool = True,
        graph: Graph | None = None,
    ) -> None:
        self.module = module
        self.graph: Graph = graph if graph is not None else module.graph  # type: ignore[assignment]
        self.submodules: dict[str, nn.Module] = dict(module.named_modules())
        self.env: dict[Node, Any] = {}
        self.args_iter: Iterator[Any] = iter(())
        self.name = "Interpreter"
        self.garbage_collect_values = garbage_collect_values
        self.extra_traceback = True
        self.user_to_last_uses: dict[Node, list[Node]] = (
            self._fb_last_uses() if garbage_collect_values else {}
        )

    def _fb_last_uses(self) -> dict[Node, list[Node]]:
        seen: set[Node] = set()
        dying: dict[Node, list[Node]] = {}
        for node in reversed(self.graph.nodes):
            for given in node.all_input_nodes:
                if given not in seen:
                    seen.add(given)
                    dying.setdefault(node, []).append(given)
        return dying

    def run(
        self,
        *args: Any,
        initial_env: dict[Node, Any] | None = None,
        enable_io_processing: bool = True,
    ) -> Any:
        """Run the graph on ``args``; values in ``initial_env`` are not computed again."""
        self.env = dict(initial_env or {})
        if enable_io_processing:
            args = self.graph.process_inputs(*args)
        self.args_iter = iter(args)
        for node in self.graph.nodes:
            if node in self.env:
                continue
            try:
                self.env[node] = self.run_node(node)
            except Exception as error:
                self._fb_add_place(error, node)
                raise
            for unneeded in self.user_to_last_uses.get(node, ()):
                self.env.pop(unneeded, None)
            if node.op == "output":
                result = self.env[node]
                return self.graph.process_outputs(result) if enable_io_processing else result
        return None

    def boxed_run(self, args_list: list[Any]) -> Any:
        """Run the graph on the values of a list, which is cleared so that they can be freed."""
        args = list(args_list)
        args_list.clear()
        return self.run(*args, enable_io_processing=False)

    def _fb_add_place(self, error: Exception, node: Node) -> None:
        """Add the current node to the error message."""
        if not self.extra_traceback or not error.args or not isinstance(error.args[0], str):
            return
        trace = f"\nOriginal traceback:\n{node.stack_trace}" if node.stack_trace else ""
        text = f"{error.args[0]}\n\nWhile executing {node.format_node()}{trace}"
        error.args = (text, *error.args[1:])

    def run_node(self, n: Node) -> Any:
        """Run one node."""
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        return getattr(self, n.op)(n.target, args, kwargs)

    # --- one method for each op

    def placeholder(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The next argument of ``run``, or the default."""
        if str(target).startswith("*"):
            return list(self.args_iter)
        try:
            return next(self.args_iter)
        except StopIteration:
            if args:
                return args[0]
            raise RuntimeError(
                f"Expected positional argument for parameter {target}, but one was not passed in!"
            ) from None

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """An attribute of the module."""
        return self.fetch_attr(str(target))

    def call_function(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call the function."""
        if isinstance(target, str):
            raise AssertionError(f"a function is expected as the target, got {target!r}")
        return target(*args, **kwargs)

    def call_method(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call the method of the first argument."""
        self_obj, *rest = args
        return getattr(self_obj, str(target))(*rest, **kwargs)

    def call_module(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Any:
        """Call the submodule."""
        return self.fetch_attr(str(target))(*args, **kwargs)

    def output(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Any:
        """What the graph returns."""
        return args[0]

    # --- values

    def fetch_attr(self, target: str) -> Any:
        """The attribute of the module at a path."""
        value: Any = self.module
        parts = target.split(".")
        for i, part in enumerate(parts):
            if not hasattr(value, part):
                raise RuntimeError(f"Node referenced nonexistent target {'.'.join(parts[: i + 1])}")
            value = getattr(value, part)
        return value

    def fetch_args_kwargs_from_env(self, n: Node) -> tuple[Any, Any]:
        """Return the arguments of a node, with other nodes replaced by their values."""
        return self.map_nodes_to_values(n.args, n), self.map_nodes_to_values(n.kwargs, n)

    def map_nodes_to_values(self, args: Argument, n: Node) -> Argument:
        """Replace nodes by their values."""

        def load(given: Node) -> Any:
            if given not in self.env:
                raise RuntimeError(
                    f"Node {n} referenced nonexistent value {given}! Run Graph.lint() to diagnose "
                    "such issues"
                )
            return self.env[given]

        return map_arg(args, load)


class Transformer(Interpreter):
    """Runs a graph on proxies, so that overridden methods produce another graph."""

    def __init__(self, module: GraphModule) -> None:
        super().__init__(module)
        self.new_graph: Graph = Graph()
        self.new_graph.set_codegen(module.graph._codegen)
        self.tracer: _TransformerTracer = _TransformerTracer(self.new_graph, module)
        self.tracer.root = module

    def placeholder(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Proxy:
        """An input of the new graph."""
        default = args[0] if args else ...
        return Proxy(self.new_graph.placeholder(str(target), default_value=default), self.tracer)

    def get_attr(self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]) -> Proxy:
        """An attribute in the new graph."""
        return self.tracer.create_proxy("get_attr", target, args, kwargs)

    def call_module(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The call of a submodule in the new graph."""
        return self.tracer.create_proxy("call_module", target, args, kwargs)

    def call_function(
        self, target: Target, args: tuple[Argument, ...], kwargs: dict[str, Any]
    ) -> Any:
        """The call of a function in the new graph."""
        return self.tracer.create_proxy("call_function", target, args, kwargs)

    def transform(self) -> GraphModule:
        """Run the graph on proxies and make a module of the new one."""
        result = super().run(enable_io_processing=False)
        if result is not None:
            output = self.new_graph.output(map_proxies(result))
            old = self.graph.output_node()
            output.type = old.type
            output.meta = dict(old.meta)
        return GraphModule(self.module, self.new_graph, type(self.module).__name__)


class _TransformerTracer(TracerBase):
    def __init__(self, graph: Graph, module: nn.Module) -> None:
        self.graph = graph
        self.root = module


def map_proxies(value: Any) -> Any:
    """Replace proxies by their nodes."""
    from flambeau.fx.node import map_aggregate

    return map_aggregate(value, lambda v: v.node if isinstance(v, Proxy) else v)
