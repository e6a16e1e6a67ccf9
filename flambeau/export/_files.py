"""Exported programs in files: tensors and plain data, so that loading runs no code of theirs."""

from __future__ import annotations

import os
from collections import OrderedDict
from typing import IO, Any

import flambeau as fb
from flambeau import nn
from flambeau._stored_calls import PROPERTIES
from flambeau.export._targets import name_of, operator_named
from flambeau.export.exported_program import CallSpec, ExportedProgram, InputGuard
from flambeau.export.graph_signature import (
    ConstantArgument,
    ExportGraphSignature,
    InputKind,
    InputSpec,
    OutputKind,
    OutputSpec,
    TensorArgument,
)
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Node
from flambeau.serialization._trees import check_names, check_tree
from flambeau.utils._pytree import TreeSpec

FORMAT = "flambeau exported program"
VERSION = 1


def save(
    ep: ExportedProgram,
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: dict[str, Any] | None = None,
    opset_version: dict[str, int] | None = None,
) -> None:
    """Write a program, and texts that go with it, to a file."""
    if not isinstance(ep, ExportedProgram):
        raise TypeError(
            f"The 'ep' parameter must be an instance of 'ExportedProgram', got {type(ep).__name__}."
        )
    if opset_version is not None:
        raise NotImplementedError("save: operators have no versions; leave out opset_version")
    signature = ep.graph_signature
    data = {
        "format": FORMAT,
        "version": VERSION,
        "nodes": [_node_data(node) for node in ep.graph.nodes],
        "results": {n.name: _result_data(n) for n in ep.graph.nodes if "val" in n.meta},
        "inputs": [
            (s.kind.name, _value_data(s.arg), s.target, s.persistent) for s in signature.input_specs
        ],
        "outputs": [(s.kind.name, _value_data(s.arg), s.target) for s in signature.output_specs],
        "state": {name: value.detach() for name, value in ep.state_dict.items()},
        "trainable": {name: value.requires_grad for name, value in ep.named_parameters()},
        "constants": dict(ep.constants),
        "in_spec": _spec_data(ep.call_spec.in_spec),
        "out_spec": _spec_data(ep.call_spec.out_spec),
        "names": [list(names) for names in ep._names],
        "guards": [_guard_data(guard) for guard in ep._guards],
        "extra": {name: _text(value) for name, value in (extra_files or {}).items()},
    }
    fb.save(data, f)


def load(
    f: str | os.PathLike[str] | IO[bytes],
    *,
    extra_files: dict[str, Any] | None = None,
    expected_opset_version: dict[str, int] | None = None,
) -> ExportedProgram:
    """Read a program; texts that were stored with it go into ``extra_files``."""
    if expected_opset_version is not None:
        raise NotImplementedError(
            "load: operators have no versions; leave out expected_opset_version"
        )
    data = fb.load(f, weights_only=True)
    if not isinstance(data, dict) or data.get("format") != FORMAT:
        raise RuntimeError(
            "load: the file is no exported program of Flambeau; programs that PyTorch has exported "
            "cannot be read, export the module again"
        )
    check_tree(data)
    if data["version"] > VERSION:
        raise RuntimeError(
            f"load: the file is of version {data['version']}, this Flambeau reads {VERSION}"
        )
    try:
        program = _program(data)
        extra = dict(data["extra"])
    except (AttributeError, IndexError, KeyError, TypeError) as error:
        raise RuntimeError(f"load: the file is damaged: {error!r}") from error
    for name in extra_files or {}:
        assert extra_files is not None
        extra_files[name] = extra.get(name, "")
    return program


def _program(data: dict[str, Any]) -> ExportedProgram:
    check_names([*data["state"], *data["constants"], *(node[4] for node in data["nodes"])])
    trainable = data["trainable"]
    state = {
        name: nn.Parameter(value, trainable[name]) if name in trainable else value
        for name, value in data["state"].items()
    }
    signature = ExportGraphSignature(
        [InputSpec(InputKind[k], _argument(a), t, p) for k, a, t, p in data["inputs"]],
        [OutputSpec(OutputKind[k], _argument(a), t) for k, a, t in data["outputs"]],
    )
    names = data["names"]
    if not all(str(name).isidentifier() for name in [*names[0], *names[1]]):
        raise ValueError(f"load: the file has arguments that are not Python names, {names}")
    return ExportedProgram(
        GraphModule({}, _graph(data["nodes"], data["results"])),
        signature,
        state,
        CallSpec(_spec(data["in_spec"]), _spec(data["out_spec"])),
        (names[0], names[1]),
        [_guard(guard) for guard in data["guards"]],
        data["constants"],
        None,
    )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


# --- nodes and their arguments

_PLAIN = (type(None), bool, int, float, complex, str)
_NAMED_TYPES = {"dtype": fb.dtype, "memory_format": fb.memory_format, "layout": fb.layout}


def _node_data(node: Node) -> tuple[Any, ...]:
    target = name_of(node.target) if node.op == "call_function" else node.target
    return node.op, target, _value_data(node.args), _value_data(dict(node.kwargs)), node.name


