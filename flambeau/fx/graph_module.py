"""Modules whose forward is generated from a graph."""

from __future__ import annotations
import __future__

import copy
import itertools
import linecache
from pathlib import Path
from typing import Any

import flambeau as fb
from flambeau import nn
from flambeau.fx._codegen import PythonCode
from flambeau.fx._naming import IMPORTS
from flambeau.fx.graph import Graph, _PyTreeCodeGen
from flambeau.fx.node import Node
from flambeau.nn.modules._yielding import has_attribute

__all__ = ["GraphModule"]

_numbers = itertools.count()


def _compiled_forward(code: PythonCode) -> Any:
    """The function that generated code defines; tracebacks show its lines."""
    name = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[name] = (len(code.src), None, code.src.splitlines(keepends=True), name)
    space = dict(code.globals)
    # Annotations are for readers: the names in them need not exist where the code runs.
    exec(compile(code.src, name, "exec", __future__.annotations.compiler_flag), space)
    return space["forward"]


def _copy_attribute(source: nn.Module, target: nn.Module, path: str) -> None:
    """Copy the attribute of ``source`` at a path to ``target``, with empty modules on the way."""
    *prefix, last = path.split(".")
    for part in prefix:
        inner = getattr(source, part)
        if getattr(target, part, None) is inner:
            return  # the whole module is there already
        if not has_attribute(target, part):
            setattr(target, part, nn.Module())
        source, target = inner, getattr(target, part)
    value = getattr(source, last)
    if isinstance(value, fb.Tensor) and not isinstance(value, nn.Parameter):
        persistent = last not in getattr(source, "_non_persistent_buffers_set", ())
        target.register_buffer(last, value, persistent)
    else:
        setattr(target, last, value)


def _assign_attribute(value: Any, target: nn.Module, path: str) -> None:
    """Set an attribute at a path, with empty modules on the way."""
    *prefix, last = path.split(".")
    for part in prefix:
        if not has_attribute(target, part):
            setattr(target, part, nn.Module())
        target = getattr(target, part)
    if isinstance(value, fb.Tensor) and not isinstance(value, nn.Parameter):
        target.register_buffer(last, value)
    else:
        setattr(target, last, value)


