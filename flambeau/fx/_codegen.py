"""Graphs as Python code."""

from __future__ import annotations

import builtins
import enum
import json
import keyword
import math
import re
import types
import typing
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau.fx._naming import ALWAYS_THERE, Namespace, is_native, qualified_name, type_name
from flambeau.fx.node import Node
from flambeau.utils import _pytree as pytree

if TYPE_CHECKING:
    from flambeau.fx.graph import Graph

# How functions of the module `operator` are written in code.
_OPERATORS = {
    "eq": "{} == {}",
    "ne": "{} != {}",
    "lt": "{} < {}",
    "gt": "{} > {}",
    "le": "{} <= {}",
    "ge": "{} >= {}",
    "pos": "+{}",
    "neg": "-{}",
    "invert": "~{}",
    "getitem": "{}[{}]",
    "add": "{} + {}",
    "sub": "{} - {}",
    "mul": "{} * {}",
    "truediv": "{} / {}",
    "floordiv": "{} // {}",
    "mod": "{} % {}",
    "pow": "{} ** {}",
    "matmul": "{} @ {}",
    "lshift": "{} << {}",
    "rshift": "{} >> {}",
    "and_": "{} & {}",
    "or_": "{} | {}",
    "xor": "{} ^ {}",
}
_IN_PLACE = {
    "iadd": "{} += {}",
    "iand": "{} &= {}",
    "ifloordiv": "{} //= {}",
    "ilshift": "{} <<= {}",
    "imod": "{} %= {}",
    "imul": "{} *= {}",
    "imatmul": "{} @= {}",
    "ior": "{} |= {}",
    "ipow": "{} **= {}",
    "irshift": "{} >>= {}",
    "isub": "{} -= {}",
    "itruediv": "{} /= {}",
    "ixor": "{} ^= {}",
    "setitem": "{}[{}] = {}",
}


@dataclass
class PythonCode:
    """Generated code, and the objects that its global names stand for."""

    src: str
    globals: dict[str, Any]
    lines: dict[int, Node] = field(default_factory=dict)


@dataclass
class Readable:
    """Optional annotations of the code, for readers."""

    include_stride: bool = False
    include_device: bool = False


def attribute_path(base: str, target: str) -> str:
    """``self.layers.0.conv`` as Python has to write it: ``getattr(self.layers, "0").conv``."""
    for part in target.split("."):
        is_name = part.isidentifier() and not keyword.iskeyword(part)
        base = f"{base}.{part}" if is_name else f"getattr({base}, {json.dumps(part)})"
    return base


def _parameter(target: str) -> str:
    """Return a placeholder's name in the code; refuse a target that is not a name."""
    name = target.lstrip("*")
    if not name.isidentifier() or len(target) - len(name) > 2:
        raise RuntimeError(
            f"placeholder: expected a name of an argument as the target, got {target!r}"
        )
    return name


class CodeGen:
    """Writes the code of a graph; subclasses change its first and last lines."""

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The first line, ``def forward(self, x):``."""
        names = free_vars if free_vars and free_vars[0] == "self" else ["self", *free_vars]
        return f"def forward({', '.join(names)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Any, *, descs: Any = None) -> str:
        """The line that returns the result."""
        return f"return {output_args!r}"

    def process_inputs(self, *args: Any) -> Any:
        """Turn the arguments of the function into the values of the placeholders."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """Turn the value of the output node into the result of the function."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Return the globals that the lines of this class use, by name."""
        return []

    def generate(
        self, graph: Graph, root_module: str, namespace: Namespace, readable: Readable | None = None
    ) -> PythonCode:
        """Return the code of a graph; ``root_module`` is the name of its module in the code."""
        return _Writer(self, graph, root_module, namespace, readable).write()


class _PyTreeCodeGen(CodeGen):
    """Code of a function of nested containers, flattened at the start and rebuilt at the end."""

    def __init__(self, orig_args: list[str], in_spec: Any, out_spec: Any = None) -> None:
        self.orig_args = orig_args
        self.in_spec = in_spec
        self.out_spec = out_spec

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        names = [name.split(":")[0].split("=")[0].strip() for name in free_vars]
        first = super().gen_fn_def(self.orig_args, maybe_return_annotation)
        given = ", ".join(self.orig_args)
        taken = "".join(f"{name}, " for name in names)
        return f"{first}\n    {taken}= fx_pytree.tree_flatten_spec([{given}], self._in_spec)"

    def generate_output(self, output_args: Any, *, descs: Any = None) -> str:
        if self.out_spec is None:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"

    def process_inputs(self, *args: Any) -> Any:
        from flambeau.fx._pytree import tree_flatten_spec

        return tree_flatten_spec(list(args), self.in_spec)

    def process_outputs(self, outputs: Any) -> Any:
        if self.out_spec is None:
            return outputs
        return pytree.tree_unflatten(list(outputs), self.out_spec)

    def additional_globals(self) -> list[tuple[str, Any]]:
        from flambeau.fx import _pytree as fx_pytree

        return [("fx_pytree", fx_pytree), ("pytree", pytree)]