def _value_data(value: Any) -> Any:
    """A value as a pair of its kind and plain data."""
    if isinstance(value, Node):
        return ("node", value.name)
    if isinstance(value, TensorArgument):
        return ("tensor", value.name)
    if isinstance(value, ConstantArgument):
        return ("constant", (value.name, _value_data(value.value)))
    if isinstance(value, (tuple, list)):
        kind = "tuple" if isinstance(value, tuple) else "list"
        return (kind, [_value_data(item) for item in value])
    if isinstance(value, dict):
        return ("dict", {key: _value_data(item) for key, item in value.items()})
    if isinstance(value, slice):
        return ("slice", [_value_data(part) for part in (value.start, value.stop, value.step)])
    if value is ...:
        return ("ellipsis", None)
    if isinstance(value, fb.device):
        return ("device", str(value))
    for kind, named in _NAMED_TYPES.items():
        if isinstance(value, named):
            return (kind, str(value).removeprefix("torch."))
    if isinstance(value, _PLAIN):
        return ("value", value)
    raise NotImplementedError(f"save: {type(value).__name__} cannot be stored in a program")


def _result_data(node: Node) -> Any:
    value = node.meta["val"]
    return list(value.shape), list(value.stride()), _value_data(value.dtype)


# Methods and attributes of anything could be code: programs consist of operators alone.
_KINDS_OF_NODES = ("placeholder", "call_function", "output")


def _check_attribute(node: Node) -> None:
    """Refuse to ask for anything but a property that files may ask for, of one value."""
    name = node.args[1] if len(node.args) == 2 and not node.kwargs else None
    if not isinstance(name, str) or name not in PROPERTIES:
        raise ValueError(
            f"load: the file asks for the attribute {name!r}, which is no property of tensors that "
            "a program may ask for"
        )


def _graph(nodes: list[Any], results: dict[str, Any]) -> Graph:
    graph = Graph()
    known: dict[str, Node] = {}
    for op, target, args, kwargs, name in nodes:
        if op not in _KINDS_OF_NODES:
            raise ValueError(f"load: the file has a node of the kind {op!r}, which no program has")
        called = operator_named(target) if op == "call_function" else target
        node = graph.create_node(op, called, _value(args, known), _value(kwargs, known), name)
        if called is getattr:
            _check_attribute(node)
        if op == "placeholder" and name.isidentifier():
            node.name = name  # the signature's, also where that is a word of Python, as input
        if name in results:
            shape, stride, dtype = results[name]
            node.meta["val"] = fb.empty_strided(
                shape, stride, dtype=_value(dtype, {}), device="meta"
            )
        known[name] = node
    return graph


def _value(data: Any, known: dict[str, Node]) -> Any:
    kind, content = data
    if kind == "node":
        return known[content]
    if kind in ("tuple", "list"):
        items = [_value(item, known) for item in content]
        return tuple(items) if kind == "tuple" else items
    if kind == "dict":
        return {key: _value(item, known) for key, item in content.items()}
    if kind == "slice":
        return slice(*(_value(part, known) for part in content))
    if kind == "ellipsis":
        return ...
    if kind == "device":
        return fb.device(content)
    if kind in _NAMED_TYPES:
        found = vars(fb).get(content)
        if not isinstance(found, _NAMED_TYPES[kind]):
            raise ValueError(f"load: {content!r} is no {kind}")
        return found
    if kind != "value" or not isinstance(content, _PLAIN):
        raise ValueError(
            f"load: the file has a value of the unknown kind {kind!r}, {type(content).__name__}"
        )
    return content


def _argument(data: Any) -> Any:
    kind, content = data
    if kind == "tensor":
        return TensorArgument(content)
    name, value = content
    return ConstantArgument(name, _value(value, {}))


# --- the rest

_CONTAINERS = {"tuple": tuple, "list": list, "dict": dict, "OrderedDict": OrderedDict}


def _spec_data(spec: TreeSpec) -> Any:
    if spec.is_leaf():
        return None
    name = spec.type.__name__
    if name not in _CONTAINERS:
        raise NotImplementedError(
            "save: inputs and outputs of a stored program are tensors in tuples, lists and "
            f"dictionaries, got {spec}"
        )
    return name, spec.context, [_spec_data(child) for child in spec.children()]


def _spec(data: Any) -> TreeSpec:
    if data is None:
        return TreeSpec(None, None, ())
    name, keys, children = data
    return TreeSpec(_CONTAINERS[name], keys, tuple(_spec(child) for child in children))


def _guard_data(guard: InputGuard | None) -> Any:
    if guard is None:
        return None
    dynamic = {i: list(bounds) for i, bounds in guard.dynamic.items()}
    return guard.name, list(guard.shape), str(guard.dtype).removeprefix("torch."), dynamic


def _guard(data: Any) -> InputGuard | None:
    if data is None:
        return None
    name, shape, dtype, dynamic = data
    bounds = {int(i): (str(n), int(least), int(most)) for i, (n, least, most) in dynamic.items()}
    return InputGuard(name, tuple(shape), _value(("dtype", dtype), {}), bounds)
