"""Recording a program by running it: every operator on traced tensors becomes a node."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau._core.overriding import OVERRIDABLE
from flambeau._dynamo.exc import UserError
from flambeau._ops import OpOverload
from flambeau._traced_int import TracedInt, plain
from flambeau.export._targets import recorded_call
from flambeau.fx.graph import Graph
from flambeau.fx.node import Node, map_aggregate
from flambeau.overrides import TorchFunctionMode, resolve_name

# Questions about a tensor that are answered while recording.
METADATA = {"dim", "ndimension", "is_floating_point", "is_complex", "is_contiguous", "stride"}
METADATA |= {"element_size", "get_device", "storage_offset", "is_set_to", "is_signed", "is_pinned"}
_VIEWS = {"T", "mT", "H", "mH", "real", "imag", "data"}
# Ways to look at elements, on which the course of a program could depend.
ELEMENTS = {"__bool__", "item", "__int__", "__float__", "__index__", "tolist", "numpy"}
ELEMENTS |= {"__contains__", "__complex__", "__array__"}


class Recorder(TorchFunctionMode):
    """Runs a program on tensors and writes down what it does with them."""

    def __init__(self, graph: Graph, traces_sizes: bool) -> None:
        super().__init__()
        self.graph = graph
        self.traces_sizes = traces_sizes
        self.nodes: dict[int, Node] = {}
        self.sized: set[int] = set()  # tensors whose sizes may differ
        self.constants: dict[str, Tensor] = {}
        self._kept: list[Any] = []  # so that no id is used twice

    def know(self, tensor: Tensor, node: Node, is_sized: bool) -> None:
        """Let a node stand for a tensor from now on."""
        self.nodes[id(tensor)] = node
        self._kept.append(tensor)
        if is_sized:
            self.sized.add(id(tensor))
        node.meta["val"] = without_elements(tensor)

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        tensor = args[0] if args and isinstance(args[0], Tensor) else None
        if tensor is not None:
            answer = self._metadata(func, tensor, args, kwargs)
            if answer is not NotImplemented:
                return answer
        if func in OVERRIDABLE:
            # Written in Python, which files may not call: its parts are recorded.
            with self:
                return func.__wrapped__(*args, **kwargs)  # type: ignore[attr-defined]
        return self._record(func, args, kwargs)

    def _metadata(self, func: Any, tensor: Tensor, args: Any, kwargs: Any) -> Any:
        """Shape, dtype and the like are known; NotImplemented for what is computed."""
        name = getattr(func, "__name__", "")
        if name in ELEMENTS and id(tensor) in self.nodes:
            raise UserError(
                f"export: the program looks at the elements of a tensor (Tensor.{name}), so what "
                "it does next may depend on them, and a graph cannot follow; use torch.where or "
                "masks, or move that part out of the exported module"
            )
        if name in ("__get__", "__set__"):
            attribute = func.__self__.__name__
            if attribute == "shape":
                return self._shape(tensor)
            return NotImplemented if attribute in _VIEWS else func(*args, **kwargs)
        if name == "size":
            shape = self._shape(tensor)
            wanted = args[1] if len(args) > 1 else kwargs.get("dim")
            return shape if wanted is None else shape[wanted]
        if name in ("numel", "nelement"):
            total: Any = 1
            for size in self._shape(tensor):
                total = size * total
            return total
        if name == "__len__":
            return int(self._shape(tensor)[0])  # which is noted
        is_metadata = name in METADATA or name.startswith("is_")
        return func(*args, **kwargs) if is_metadata else NotImplemented

    def _shape(self, tensor: Tensor) -> Any:
        shape = tensor.shape
        if not self.traces_sizes or id(tensor) not in self.sized:
            return shape
        node = self.nodes[id(tensor)]
        size_of = fb.ops.aten.sym_size.int
        return fb.Size(
            [
                TracedInt.of(
                    size, self.graph.call_function(size_of, (node, i)), self.graph.call_function
                )
                for i, size in enumerate(shape)
            ]
        )

    def _record(self, func: Any, args: Any, kwargs: Any) -> Any:
        target, node_args, node_kwargs = recorded_call(func, args, kwargs)
        result = self._run(func, args, kwargs)
        node = self.graph.call_function(
            target,
            self._argument(tuple(node_args)),
            self._argument(dict(node_kwargs)),
            name=target.overloadpacket.__name__ if isinstance(target, OpOverload) else None,
        )
        is_sized = any(id(t) in self.sized for t in _tensors((args, kwargs)))
        is_sized = is_sized or _has_traced((args, kwargs))
        return self._note(result, node, is_sized)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        with _C.DisableTorchFunctionSubclass():
            return func(*map_aggregate(args, plain), **map_aggregate(kwargs, plain))

    def _note(self, result: Any, node: Node, is_sized: bool) -> Any:
        """Let the results of a call have nodes."""
        if isinstance(result, Tensor):
            self.know(result, node, is_sized)
        elif isinstance(result, (tuple, list)):
            for i, item in enumerate(result):
                if isinstance(item, Tensor):
                    part = self.graph.call_function(operator.getitem, (node, i))
                    self.know(item, part, is_sized)
        elif result is not None:
            raise NotImplementedError(
                f"export: {resolve_name(node.target) or node.target} returned "  # type: ignore[arg-type]
                f"{type(result).__name__}, which a graph cannot carry on with"
            )
        return result

    def _argument(self, value: Any) -> Any:
        return map_aggregate(value, self._leaf)

    def _leaf(self, value: Any) -> Any:
        if isinstance(value, TracedInt):
            return value.origin
        if not isinstance(value, Tensor):
            return value
        if id(value) not in self.nodes:
            self._lift(value)
        return self.nodes[id(value)]

    def _lift(self, tensor: Tensor) -> None:
        """A tensor that comes from elsewhere becomes an input that is the same in every call."""
        name = f"lifted_tensor_{len(self.constants)}"
        first = next(iter(self.graph.nodes), None)
        with self.graph.inserting_before(first):
            node = self.graph.placeholder(f"c_{name}")
        self.constants[name] = tensor.detach()
        self.know(tensor, node, False)


def without_elements(tensor: Tensor) -> Tensor:
    """A tensor that has the shape and type of another, but no memory."""
    with _C.DisableTorchFunction():
        return fb.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype, device="meta")


def _leaves(value: Any) -> list[Any]:
    found: list[Any] = []
    map_aggregate(value, found.append)
    return found


def _tensors(value: Any) -> list[Tensor]:
    return [leaf for leaf in _leaves(value) if isinstance(leaf, Tensor)]


def _has_traced(value: Any) -> bool:
    return any(isinstance(leaf, TracedInt) for leaf in _leaves(value))