class _Text:
    """Text whose representation is itself."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class _Writer:
    """One pass over a graph."""

    def __init__(
        self,
        codegen: CodeGen,
        graph: Graph,
        root: str,
        namespace: Namespace,
        readable: Readable | None,
    ) -> None:
        self.codegen = codegen
        self.nodes = list(graph.nodes)
        self.root = root
        self.namespace = namespace
        self.readable = readable
        self.free_vars: list[str] = []
        self.body: list[str] = []
        self.wrapped: dict[str, None] = {}
        self.globals: dict[str, Any] = {}
        self.return_annotation = ""
        self.lines: dict[int, Node] = {}
        self._last_trace: str | None = None
        for name, value in (*ALWAYS_THERE.items(), *codegen.additional_globals()):
            namespace.associate(name, value)
            self.globals[name] = value

    def write(self) -> PythonCode:
        dying = self._last_uses()
        starts = []
        for node in self.nodes:
            starts.append(len(self.body))
            self._write_node(node, dying.get(node, []))
        body = [f"    {line}\n" if line else "\n" for line in (self.body or ["pass"])]
        first = self.codegen.gen_fn_def(self.free_vars, self.return_annotation)
        prologue = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in self.wrapped)
        head = f"\n{prologue}\n\n{first}\n"
        offset = head.count("\n") + 1
        lines = {offset + start: node for start, node in zip(starts, self.nodes, strict=True)}
        return PythonCode(f"{head}{''.join(body)}    ", self.globals, lines)

    def _last_uses(self) -> dict[Node, list[Node]]:
        """Return, for every node, the nodes that are not used after it."""
        seen: set[Node] = set()
        dying: dict[Node, list[Node]] = {}
        for node in reversed(self.nodes):
            for given in node.all_input_nodes:
                if given not in seen:
                    seen.add(given)
                    dying.setdefault(node, []).append(given)
        return dying

    # --- statements

    def _write_node(self, node: Node, dying: list[Node]) -> None:
        if node.op == "placeholder":
            return self._write_placeholder(node)
        self._write_trace(node)
        if node.op == "output":
            if node.type is not None:
                self.return_annotation = f" -> {self._type(node.type)}"
            self.body.append(self.codegen.generate_output(self._values(node.args[0])))
            return None
        unneeded = dying if node.users else [*dying, node]
        cleared = f";  {' = '.join(map(repr, unneeded))} = None" if unneeded else ""
        self.body.append(f"{self._statement(node)}{cleared}")
        return None

    def _write_placeholder(self, node: Node) -> None:
        kind = self._annotation(node)
        if node.type is not None and not kind:
            kind = f" : {self._type(node.type)}"
        default = f" = {self._values(node.args[0])!r}" if node.args else ""
        raw_name = _parameter(str(node.target))
        self.free_vars.append(f"{node.target}{kind}{default}")
        if raw_name != repr(node):
            self.body.append(f"{node!r} = {raw_name}")

    def _statement(self, node: Node) -> str:
        kind = self._annotation(node)
        if node.type is not None and not kind:
            kind = f" : {self._type(node.type)}"
        name = f"{node!r}{kind}"
        if node.op == "call_method":
            base = attribute_path(repr(self._values(node.args[0])), str(node.target))
            return f"{name} = {base}({self._arguments(node.args[1:], node.kwargs)})"
        if node.op == "call_function":
            return self._function_call(node, name)
        path = attribute_path(self.root, str(node.target))
        if node.op == "get_attr":
            return f"{name} = {path}"
        return f"{name} = {path}({self._arguments(node.args, node.kwargs)})"

    def _function_call(self, node: Node, name: str) -> str:
        target: Any = node.target
        plain = getattr(target, "__name__", "")
        if getattr(target, "__module__", "") == "_operator" and not node.kwargs:
            values = [repr(self._values(arg)) for arg in node.args]
            if plain in _OPERATORS and _OPERATORS[plain].count("{}") == len(values):
                return f"{name} = {_OPERATORS[plain].format(*values)}"
            if plain in _IN_PLACE:
                return f"{_IN_PLACE[plain].format(*values)};  {name} = {values[0]}"
        if target is getattr and len(node.args) == 2 and str(node.args[1]).isidentifier():
            return f"{name} = {attribute_path(repr(self._values(node.args[0])), node.args[1])}"
        function = self._global(qualified_name(target), target)
        if node.meta.get("is_wrapped"):
            self.wrapped.setdefault(function)
        return f"{name} = {function}({self._arguments(node.args, node.kwargs)})"

    def _arguments(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
        given = [repr(self._values(arg)) for arg in args]
        for key, value in kwargs.items():
            text = repr(self._values(value))
            given.append(f"{key} = {text}" if key.isidentifier() else f"**{{{key!r}: {text}}}")
        return ", ".join(given)

    # --- values

    def _global(self, name_hint: str, value: Any) -> str:
        """Return the name of a global object in the code."""
        if getattr(builtins, name_hint, None) is value:
            return name_hint
        if is_native(value) and value is not fb.device:
            return qualified_name(value)
        wanted = re.sub("[^0-9a-zA-Z_]+", "_", name_hint)
        if wanted in self.globals and self.globals[wanted] is value:
            return wanted
        name = self.namespace.create_name(wanted, value)
        self.globals[name] = value
        return name

    def _values(self, arg: Any) -> Any:
        """Replace everything in an argument that has a name in the code by that name."""
        if isinstance(arg, tuple) and hasattr(arg, "_fields"):
            name = self._global(type_name(type(arg)), type(arg))
            return _Text(f"{name}{tuple(self._values(item) for item in arg)!r}")
        if isinstance(arg, (tuple, list)):
            items = [self._values(item) for item in arg]
            return tuple(items) if isinstance(arg, tuple) else items
        if isinstance(arg, dict):
            return {key: self._values(value) for key, value in arg.items()}
        if isinstance(arg, slice):
            return slice(*map(self._values, (arg.start, arg.stop, arg.step)))
        if isinstance(arg, enum.Enum):
            return _Text(f"{self._global(type_name(type(arg)), type(arg))}.{arg.name}")
        if isinstance(arg, type):
            return _Text(self._type(arg))
        if callable(arg) and not isinstance(arg, (Node, fb.nn.Module)):
            return _Text(self._global(qualified_name(arg), arg))
        if isinstance(arg, float) and math.isinf(arg):
            return _Text("inf" if arg > 0 else "-inf")
        return arg

    def _type(self, kind: Any) -> str:
        if kind == ():
            return "()"
        name = type_name(kind)
        origin = typing.get_origin(kind)
        if origin is None:
            is_builtin = isinstance(kind, type) and kind.__module__ == "builtins"
            return name if is_builtin else self._global(name, kind)
        if not isinstance(kind, types.GenericAlias):
            # typing.List[int] is not list[int], though its origin is the same.
            known = {tuple: typing.Tuple, list: typing.List, dict: typing.Dict}  # noqa: UP006
            origin = known.get(origin, origin)
        base = self._global(type_name(origin), origin)
        inner = [self._type(arg) for arg in typing.get_args(kind)]
        return f"{base}[{','.join(inner)}]" if inner else base

    # --- for readers

    def _annotation(self, node: Node) -> str:
        """The dtype and shape of a result, if they are known."""
        meta: Any = node.meta.get("val", node.meta.get("tensor_meta"))
        if self.readable is None or not hasattr(meta, "shape"):
            return ""
        text = f"{meta.dtype.abbr}[{', '.join(map(str, meta.shape))}]"
        if self.readable.include_stride and isinstance(meta, fb.Tensor):
            text += f"[{', '.join(map(str, meta.stride()))}]"
        if self.readable.include_device and isinstance(meta, fb.Tensor):
            text += str(meta.device)
        return f': "{text}"'

    def _write_trace(self, node: Node) -> None:
        """A comment that says where the following lines come from."""
        if self.readable is None or node.op == "output":
            return
        trace = node.stack_trace or ""
        if trace == self._last_trace:
            return
        self._last_trace = trace
        if self.body:
            self.body.append("")
        lines = [line.strip() for line in trace.strip().splitlines()]
        if not lines:
            self.body.append("# No stacktrace found for following nodes")
        else:
            place = next(line for line in reversed([*lines[:-1], lines[0]]) if line)
            self.body.append(f"# {place}, code: {lines[-1]}")


TransformCodeFunc = Callable[[list[str]], list[str]]
