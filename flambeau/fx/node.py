"""Nodes: the steps of a graph, each with a target, arguments and users."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Union

import flambeau as fb
from flambeau._ops import OpOverload
from flambeau.fx._naming import qualified_name, type_name
from flambeau.fx.immutable_collections import immutable_dict, immutable_list

if TYPE_CHECKING:
    from flambeau.fx.graph import Graph

__all__ = ["Argument", "Node", "Target", "has_side_effect", "map_aggregate", "map_arg"]

Target = Union[Callable[..., Any], str]  # noqa: UP007
Argument = Any
BaseArgumentTypes: tuple[type[Any], ...] = (
    str,
    int,
    float,
    bool,
    complex,
    fb.dtype,
    fb.Tensor,
    fb.device,
    fb.memory_format,
    fb.layout,
)
base_types = BaseArgumentTypes

OPS = ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output", "root")

# Functions that are called for their side effects.
_side_effectful_functions: set[Callable[..., Any]] = set()
# Functions that advance the generator, so that later random numbers depend on them.
_DRAW = (
    *("bernoulli", "multinomial", "normal", "poisson", "rand", "rand_like", "randint"),
    *("randint_like", "randn", "randn_like", "randperm"),
)
_side_effectful_functions |= {getattr(fb, name) for name in _DRAW}


@functools.cache
def _random_operators() -> frozenset[str]:
    return frozenset(each["name"] for each in fb._C.op_info() if each["random"])


def has_side_effect(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Keep calls of ``fn`` in graphs, even if their results are unused."""
    _side_effectful_functions.add(fn)
    return fn


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """Apply ``fn`` to everything in nested tuples, lists, dictionaries and slices."""
    if isinstance(a, tuple):
        items = [map_aggregate(item, fn) for item in a]
        return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
    if isinstance(a, list):
        return immutable_list([map_aggregate(item, fn) for item in a])
    if isinstance(a, dict):
        return immutable_dict({key: map_aggregate(value, fn) for key, value in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(part, fn) for part in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """Apply ``fn`` to every node in nested arguments."""
    if not callable(fn):
        raise AssertionError("torch.fx.map_arg(a, fn): fn must be a callable")
    return map_aggregate(a, lambda item: fn(item) if isinstance(item, Node) else item)


def format_argument(arg: Any) -> str:
    """An argument as the text of a graph shows it: nodes with a percent sign, text bare."""
    if isinstance(arg, list):
        return f"[{', '.join(map(format_argument, arg))}]"
    if isinstance(arg, tuple) and not hasattr(arg, "_fields"):
        items = ", ".join(map(format_argument, arg))
        return f"({items},)" if len(arg) == 1 else f"({items})"
    if isinstance(arg, dict):
        return f"{{{', '.join(f'{key}: {format_argument(value)}' for key, value in arg.items())}}}"
    return f"%{arg}" if isinstance(arg, Node) else str(arg)


class Node:
    """One step of a `Graph`.

    Args:
        graph: The graph that it belongs to.
        name: Its name, unique in the graph.
        op: What it does: ``placeholder``, ``get_attr``, ``call_function``, ``call_method``,
            ``call_module`` or ``output``.
        target: With what: a function, or the name of a method, a module or an attribute.
        args: On what: other nodes, and values in nested containers.
        kwargs: The same by name.
        return_type: Type of the result, for those who annotate.

    Example:
        >>> graph = torch.fx.symbolic_trace(lambda x: x + 1).graph
        >>> [node.op for node in graph.nodes]
        ['placeholder', 'call_function', 'output']
        >>> x, add, output = graph.nodes
        >>> add.args
        (x, 1)

    See also:
        `fx.Graph`, `fx.symbolic_trace`.
    """

    def __init__(
        self,
        graph: Graph,
        name: str,
        op: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        return_type: Any = None,
    ) -> None:
        if op not in OPS:
            raise AssertionError(f"a node cannot be of op {op!r}; it is one of {', '.join(OPS)}")
        if op == "call_function":
            if not callable(target):
                raise ValueError(
                    f"Node [graph = {graph}, name = '{name}'] target {target} has type "
                    f"{type(target).__name__} but a Callable is expected"
                )
        elif not isinstance(target, str):
            raise AssertionError(f"Expected target to be str, got {type(target)}")
        self.graph = graph
        self.name = name
        self.op = op
        self.target = target
        self.type = return_type
        self.users: dict[Node, None] = {}
        self.meta: dict[str, Any] = {}
        self._input_nodes: dict[Node, None] = {}
        self._args: tuple[Argument, ...] = ()
        self._kwargs: dict[str, Argument] = {}
        self._prev = self
        self._next = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._set_inputs(args, kwargs)

    # --- position in the graph

    @property
    def next(self) -> Node:
        """The node after this one; the root of the list after the last."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one; the root of the list before the first."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move ``x`` before this node."""
        if x.graph is not self.graph:
            raise AssertionError("Attempting to move a Node into a different Graph")
        if x is self:
            return
        x._remove_from_list()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Move ``x`` after this node."""
        self._next.prepend(x)

    def _remove_from_list(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev

    def _place(self) -> int:
        return next(i for i, node in enumerate(self.graph.nodes) if node is self)

    def __lt__(self, other: Node) -> bool:
        return self._place() < other._place()

    def __gt__(self, other: Node) -> bool:
        return self._place() > other._place()

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or self > other

    # --- inputs

    @property
    def args(self) -> tuple[Argument, ...]:
        """The positional arguments; assigning others updates the users of all nodes."""
        return self._args

    @args.setter
    def args(self, a: tuple[Argument, ...]) -> None:
        self._set_inputs(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Argument]:
        """The keyword arguments; assigning others updates the users of all nodes."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Argument]) -> None:
        self._set_inputs(self._args, k)

    def _set_inputs(self, args: Any, kwargs: Any) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def note(node: Node) -> Node:
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args = map_arg(tuple(args), note)
        self._kwargs = map_arg(dict(kwargs), note)

    @property
    def all_input_nodes(self) -> list[Node]:
        """All nodes among the arguments, each once, in order."""
        return list(self._input_nodes)

    def update_arg(self, idx: int, arg: Argument) -> None:
        """Replace one positional argument."""
        args = list(self.args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Argument) -> None:
        """Insert a positional argument before the one at ``idx``."""
        if not 0 <= idx <= len(self.args):
            raise AssertionError(f"insert_args index must be between 0 and {len(self.args)}")
        self.args = (*self.args[:idx], arg, *self.args[idx:])

    def update_kwarg(self, key: str, arg: Argument) -> None:
        """Replace or add one keyword argument."""
        self.kwargs = {**self.kwargs, key: arg}

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Use ``new_input`` wherever ``old_input`` is among the arguments."""

        def exchange(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_inputs(map_arg(self.args, exchange), map_arg(self.kwargs, exchange))

    def replace_all_uses_with(
        self,
        replace_with: Node,
        delete_user_cb: Callable[[Node], bool] = lambda user: True,
        *,
        propagate_meta: bool = False,
    ) -> list[Node]:
        """Replace this node by another in all its users; return the users that changed."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("the replacement has meta of its own, which would be lost")
            replace_with.meta.update(self.meta)
        changed = [user for user in self.users if delete_user_cb(user)]
        for user in changed:
            user.replace_input_with(self, replace_with)
        return changed

    def normalized_arguments(
        self,
        root: Any,
        arg_types: Any = None,
        kwarg_types: Any = None,
        normalize_to_only_use_kwargs: bool = False,
    ) -> Any:
        """Return the arguments normalised by the signature of the target, or None."""
        from flambeau.fx import operator_schemas

        if self.op == "call_function":
            return operator_schemas.normalize_function(
                self.target,  # type: ignore[arg-type]
                self.args,
                self.kwargs,
                arg_types,
                kwarg_types,
                normalize_to_only_use_kwargs,
            )
        if self.op == "call_module":
            return operator_schemas.normalize_module(
                root, str(self.target), self.args, self.kwargs, normalize_to_only_use_kwargs
            )
        return None

    # --- properties

    def is_impure(self, impure_random: bool = True) -> bool:
        """Return whether it must stay even if its result is unused."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            name = getattr(self.target, "__name__", "")
            changes_input = name.endswith("_") and not name.endswith("__")
            is_operator = getattr(self.target, "__module__", "") == "_operator"
            if isinstance(self.target, OpOverload) and impure_random:
                changes_input |= self.target.overloadpacket.__name__ in _random_operators()
            return self.target in _side_effectful_functions or (changes_input and not is_operator)
        if self.op == "call_method":
            return str(self.target).endswith("_") and not str(self.target).endswith("__")
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError("the graph needs an owning module to look its modules up")
            return bool(getattr(owner.get_submodule(str(self.target)), "_is_impure", False))
        return False

    @property
    def stack_trace(self) -> str | None:
        """The source location that created it, if that was recorded."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        if isinstance(target, types.BuiltinFunctionType) and target.__module__ == "builtins":
            return f"builtins.{target.__name__}"
        return qualified_name(target).replace("_operator.", "operator.")

    def format_node(
        self,
        placeholder_names: list[str] | None = None,
        maybe_return_typename: list[str] | None = None,
        *,
        include_tensor_metadata: bool = False,
    ) -> str | None:
        """Return one line of text. Names of inputs and the result's type go to given lists."""
        kind = f"{type_name(self.type)} " if self.type else ""
        head = f"%{self.name} : {kind}[num_users={len(self.users)}] = {self.op}"
        target = f"[target={self._pretty_print_target(self.target)}]"
        if self.op == "placeholder":
            if placeholder_names is not None:
                typed = f" : {type_name(self.type)}" if self.type else ""
                placeholder_names.append(f"{self.target}{typed}")
                return None
            default = f"(default={self.args[0]})" if self.args else ""
            return f"{head}{target}{default}"
        if self.op == "get_attr":
            return f"{head}{target}"
        if self.op == "output":
            if self.type and maybe_return_typename:
                maybe_return_typename[0] = f" -> {type_name(self.type)}"
            return f"return {self.args[0]}"
        args, kwargs = format_argument(self.args), format_argument(self.kwargs)
        return f"{head}{target}(args = {args}, kwargs = {kwargs})"

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn else self.name
