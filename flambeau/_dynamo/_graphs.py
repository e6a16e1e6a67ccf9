"""Functions as graphs for a backend of the program's own: ``torch.compile(f, backend=g)``.

A function is traced symbolically in every call, so that nothing which it depends on can change
unseen. ``g(graph_module, example_inputs)`` is called once for each graph and kind of inputs; what
it returns is run. What is not one graph (branches on elements, ``backward()``, switched modes)
runs eagerly instead.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import Tensor, nn
from flambeau._dynamo import config
from flambeau._dynamo.exc import BackendCompilerFailed, FailOnRecompileLimitHit, Unsupported
from flambeau._limits.accepted import accepted
from flambeau.compiler._stance import is_forced_eager
from flambeau.fx._symbolic_trace import Tracer
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Node
from flambeau.fx.proxy import Proxy
from flambeau.overrides import TorchFunctionMode
from flambeau.utils._pytree import TreeSpec, tree_flatten, tree_leaves, tree_unflatten

__all__: list[str] = []

# Questions about a tensor that are answered while a function is traced.
_QUESTIONS = {"dim", "ndimension", "is_floating_point", "is_complex", "is_contiguous", "stride"}
_QUESTIONS |= {"element_size", "get_device", "storage_offset", "is_set_to", "is_signed"}
_QUESTIONS |= {"is_pinned", "__get__", "size", "numel", "nelement"}
# Ways to look at elements, on which the course of a program could depend.
_ELEMENTS = {"__bool__", "item", "__int__", "__float__", "__index__", "tolist", "numpy"}
_ELEMENTS |= {"__contains__", "__complex__", "__array__"}


class Plan(NamedTuple):
    """How functions are given to a backend."""

    backend: Callable[..., Any]
    arguments: dict[str, Any]  # of the backend, beside graph and inputs
    fullgraph: bool
    dynamic: bool | None
    limit: int | None


class _Traced(NamedTuple):
    """A function as a graph, the members it reads, and the shape of its result."""

    root: nn.Module
    graph: Graph
    out_spec: TreeSpec

    def key(self) -> tuple[Any, ...]:
        """Equal for graphs that do the same with the same members."""
        members = [*self.root.modules(), *self.root.parameters(), *self.root.buffers()]
        nodes = [(n.op, n.target, repr(n.args), repr(n.kwargs)) for n in self.graph.nodes]
        return tuple(nodes), tuple(map(id, members[1:]))


class GraphFunction:
    """A function whose graphs a backend compiles."""

    def __init__(self, function: Callable[..., Any], plan: Plan) -> None:
        self.function = function
        self.plan = plan
        self._compiled: dict[Any, tuple[_Traced, Callable[..., Any]]] = {}
        self._is_eager = False

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self._is_eager or is_forced_eager():
            return self.function(*args, **kwargs)
        run = self._prepared(args, kwargs)
        if run is None:
            self._is_eager = True
            return self.function(*args, **kwargs)
        return run()

    def _prepared(self, args: Any, kwargs: Any) -> Callable[[], Any] | None:
        """What computes a call by the backend; None if the call has to be eager."""
        leaves, in_spec = tree_flatten((args, kwargs))
        inputs = [leaf for leaf in leaves if isinstance(leaf, Tensor)]
        traced = self._traced(leaves, in_spec)
        key = traced and (traced.key(), _kinds(inputs, self.plan.dynamic), fb.is_grad_enabled())
        if traced is None or (key not in self._compiled and not self._may_compile()):
            return None
        if key not in self._compiled:
            made = self._from_backend(traced, inputs)
            if made is None:
                return None
            self._compiled[key] = (traced, made)  # which keeps the members, known by their ids
        compiled = self._compiled[key][1]
        return lambda: tree_unflatten(list(compiled(*inputs)), traced.out_spec)

    def _traced(self, leaves: list[Any], in_spec: TreeSpec) -> _Traced | None:
        state = fb.get_rng_state()
        try:
            return _trace(self.function, leaves, in_spec)
        except Exception as error:
            fb.set_rng_state(state)
            if self.plan.fullgraph:
                raise Unsupported(f"compile: the function is not one graph: {error}") from error
            accepted("torch.compile(backend)", stacklevel=4)
            return None

    def _may_compile(self) -> bool:
        limit = config.recompile_limit if self.plan.limit is None else self.plan.limit  # type: ignore[attr-defined]
        if len(self._compiled) < limit:
            return True
        if self.plan.fullgraph:
            raise FailOnRecompileLimitHit(f"compile: {limit} graphs were compiled, no more may be")
        return False

    def _from_backend(self, traced: _Traced, inputs: list[Tensor]) -> Callable[..., Any] | None:
        module = GraphModule(traced.root, traced.graph)
        try:
            made = self.plan.backend(module, inputs, **self.plan.arguments)
        except Exception as error:
            if config.suppress_errors:  # type: ignore[attr-defined]
                return None
            name = getattr(self.plan.backend, "__name__", repr(self.plan.backend))
            raise BackendCompilerFailed(f"backend={name!r} raised:\n{error!r}") from error
        if not callable(made):
            raise BackendCompilerFailed(
                f"compile: expected the backend to return a function, got {type(made).__name__}"
            )
        return made  # type: ignore[no-any-return]


def _kinds(inputs: list[Tensor], dynamic: bool | None) -> tuple[Any, ...]:
    """What example inputs tell a backend."""
    return tuple(
        (t.dim() if dynamic else tuple(t.shape), t.dtype, t.requires_grad, type(t)) for t in inputs
    )


def _trace(function: Callable[..., Any], leaves: list[Any], in_spec: TreeSpec) -> _Traced:
    tracer = _GraphTracer()

    def flat(*proxies: Any) -> Any:
        given = iter(proxies)
        filled = [next(given) if isinstance(leaf, Tensor) else leaf for leaf in leaves]
        args, kwargs = tree_unflatten(filled, in_spec)
        with _Watch(tracer):
            result, tracer.out_spec = tree_flatten(function(*args, **kwargs))
        return tuple(result)

    names = [f"arg{number}" for number, leaf in enumerate(leaves) if isinstance(leaf, Tensor)]
    graph = tracer.trace_flat(flat, names)
    return _Traced(tracer.root, graph, tracer.out_spec)


class _GraphTracer(Tracer):
    """Traces a function, whatever it reaches: modules and tensors become members of a new root."""

    out_spec: TreeSpec

    def trace_flat(self, flat: Callable[..., Any], names: list[str]) -> Graph:
        """The graph of a function of so many tensors."""
        self._modes = _modes()
        arguments = ", ".join(names)
        function = eval(f"lambda {arguments}: flat({arguments})", {"flat": flat})
        graph = self.trace(function)
        for module in self.root.modules():
            if any(isinstance(value, Proxy) for value in vars(module).values()):
                raise Unsupported("a module keeps a result of the function")
        return graph

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        return attr_val

    def path_of_module(self, mod: nn.Module) -> str:
        for name, module in self.root.named_modules():
            if module is mod and name:
                return name
        name = f"{type(mod).__name__.lower()}_{len(self.root._modules)}"
        self.root.add_module(name, mod)
        return name

    def proxy(self, node: Node) -> Proxy:
        return _TensorProxy(node, self) if _is_tensor(node) else Proxy(node, self)

    def create_arg(self, a: Any) -> Any:
        if isinstance(a, Tensor) and not isinstance(a, Proxy):
            return self._member(a)
        return a.node if isinstance(a, Proxy) else super().create_arg(a)

    def _member(self, tensor: Tensor) -> Node:
        members = [*self.root.named_parameters(), *self.root.named_buffers()]
        name = next((name for name, member in members if member is tensor), None)
        if name is None:
            name = f"tensor_{len(self.root._parameters) + len(self.root._buffers)}"
            if isinstance(tensor, nn.Parameter):
                self.root.register_parameter(name, tensor)
            else:
                self.root.register_buffer(name, tensor, persistent=False)
        return self.create_node("get_attr", name, (), {})

    def create_node(self, kind: str, target: Any, *args: Any, **kwargs: Any) -> Node:
        if _modes() != self._modes:
            raise Unsupported("the function switches the recording of gradients or autocast")
        if target in ("backward", fb.autograd.backward):
            raise Unsupported("the function calls backward()")
        return super().create_node(kind, target, *args, **kwargs)


class _TensorProxy(Proxy):
    """Stands for a tensor, and is one to a program that asks."""

    __class__ = property(lambda self: Tensor)


def _is_tensor(node: Node) -> bool:
    """Whether a node is a tensor, as most are, and not a size or another answer about one."""
    if node.target in _QUESTIONS or node.target is getattr:
        return False
    is_arithmetic = getattr(node.target, "__module__", "") == "_operator"
    return not is_arithmetic or any(map(_is_tensor, node.all_input_nodes))


class _Watch(TorchFunctionMode):
    """Makes nodes of operators on tensors that are no inputs, too: nothing runs while tracing."""

    def __init__(self, tracer: _GraphTracer) -> None:
        super().__init__()
        self.tracer = tracer

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        name = getattr(func, "__name__", "")
        if any(isinstance(leaf, Proxy) for leaf in tree_leaves((args, kwargs))):
            return func(*args, **kwargs)
        if name in _ELEMENTS:
            raise Unsupported(f"the function looks at the elements of a tensor (Tensor.{name})")
        if name in _QUESTIONS or name.startswith("is_"):
            return func(*args, **kwargs)
        return self.tracer.create_proxy("call_function", func, args, kwargs)


def _modes() -> tuple[Any, ...]:
    autocast = [
        fb.is_autocast_enabled(kind) and fb.get_autocast_dtype(kind) for kind in ("cpu", "cuda")
    ]
    return fb.is_grad_enabled(), fb.is_inference_mode_enabled(), autocast
