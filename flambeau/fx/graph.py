"""Graphs: programs as lists of nodes, which can be changed and written as Python code."""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from flambeau.fx._codegen import CodeGen as CodeGen
from flambeau.fx._codegen import PythonCode as PythonCode
from flambeau.fx._codegen import Readable
from flambeau.fx._codegen import _PyTreeCodeGen as _PyTreeCodeGen
from flambeau.fx._naming import Namespace, candidate_of
from flambeau.fx.node import Argument, Node, Target, map_arg

if TYPE_CHECKING:
    from flambeau.fx.graph_module import GraphModule

__all__ = ["CodeGen", "Graph", "PythonCode"]


class _node_list:
    """The nodes of a graph in order; nodes may be added and erased during iteration."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph = graph
        self.direction = direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root = self.graph._root
        node = getattr(root, self.direction)
        while node is not root:
            if not node._erased:
                yield node
            node = getattr(node, self.direction)

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class _InsertPoint:
    """Sets where new nodes are inserted; the previous position returns when the context is left."""

    previous: Callable[[Node], None]

    def __init__(self, graph: Graph, insert: Callable[[Node], None]) -> None:
        self.graph = graph
        self.previous, graph._insert = graph._insert, insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self.graph._insert = self.previous


class Graph:
    """Program as a list of nodes, each made of results of nodes before it.

    Args:
        owning_module: Module that runs it. Default: None.
        tracer_cls: Class that traced it. Default: None.
        tracer_extras: What the tracer adds. Default: None.

    Example:
        >>> graph = torch.fx.Graph()
        >>> x = graph.placeholder("x")
        >>> y = graph.call_function(torch.relu, (x,))
        >>> _ = graph.output(y)
        >>> torch.fx.GraphModule({}, graph)(torch.tensor([-1.0, 1.0]))
        tensor([0., 1.])

    See also:
        `fx.symbolic_trace`, `fx.GraphModule`.
    """

    def __init__(
        self,
        owning_module: GraphModule | None = None,
        tracer_cls: Any = None,
        tracer_extras: dict[str, Any] | None = None,
    ) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._insert: Callable[[Node], None] = self._root.prepend
        self._len = 0
        self._namespace = Namespace()
        self._owning_module = owning_module
        self._tracer_cls = tracer_cls
        self._tracer_extras = tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> Any:
        """The module that runs the graph, if there is one."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, module: Any) -> None:
        self._owning_module = module

    @property
    def nodes(self) -> _node_list:
        """All nodes, in the order of execution."""
        return _node_list(self)

    def find_nodes(self, *, op: str, target: Target | None = None, sort: bool = True) -> list[Node]:
        """Return all nodes with an op and, if given, a target."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def output_node(self) -> Node:
        """Return the output node."""
        return next(node for node in reversed(self.nodes) if node.op == "output")

    # --- making nodes

    def create_node(
        self,
        op: str,
        target: Target,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node at the insertion point: by default the end, see ``inserting_before``."""
        args, kwargs = args or (), kwargs or {}
        for kind, value in (("args", args), ("kwargs", kwargs)):
            if not isinstance(value, tuple if kind == "args" else dict):
                raise AssertionError(f"{kind} must be a {'tuple' if kind == 'args' else 'dict'}")
        candidate = name if name is not None else candidate_of(target)
        node = Node(
            self, self._namespace.create_name(candidate, None), op, target, args, kwargs, type_expr
        )
        self._namespace.associate(node.name, node)
        map_arg((args, kwargs), self._check_own)
        self._insert(node)
        self._len += 1
        return node

    def _check_own(self, node: Node) -> Node:
        if node.graph is not self:
            raise RuntimeError(
                f"node '{node}' belongs to another graph; node_copy brings nodes of other graphs in"
            )
        return node

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """Add an input of the program.

        Args:
            name: Its name.
            type_expr: Its type, for the code. Default: None.
            default_value: Its default. Default: none, it must be given.

        Returns:
            The new node.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> y = graph.call_function(torch.relu, (x,))
            >>> _ = graph.output(y)
            >>> x.op
            'placeholder'
        """
        args = () if default_value is ... else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """Add a read of a parameter, buffer or other attribute of the module."""
        if self.owning_module is not None and not _has_attribute(
            self.owning_module, qualified_name
        ):
            warnings.warn(
                f"get_attr: the module that owns the graph has no attribute {qualified_name!r}; "
                "add it with add_submodule, register_parameter or register_buffer",
                stacklevel=2,
            )
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self,
        module_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a submodule.

        Args:
            module_name: Path of the submodule.
            args: Its arguments: nodes, or values. Default: none.
            kwargs: Its keyword arguments. Default: none.
            type_expr: Type of the result, for the code. Default: None.

        Returns:
            The new node.

        Example:
            >>> graph = torch.fx.Graph()
            >>> y = graph.call_module("act", (graph.placeholder("x"),))
            >>> _ = graph.output(y)
            >>> torch.fx.GraphModule({"act": nn.ReLU()}, graph)(torch.tensor([-1.0]))
            tensor([0.])
        """
        if self.owning_module is not None and not _has_attribute(self.owning_module, module_name):
            warnings.warn(
                f"call_module: the module that owns the graph has no submodule {module_name!r}; "
                "add it with add_submodule",
                stacklevel=2,
            )
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def call_method(
        self,
        method_name: str,
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a call of a method of the first argument.

        Args:
            method_name: Name of the method.
            args: Its arguments: nodes, or values. Default: none.
            kwargs: Its keyword arguments. Default: none.
            type_expr: Type of the result, for the code. Default: None.

        Returns:
            The new node.

        Example:
            >>> graph = torch.fx.Graph()
            >>> y = graph.call_method("sum", (graph.placeholder("x"),))
            >>> _ = graph.output(y)
            >>> torch.fx.GraphModule({}, graph)(torch.ones(3))
            tensor(3.)
        """
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self,
        the_function: Callable[..., Any],
        args: tuple[Argument, ...] | None = None,
        kwargs: dict[str, Argument] | None = None,
        type_expr: Any = None,
        name: str | None = None,
    ) -> Node:
        """Add a call of a function.

        Args:
            the_function: The function.
            args: Its arguments: nodes, or values. Default: none.
            kwargs: Its keyword arguments. Default: none.
            type_expr: Type of the result, for the code. Default: None.
            name: Name of the node. Default: by the function.

        Returns:
            The new node.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> y = graph.call_function(torch.relu, (x,))
            >>> _ = graph.output(y)
            >>> y
            relu
        """
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """Add the return of the program.

        Args:
            result: Node, or container of nodes, to return.
            type_expr: Its type, for the code. Default: None.

        Example:
            >>> graph = torch.fx.Graph()
            >>> x = graph.placeholder("x")
            >>> y = graph.call_function(torch.relu, (x,))
            >>> _ = graph.output(y)
        """
        return self.create_node("output", "output", args=(result,), type_expr=type_expr)

    # --- insertion points

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """Insert new nodes before ``n`` (before the first node, if none is given)."""
        if n is None:
            return self.inserting_after(self._root)
        self._check_own(n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """Insert new nodes after ``n`` (after the last node, if none is given)."""
        if n is None:
            return self.inserting_before(self._root)
        self._check_own(n)
        return _InsertPoint(self, n.append)

    # --- changes

    def erase_node(self, to_erase: Node) -> None:
        """Remove a node that has no users."""
        if to_erase.users:
            raise RuntimeError(
                f"Tried to erase Node {to_erase} but it still had {len(to_erase.users)} users in "
                f"the graph: {to_erase.users}!"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"Attempting to remove {to_erase} from wrong graph!")
        if to_erase._erased:
            warnings.warn(f"erase_node({to_erase}) on an already erased node", stacklevel=2)
            return
        to_erase._set_inputs((), {})
        to_erase._remove_from_list()
        to_erase._erased = True
        self._len -= 1

    def node_copy(
        self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x
    ) -> Node:
        """Add a copy of a node of another graph; its inputs are mapped to nodes of this one."""
        args = map_arg(node.args, arg_transform)
        kwargs = map_arg(node.kwargs, arg_transform)
        copied = self.create_node(node.op, node.target, args, kwargs, node.name, node.type)
        copied.meta = copy.copy(node.meta)
        return copied

    def graph_copy(
        self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False
    ) -> Any:
        """Add copies of all nodes of ``g``; return what its output became."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], lambda n: val_map[n])
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, lambda n: val_map[n])
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        made = Graph(tracer_cls=self._tracer_cls)
        made._codegen = copy.copy(self._codegen)
        val_map: dict[Node, Node] = {}
        copied = made.graph_copy(self, val_map, return_output_node=True)
        if copied is not None:
            result, output = copied
            node = made.output(result, type_expr=output.type)
            node.meta = copy.copy(output.meta)
        return made

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Erase unused nodes without side effects; return whether there were any."""
        self.lint()
        is_impure = is_impure_node or Node.is_impure
        before = len(self.nodes)
        for node in reversed(self.nodes):
            if not node.users and not is_impure(node):
                self.erase_node(node)
        return len(self.nodes) < before

    def lint(self) -> None:
        """Raise if nodes are out of order, or refer to attributes that the module does not have."""
        seen: set[Node] = set()
        names: set[str] = set()
        for node in self.nodes:
            self._check_inputs(node, seen)
            if node.name in names:
                raise RuntimeError(f"Node redefined name {node.name}!")
            if node.op in ("get_attr", "call_module"):
                self._check_target(node)
            seen.add(node)
            names.add(node.name)

    def _check_inputs(self, node: Node, seen: set[Node]) -> None:
        for given in node.all_input_nodes:
            if given.graph is not self:
                raise RuntimeError(
                    f"Argument '{given}' of Node '{node}' does not belong to this Graph, but was "
                    "used as an argument!"
                )
            if given not in seen:
                raise RuntimeError(
                    f"Argument '{given}' of Node '{node}' was used before it has been defined! "
                    f"Please check that Nodes in the graph are topologically ordered\n{self}"
                )

    def _check_target(self, node: Node) -> None:
        owner = self.owning_module
        if owner is None:
            return
        for part in str(node.target).split("."):
            if not hasattr(owner, part):
                raise RuntimeError(
                    f"Node {node} target {node.target} references nonexistent attribute {part} of "
                    f"{'.'.join(str(node.target).split('.')[:-1])}"
                )
            owner = getattr(owner, part)

    # --- code and text

    def python_code(
        self,
        root_module: str,
        *,
        verbose: bool = False,
        include_stride: bool = False,
        include_device: bool = False,
    ) -> PythonCode:
        """Return the graph as a Python function; ``root_module`` is its first argument.

        With ``verbose``, shapes and source locations of nodes are written too.
        """
        readable = Readable(include_stride, include_device) if verbose else None
        namespace = Namespace()
        # Nodes keep their names unless the code needs them for something else.
        given: dict[Node, str] = {}
        for node in self.nodes:
            given[node] = namespace.create_name(node.name, node)
        previous = {node: node._repr_fn for node in given}
        try:
            for node in given:
                node._repr_fn = given.__getitem__
            return self._codegen.generate(self, root_module, namespace, readable)
        finally:
            for node, function in previous.items():
                node._repr_fn = function

    def set_codegen(self, codegen: CodeGen) -> None:
        """Set the object that writes the code."""
        self._codegen = codegen

    def process_inputs(self, *args: Any) -> Any:
        """Return the values of the placeholders for the arguments ``args``."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """Return the result of the program for the output value ``out``."""
        return self._codegen.process_outputs(out)

    def __str__(self) -> str:
        names: list[str] = []
        lines = [node.format_node() for node in self.nodes]
        return "\n    ".join([f"graph({', '.join(names)}):", *filter(None, lines)])

    def print_tabular(self) -> None:
        """Print a table with a line for each node."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        widths = [max(len(row[i]) for row in rows) for i in range(5)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=True)]
            print("  ".join(cells).rstrip())


def _has_attribute(module: Any, path: str) -> bool:
    for part in path.split("."):
        if not hasattr(module, part):
            return False
        module = getattr(module, part)
    return True