class GraphModule(nn.Module):
    """Module whose `forward` is written from a graph.

    After a change of `graph`, call `recompile()`.

    Args:
        root: Module, or dict from paths to values, with the submodules, parameters and buffers that
            the graph uses.
        graph: The graph.
        class_name: Name of its class. Default: `"GraphModule"`.

    Attributes:
        graph: The graph.
        code: `forward` as Python text.

    Example:
        >>> traced = torch.fx.symbolic_trace(nn.Sequential(nn.Linear(2, 1), nn.ReLU()))
        >>> [node.op for node in traced.graph.nodes]
        ['placeholder', 'call_module', 'call_module', 'output']
        >>> traced(torch.ones(3, 2)).shape
        torch.Size([3, 1])

    See also:
        `fx.symbolic_trace`, `fx.Graph`.
    """

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        # Every module has a class of its own, whose forward is the code of its graph.
        base = next(c for c in cls.__mro__ if "_is_generated" not in c.__dict__)
        own = type(base.__name__, (base,), {"_is_generated": True, "__module__": base.__module__})
        return super().__new__(own)

    def __init__(
        self, root: nn.Module | dict[str, Any], graph: Graph, class_name: str = "GraphModule"
    ) -> None:
        super().__init__()
        type(self).__name__ = type(self).__qualname__ = class_name
        self.training: bool = getattr(root, "training", True)
        targets = [str(n.target) for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, nn.Module):
            for path in targets:
                _copy_attribute(root, self, path)
        else:
            for path in targets:
                if path not in root:
                    raise RuntimeError(
                        f"the graph has a node with the target {path!r}, which the dictionary "
                        "of attributes does not have"
                    )
            for path in sorted(set(targets), key=lambda p: p.count(".")):
                _assign_attribute(root[path], self, path)
        self.meta: dict[str, Any] = dict(getattr(root, "meta", None) or {})
        self._tracer_cls = graph._tracer_cls
        self.graph = graph

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one writes the code anew."""
        graph: Graph = self.__dict__["_graph"]
        return graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"Expected a Graph instance, but got {type(g)}")
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    def recompile(self) -> PythonCode:
        """Generate the code of the current graph, and make it this module's forward."""
        codegen = self.graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self._in_spec = codegen.in_spec
            self._out_spec = codegen.out_spec
        code = self.graph.python_code(root_module="self")
        self.__dict__["_code"] = code.src
        type(self).forward = _compiled_forward(code)
        return code

    @property
    def code(self) -> str:
        """The forward as Python text."""
        code: str = self.__dict__["_code"]
        return code

    # --- submodules

    def add_submodule(self, target: str, m: nn.Module) -> bool:
        """Add a module at a path, with empty ones on the way; False if a part is not a module."""
        *prefix, last = target.split(".")
        module: Any = self
        for part in prefix:
            inner = getattr(module, part, None) if has_attribute(module, part) else None
            if inner is None:
                inner = nn.Module()
                setattr(module, part, inner)
            if not isinstance(inner, nn.Module):
                return False
            module = inner
        module.add_module(last, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Remove the module at a path; False if there is none."""
        *prefix, last = target.split(".")
        module: Any = self
        for part in prefix:
            module = getattr(module, part, None)
            if not isinstance(module, nn.Module):
                return False
        if not isinstance(getattr(module, last, None), nn.Module):
            return False
        delattr(module, last)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Remove modules that no node of the graph refers to."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op not in ("call_module", "get_attr"):
                continue
            parts = str(node.target).split(".")
            used.update(".".join(parts[:i]) for i in range(1, len(parts) + 1))
            if node.op == "call_module":
                called = self.get_submodule(str(node.target))
                used.update(f"{node.target}.{name}" for name, _ in called.named_modules())
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    # --- copies and files

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        holder = nn.Module()
        holder.__dict__.update(
            copy.deepcopy({k: v for k, v in self.__dict__.items() if k != "_graph"}, memo)
        )
        made = GraphModule(holder, copy.deepcopy(self.graph), type(self).__name__)
        _keep_extras(made, holder)
        memo[id(self)] = made
        return made

    def __copy__(self) -> GraphModule:
        made = GraphModule(self, copy.deepcopy(self.graph), type(self).__name__)
        _keep_extras(made, self)
        return made

    def __reduce__(self) -> Any:
        state = {k: v for k, v in self.__dict__.items() if k not in ("_graph", "_code")}
        return _rebuild, (state, _GraphState.of(self.graph), type(self).__name__)

    def to_folder(self, folder: str | Path, module_name: str = "FxModule") -> None:
        """Write the module as a Python package: its code, and its state beside it."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        fb.save(self.state_dict(), folder / "state_dict.pt")
        lines = ["import torch", *IMPORTS.values(), "", "from torch.nn import *"]
        lines += [f"class {module_name}(torch.nn.Module):", "    def __init__(self):"]
        lines.append("        super().__init__()")
        for name, child in self.named_children():
            lines.append(f"        setattr(self, '{name}', {_module_text(name, child, folder)})")
        for kind, members in (("parameter", self._parameters), ("buffer", self._buffers)):
            for name, value in members.items():
                if value is not None:
                    made = f"torch.empty({list(value.shape)}, dtype={value.dtype})"
                    made = f"torch.nn.Parameter({made})" if kind == "parameter" else made
                    lines.append(f"        self.register_{kind}('{name}', {made})")
        path = folder / "state_dict.pt"
        lines.append(f"        self.load_state_dict(torch.load(r'{path}'))")
        lines += ["", *(f"    {line}" if line.strip() else "" for line in self.code.splitlines())]
        (folder / "module.py").write_text("\n".join([*lines, ""]), encoding="utf-8")
        (folder / "__init__.py").write_text("from .module import *\n", encoding="utf-8")

    # --- for people

    def print_readable(
        self,
        print_output: bool = True,
        include_stride: bool = False,
        include_device: bool = False,
        colored: bool = False,
        *,
        fast_sympy_print: bool = False,
        expanded_def: bool = False,
        additional_meta: list[str] | None = None,
    ) -> str:
        """Return the code of this module and of the graph modules in it, with known shapes."""
        text = self._fb_readable_text(type(self).__name__, include_stride, include_device)
        if print_output:
            print(text)
        return text

    def _fb_readable_text(self, name: str, stride: bool, device: bool) -> str:
        code = self.graph.python_code(
            "self", verbose=True, include_stride=stride, include_device=device
        ).src
        lines = [f"    {line}".rstrip() for line in code.strip().splitlines()]
        text = "\n".join([f"class {name}(torch.nn.Module):", *lines, ""])
        for inner_name, inner in self.named_children():
            if isinstance(inner, GraphModule):
                inner_text = inner._fb_readable_text(inner_name, stride, device)
                indented = [f"    {line}".rstrip() for line in inner_text.splitlines()]
                text += "\n" + "\n".join(indented) + "\n"
        return text

    def __str__(self) -> str:
        hint = "# To see more debug info, please use `graph_module.print_readable()`"
        return "\n".join([super().__repr__(), self.code, hint])


def _module_text(name: str, module: nn.Module, folder: Path) -> str:
    """How to recreate a child: from its own text, or from a file."""
    if type(module).__module__.startswith("flambeau.nn") and not list(module.children()):
        return repr(module)
    path = folder / f"{name}.pt"
    fb.save(module, path)
    return f"torch.load(r'{path}', weights_only=False)"


def _keep_extras(made: GraphModule, source: Any) -> None:
    """Copy users' attributes along with a module."""
    for name, value in source.__dict__.items():
        made.__dict__.setdefault(name, value)


class _GraphState:
    """A graph as data: nodes by name, so that pickles do not nest as deep as graphs are long."""

    def __init__(self, nodes: list[Any], codegen: Any, tracer_cls: Any) -> None:
        self.nodes = nodes
        self.codegen = codegen
        self.tracer_cls = tracer_cls

    @classmethod
    def of(cls, graph: Graph) -> _GraphState:
        from flambeau.fx.node import map_arg

        def by_name(given: Node) -> _Reference:
            return _Reference(given.name)

        nodes = [
            (n.op, n.target, map_arg(n.args, by_name), map_arg(n.kwargs, by_name), n.name, n.type)
            for n in graph.nodes
        ]
        metas = [{"is_wrapped": True} if n.meta.get("is_wrapped") else {} for n in graph.nodes]
        return cls(list(zip(nodes, metas, strict=True)), graph._codegen, graph._tracer_cls)

    def graph(self) -> Graph:
        from flambeau.fx.node import map_aggregate

        made = Graph(tracer_cls=self.tracer_cls)
        made.set_codegen(self.codegen)
        known: dict[str, Node] = {}

        def by_name(value: Any) -> Any:
            return known[value.name] if isinstance(value, _Reference) else value

        for (op, target, args, kwargs, name, kind), meta in self.nodes:
            node = made.create_node(
                op, target, map_aggregate(args, by_name), map_aggregate(kwargs, by_name), name, kind
            )
            node.meta.update(meta)
            known[name] = node
        return made


class _Reference:
    """Another node, by its name."""

    def __init__(self, name: str) -> None:
        self.name = name


def _rebuild(state: dict[str, Any], graph: _GraphState, class_name: str) -> GraphModule:
    holder = nn.Module()
    holder.__dict__.update(state)
    made = GraphModule(holder, graph.graph(), class_name)
    _keep_extras(made, holder)
    return made
