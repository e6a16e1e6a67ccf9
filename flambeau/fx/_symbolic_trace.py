"""Symbolic tracing: a program runs on proxies and leaves a graph behind."""

from __future__ import annotations

import builtins
import functools
import inspect
import math
import types
import warnings
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import flambeau as fb
from flambeau import _C, nn
from flambeau.fx._compatibility import compatibility as compatibility
from flambeau.fx.graph import Graph, _PyTreeCodeGen
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Argument, Node, map_aggregate
from flambeau.fx.proxy import ParameterProxy, Proxy, TracerBase
from flambeau.utils import _pytree as pytree

__all__ = ["PH", "Tracer", "is_fx_tracing", "symbolic_trace", "wrap"]


class PHBase:
    """Placeholder in concrete_args for a value that is unknown while tracing."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()

_tracing_depth = 0


def is_fx_tracing() -> bool:
    """Whether a program is being traced now."""
    return _tracing_depth > 0


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


# --- functions that are recorded and not traced

# (module globals, name) of every function that was given to wrap().
_wrapped: dict[tuple[int, str], dict[str, Any]] = {}


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Record calls of a function of this module as one node, instead of tracing into it.

    To be called at the top level of a module.

    Args:
        fn_or_name: The function or its name.

    Returns:
        What it was given.

    Example:
        >>> torch.fx.wrap("len")
        'len'
        >>> graph = torch.fx.symbolic_trace(lambda x: len(x)).graph
        >>> [node.op for node in graph.nodes]
        ['placeholder', 'call_function', 'output']

    See also:
        `fx.symbolic_trace`.
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError(
            f"wrap: expected a function or its name, got {type(fn_or_name).__name__}"
        )
    name = fn_or_name if isinstance(fn_or_name, str) else fn_or_name.__name__
    frame = inspect.currentframe()
    caller = frame.f_back if frame else None
    if caller is None or caller.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    _wrapped[id(caller.f_globals), name] = caller.f_globals
    return fn_or_name


def _recorder(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, or a node if one of its arguments is a proxy."""

    @functools.wraps(function)
    def recorded(*args: Any, **kwargs: Any) -> Any:
        proxy = _find_proxy((args, kwargs))
        if proxy is None:
            return function(*args, **kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return recorded


def _find_proxy(arguments: Any) -> Proxy | None:
    found: list[Proxy] = []

    def note(value: Any) -> Any:
        if isinstance(value, Proxy):
            found.append(value)
        return value

    map_aggregate(arguments, note)
    return found[0] if found else None


@contextmanager
def _replaced(space: dict[str, Any], name: str, value: Any) -> Iterator[None]:
    """Replace an entry of a dictionary temporarily."""
    missing = object()
    previous = space.get(name, missing)
    space[name] = value
    try:
        yield
    finally:
        if previous is missing:
            del space[name]
        else:
            space[name] = previous


# --- the tracer


class Tracer(TracerBase):
    """Turns a module or function into a graph; subclasses decide what is recorded as one node."""

    def __init__(
        self,
        autowrap_modules: tuple[types.ModuleType, ...] = (math,),
        autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:
        super().__init__()
        self._fb_autowrapped = {
            value
            for module in autowrap_modules
            for name, value in module.__dict__.items()
            if not name.startswith("_") and callable(value)
        } | set(autowrap_functions)
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths = None
        self.root_module_name: str = ""
        self.tensor_attrs = {}
        self.module_stack: dict[str, Any] = {}

    root: nn.Module
    submodule_paths: dict[nn.Module, str] | None
    tensor_attrs: dict[Any, str]

    # --- methods for subclasses to override

    def is_leaf_module(self, m: nn.Module, module_qualified_name: str) -> bool:
        """Return whether calls of a module are one node: those of torch.nn, except containers."""
        own = m.__module__.startswith(("flambeau.nn", "torch.nn", "flambeau.ao.nn"))
        return own and not isinstance(m, nn.Sequential)

    def path_of_module(self, mod: nn.Module) -> str:
        """Return the path of a module below the root, such as ``layers.0.conv``."""
        if self.submodule_paths is not None and mod in self.submodule_paths:
            return self.submodule_paths[mod]
        for name, module in self.root.named_modules():
            if module is mod:
                return name
        raise NameError("module is not installed as a submodule")

    def call_module(
        self,
        m: nn.Module,
        forward: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> Any:
        """Handle a call of a module: a node for leaves, else the call itself."""
        path = self.path_of_module(m)
        if not self.is_leaf_module(m, path):
            return forward(*args, **kwargs)
        return self.create_proxy("call_module", path, args, kwargs)

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """Handle an attribute access of a module: parameters become nodes."""
        if isinstance(attr_val, nn.Parameter):
            return self._fb_member_proxy(
                attr_val, self.root.named_parameters(), parameter_proxy_cache
            )
        if self.proxy_buffer_attributes and isinstance(attr_val, fb.Tensor):
            return self._fb_member_proxy(attr_val, self.root.named_buffers(), parameter_proxy_cache)
        return attr_val

    def _fb_member_proxy(self, value: Any, members: Any, cache: dict[str, Any]) -> Any:
        for name, member in members:
            if member is not value:
                continue
            if name not in cache:
                factory = None
                if self.param_shapes_constant:
                    factory = functools.partial(self._fb_shaped, name, value)
                cache[name] = self.create_proxy("get_attr", name, (), {}, proxy_factory_fn=factory)
            return cache[name]
        return value

    def _fb_shaped(self, name: str, param: fb.Tensor, node: Node) -> Proxy:
        return ParameterProxy(self, node, name, param)

    def create_arg(self, a: Any) -> Argument:
        """Turn a value of the program into an argument of a node; tensors become attributes."""
        if isinstance(a, nn.Parameter):
            for name, parameter in self.root.named_parameters():
                if parameter is a:
                    return self.create_node("get_attr", name, (), {})
            raise NameError("parameter is not a member of this module")
        if isinstance(a, fb.Tensor):
            return self._fb_tensor_node(a)
        if isinstance(a, nn.Module):
            return self.create_node("get_attr", self.path_of_module(a), (), {})
        return super().create_arg(a)

    def _fb_tensor_node(self, tensor: fb.Tensor) -> Node:
        for name, buffer in self.root.named_buffers():
            if buffer is tensor:
                return self.create_node("get_attr", name, (), {})
        if tensor not in self.tensor_attrs:
            number = 0
            while hasattr(self.root, f"_tensor_constant{number}"):
                number += 1
            self.tensor_attrs[tensor] = f"_tensor_constant{number}"
            setattr(self.root, f"_tensor_constant{number}", tensor)
        return self.create_node("get_attr", self.tensor_attrs[tensor], (), {})

    # --- the run

    def trace(
        self,
        root: nn.Module | Callable[..., Any],
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> Graph:
        """Run ``root`` on proxies; inputs in ``concrete_args`` are the values given there."""
        global _tracing_depth
        is_module = isinstance(root, nn.Module)
        fn = self._fb_set_root(root)
        self.graph: Graph = Graph(tracer_cls=type(self))
        _tracing_depth += 1
        try:
            with ExitStack() as stack:
                run, args = self.create_args_for_root(fn, is_module, concrete_args)
                self._fb_watch(stack, fn)
                result = run(*args)
            if isinstance(self.graph._codegen, _PyTreeCodeGen):
                result, self.graph._codegen.out_spec = pytree.tree_flatten(result)
            returned = getattr(fn, "__annotations__", {}).get("return")
            self.create_node("output", "output", (self.create_arg(result),), {}, None, returned)
        finally:
            _tracing_depth -= 1
            self.submodule_paths = None
        return self.graph

    def _fb_set_root(self, root: Any) -> Callable[..., Any]:
        if not isinstance(root, nn.Module):
            self.root = nn.Module()
            self.root_module_name = ""
            return root  # type: ignore[no-any-return]
        self.root = root
        self.root_module_name = type(root).__name__
        self.submodule_paths = {module: name for name, module in root.named_modules()}
        self.tensor_attrs = {
            value: f"{path}.{name}" if path else name
            for path, module in root.named_modules()
            for name, value in module.__dict__.items()
            if isinstance(value, fb.Tensor)
        }
        # The class's method: hooks of the root are not part of the graph.
        return _forward_of(root, self.traced_func_name)

    def _fb_watch(self, stack: ExitStack, fn: Callable[..., Any]) -> None:
        """Let modules, attribute accesses and wrapped functions report to the tracer."""
        cache: dict[str, Any] = {}
        call = nn.Module.__call__

        def watched_call(mod: nn.Module, *args: Any, **kwargs: Any) -> Any:
            def forward(*given: Any, **named: Any) -> Any:
                return call(mod, *given, **named)

            self._fb_autowrap(stack, getattr(mod.forward, "__globals__", None))
            return self.call_module(mod, forward, args, kwargs)

        def watched_member(module: Any, name: str, value: Any) -> Any:
            return self.getattr(name, value, cache)

        setattr(nn.Module, "__call__", watched_call)  # noqa: B010
        stack.callback(delattr, nn.Module, "__call__")
        previous = _C._set_module_member_hook(watched_member)
        stack.callback(_C._set_module_member_hook, previous)
        for (_, name), space in list(_wrapped.items()):
            function = space.get(name, getattr(builtins, name, None))
            if function is not None:
                stack.enter_context(_replaced(space, name, _recorder(function)))
        for module in self._autowrap_search:
            self._fb_autowrap(stack, module.__dict__)
        self._fb_autowrap(stack, getattr(inspect.unwrap(fn), "__globals__", None))

    def _fb_autowrap(self, stack: ExitStack, space: dict[str, Any] | None) -> None:
        for name, value in list((space or {}).items()):
            if isinstance(value, _HASHABLE_FUNCTIONS) and value in self._fb_autowrapped:
                stack.enter_context(_replaced(space or {}, name, _recorder(value)))

    # --- inputs

    def create_args_for_root(
        self,
        root_fn: Callable[..., Any],
        is_module: bool,
        concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
    ) -> tuple[Callable[..., Any], list[Any]]:
        """Make the inputs; return them with a function that takes all of them by position."""
        parameters = _in_code_order(root_fn)[1 if is_module else 0 :]
        concrete = _by_name(concrete_args, parameters)
        values = {
            p.name: self._fb_create_known_input(p, concrete[p.name])
            if p.name in concrete
            else self._fb_create_input(p)
            for p in parameters
        }
        if any(isinstance(value, (dict, list, tuple)) for value in concrete.values()):
            shapes = [concrete.get(name, PH) for name in values]
            self.graph.set_codegen(_PyTreeCodeGen(list(values), pytree.tree_flatten(shapes)[1]))
        args = [*([self.root] if is_module else []), *values.values()]
        if any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
            return _without_stars(root_fn), args
        named = [p.name for p in parameters if p.kind is p.KEYWORD_ONLY]
        return (_by_position(root_fn, len(args) - len(named), named) if named else root_fn), args

    def _fb_create_input(self, parameter: inspect.Parameter) -> Proxy:
        stars: dict[Any, str] = {parameter.VAR_POSITIONAL: "*", parameter.VAR_KEYWORD: "**"}
        has_default = parameter.default is not parameter.empty
        return self.create_proxy(
            "placeholder",
            f"{stars.get(parameter.kind, '')}{parameter.name}",
            (parameter.default,) if has_default else (),
            {},
            type_expr=None if parameter.annotation is parameter.empty else parameter.annotation,
        )

    def _fb_create_known_input(self, parameter: inspect.Parameter, value: Any) -> Any:
        leaves, shape = pytree.tree_flatten(value)
        made = []
        for number, leaf in enumerate(leaves, start=1):
            proxy = self.create_proxy("placeholder", f"{parameter.name}_{number}", (), {})
            if isinstance(leaf, PHBase):
                made.append(proxy)
            else:
                self._fb_check_known_input(parameter.name, proxy, leaf)
                made.append(leaf)
        return pytree.tree_unflatten(made, shape)

    def _fb_check_known_input(self, name: str, proxy: Proxy, value: Any) -> None:
        text = f"{name} has been specialized to have value {value} but got another value"
        if value is None:
            self.create_proxy("call_function", _assert_is_none, (proxy, text), {})
        elif isinstance(value, (bool, int, float, str)):
            is_same: Any = proxy.__eq__(value)
            self.create_proxy("call_function", fb._assert, (is_same, text), {})
        else:
            warnings.warn(
                f"the graph cannot check that it is given the same {name} as when it was traced; "
                "that is up to the caller",
                stacklevel=2,
            )


_HASHABLE_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)


def _by_name(concrete: Any, parameters: list[inspect.Parameter]) -> dict[str, Any]:
    """Values of inputs by their names; a tuple has one for each."""
    if not isinstance(concrete, tuple):
        return concrete or {}
    if len(concrete) != len(parameters):
        raise RuntimeError(
            f"Tracing expected {len(parameters)} arguments but got {len(concrete)} concrete "
            "arguments"
        )
    return {p.name: value for p, value in zip(parameters, concrete, strict=True)}


def _by_position(fn: Callable[..., Any], count: int, named: list[str]) -> Callable[..., Any]:
    """The function with its keyword arguments after the ``count`` positional ones."""

    def call(*args: Any) -> Any:
        return fn(*args[:count], **dict(zip(named, args[count:], strict=True)))

    return call


def _in_code_order(fn: Callable[..., Any]) -> list[inspect.Parameter]:
    """The parameters, with *args and **kwargs last."""
    parameters = list(inspect.signature(fn).parameters.values())
    return sorted(parameters, key=lambda p: (p.VAR_POSITIONAL, p.VAR_KEYWORD).count(p.kind))


def _without_stars(fn: Any) -> Callable[..., Any]:
    """The function with *args and **kwargs as two ordinary arguments."""
    plain = inspect.unwrap(fn)
    code = plain.__code__
    stars = inspect.CO_VARARGS | inspect.CO_VARKEYWORDS
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    plain_code = code.replace(
        co_flags=code.co_flags & ~stars,
        co_argcount=count,
        co_kwonlyargcount=0,
        co_posonlyargcount=0,
    )
    return types.FunctionType(
        plain_code, plain.__globals__, plain.__name__, plain.__defaults__, plain.__closure__
    )


def _forward_of(root: nn.Module, name: str) -> Callable[..., Any]:
    if not hasattr(type(root), name):
        raise AssertionError(f"{type(root).__name__} has no method {name!r} to be traced")
    return getattr(type(root), name)  # type: ignore[no-any-return]


def symbolic_trace(
    root: nn.Module | Callable[..., Any],
    concrete_args: dict[str, Any] | tuple[Any, ...] | None = None,
) -> GraphModule:
    """Record what a module or function does as a graph that can be read and changed.

    Args:
        root: Module or function; it is run on proxies.
        concrete_args: Inputs that are fixed while tracing. Default: none.

    Returns:
        An `fx.GraphModule`.

    Example:
        >>> traced = torch.fx.symbolic_trace(lambda x: torch.relu(x) + 1)
        >>> [node.name for node in traced.graph.nodes]
        ['x', 'relu', 'add', 'output']
        >>> traced(torch.tensor([-1.0, 2.0]))
        tensor([1., 3.])

    See also:
        `fx.Tracer`, `torch.export.export`.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = type(root).__name__ if isinstance(root, nn.Module) else root.__name__
    return GraphModule(tracer.root, graph, name)
