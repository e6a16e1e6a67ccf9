"""Proxies: stand-ins for the values of a program while it is traced; using one adds a node."""

from __future__ import annotations

import dis
import enum
import inspect
import linecache
import operator
import types
from collections.abc import Callable, Iterator
from typing import Any

import flambeau as fb
from flambeau.fx import traceback
from flambeau.fx._calling import canonical_call
from flambeau.fx.graph import Graph
from flambeau.fx.node import Argument, Node, Target, base_types, map_aggregate
from flambeau.overrides import is_tensor_method_or_property

__all__ = ["Attribute", "GraphAppendingTracer", "Proxy", "TraceError", "TracerBase"]


class TraceError(ValueError):
    """The program did something with a traced value that cannot be recorded."""


def _user_line() -> str:
    """The line of the user's program that is being run; empty if there is none."""
    frame = inspect.currentframe()
    while frame is not None:
        module = frame.f_globals.get("__name__", "")
        if not module.startswith("flambeau.") and module != "contextlib":
            code = frame.f_code
            source = linecache.getline(code.co_filename, frame.f_lineno).strip()
            return f'\n  File "{code.co_filename}", line {frame.f_lineno}: {source}'
        frame = frame.f_back
    return ""


class TracerBase:
    """Base of tracers: makes nodes from arguments, and proxies for nodes."""

    graph: Graph
    record_stack_traces = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Argument, ...],
        kwargs: dict[str, Argument],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Add a node to the graph."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        traceback.note_on(node)
        if self.record_stack_traces:
            node.stack_trace = _user_line().strip()
        return node

    def proxy(self, node: Node) -> Proxy:
        """The object that stands for a node while the program is traced."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Add a node for a call with proxies, and return the proxy of its result."""
        node_args = self.create_arg(args)
        node_kwargs = self.create_arg(kwargs)
        node = self.create_node(kind, target, node_args, node_kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Argument:
        """Turn a value that contains proxies into one that contains their nodes."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(item) for item in a]
            return type(a)(*items) if hasattr(a, "_fields") else tuple(items)
        if isinstance(a, list):
            return [self.create_arg(item) for item in a]
        if isinstance(a, dict):
            return {self._fb_key(key): self.create_arg(value) for key, value in a.items()}
        if isinstance(a, slice):
            return slice(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if isinstance(a, range):
            return range(*(self.create_arg(part) for part in (a.start, a.stop, a.step)))
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        if isinstance(a, (types.FunctionType, types.BuiltinFunctionType, type)):
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _fb_key(self, key: Any) -> Any:
        made = self.create_arg(key)
        if isinstance(made, Node):
            raise RuntimeError(f"a key of a dictionary in the graph cannot be computed; got {made}")
        return made

    def to_bool(self, obj: Proxy) -> bool:
        """Handle a branch on a proxy; subclasses may know the answer."""
        raise TraceError(
            "symbolically traced variables cannot be used as inputs to control flow" + _user_line()
        )

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Handle iteration over a proxy; subclasses may know its items."""
        raise TraceError(
            "Proxy object cannot be iterated: how often a loop runs, or how many arguments "
            "*args stands for, is not known while tracing. Unpacking into a fixed number of names "
            "can be recorded." + _user_line()
        )

    def keys(self, obj: Proxy) -> Any:
        """Handle a request for the keys of a proxy, as in ``**kwargs``."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Appends to an existing graph."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph


def _unpacked_count(frame: types.FrameType | None) -> int | None:
    """Return how many names a frame's current instruction unpacks to; None if it does not."""
    if frame is None:
        return None
    for instruction in dis.get_instructions(frame.f_code):
        if instruction.offset == frame.f_lasti:
            is_unpacking = instruction.opname == "UNPACK_SEQUENCE"
            return int(instruction.argval) if is_unpacking else None
    return None


class Proxy:
    """Stands for a value of the program; operators, methods and functions on it add nodes."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer: TracerBase | GraphAppendingTracer = (
            tracer if tracer is not None else GraphAppendingTracer(node.graph)
        )
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        return Attribute(self, k)

    def __deepcopy__(self, memo: Any) -> Any:
        raise TraceError("a traced value cannot be copied; use clone()" + _user_line())

    def __getstate__(self) -> Any:
        raise TraceError("a traced value cannot be pickled" + _user_line())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        calling = inspect.currentframe()
        count = _unpacked_count(calling.f_back if calling else None)
        if count is not None:
            return iter([operator.getitem(self, i) for i in range(count)])
        return self.tracer.iter(self)

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be "
            "recorded, please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls, orig_method: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        tracer = _tracer_of((args, kwargs))
        if is_tensor_method_or_property(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs or {})
        kind, target, args, kwargs = canonical_call(orig_method, args, kwargs or {})
        return tracer.create_proxy(kind, target, args, kwargs)


def _tracer_of(arguments: Any) -> TracerBase:
    """The tracer of the proxies among the arguments."""
    found: dict[TracerBase, None] = {}

    def note(value: Any) -> Any:
        if isinstance(value, Proxy):
            found.setdefault(value.tracer)
        return value

    map_aggregate(arguments, note)
    if len(found) > 1:
        raise RuntimeError("the arguments of a call belong to different traces")
    return next(iter(found))


class Attribute(Proxy):
    """An attribute of a proxy: a method to be called, or a node once it is used."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer: TracerBase | GraphAppendingTracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        # A method that is called right away needs no node of its own.
        if self._node is None:
            made = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {})
            self._node = made.node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """A parameter, whose shape and dtype are known while tracing."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: fb.Tensor) -> None:
        super().__init__(node, tracer)
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        return self.param.shape

    @property
    def ndim(self) -> int:
        return self.param.ndim

    def size(self, *args: Any) -> Any:
        return self.param.size(*args)

    def dim(self) -> int:
        return self.param.dim()

    def numel(self) -> int:
        return self.param.numel()

    def nelement(self) -> int:
        return self.param.numel()


# --- operators

_ARITHMETIC = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_BITWISE = ("lshift", "rshift", "and_", "or_", "xor")
_OTHERS = ("eq", "ne", "lt", "gt", "le", "ge", "getitem", "neg", "pos", "invert")


def _operator_method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Proxy, *args: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (self, *args), {})

    return method


def _reflected_method(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Proxy, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", function, (other, self), {})

    return method


for _name in (*_ARITHMETIC, *_BITWISE, *_OTHERS):
    _function = getattr(operator, _name)
    setattr(Proxy, f"__{_name.rstrip('_')}__", _operator_method(_function))
for _name in (*_ARITHMETIC, *_BITWISE):
    _function = getattr(operator, _name)
    setattr(Proxy, f"__r{_name.rstrip('_')}__", _reflected_method(_function))
# Defining == removes Python's hash.
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]
