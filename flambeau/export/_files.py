"""Exported programs in files: tensors and plain data, so that loading runs no code of theirs."""

from __future__ import annotations

import keyword
import os
from collections import OrderedDict
from typing import IO, Any

import flambeau as fb
from flambeau import nn
from flambeau._recording import files
from flambeau._recording.program import Program
from flambeau.export._graphs import GraphReader, GraphWriter
from flambeau.export._targets import library_operator
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
from flambeau.serialization._trees import check_names
from flambeau.utils._pytree import TreeSpec

_KIND = "export"


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
    reader = GraphReader(ep.graph)
    program = reader.program()
    data = {
        **files.header(_KIND),
        "programs": {"forward": files.program_data(program)},
        "placeholders": [(n.name, n.target) for n in ep.graph.find_nodes(op="placeholder")],
        "node_names": reader.names,
        "results": {n.name: _result_data(n) for n in ep.graph.nodes if "val" in n.meta},
        "inputs": [
            (s.kind.name, _argument_data(s.arg), s.target, s.persistent)
            for s in signature.input_specs
        ],
        "outputs": [(s.kind.name, _argument_data(s.arg), s.target) for s in signature.output_specs],
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
    files.check_header(
        data,
        _KIND,
        "load",
        "the file is no exported program of Flambeau; programs that PyTorch has exported cannot be "
        "read, export the module again",
    )
    try:
        program = _program(data)
        extra = dict(data["extra"])
    except (AttributeError, IndexError, KeyError, OverflowError, TypeError) as error:
        raise RuntimeError(f"load: the file is damaged: {error!r}") from error
    for name in extra_files or {}:
        assert extra_files is not None
        extra_files[name] = extra.get(name, "")
    return program


def _program(data: dict[str, Any]) -> ExportedProgram:
    node_names = [name for names in data["node_names"] for name in names]
    check_names([*data["state"], *data["constants"], *node_names])
    check_names([name for pair in data["placeholders"] for name in pair])
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
    arguments = [*names[0], *names[1]]
    if len({*arguments}) < len(arguments) or not all(map(_is_name, arguments)):
        raise ValueError(f"load: the file has arguments that are not Python names, {names}")
    return ExportedProgram(
        GraphModule({}, _graph(data)),
        signature,
        state,
        CallSpec(_spec(data["in_spec"]), _spec(data["out_spec"])),
        (names[0], names[1]),
        [_guard(guard) for guard in data["guards"]],
        data["constants"],
        None,
    )


def _is_name(value: Any) -> bool:
    return isinstance(value, str) and value.isidentifier() and not keyword.iskeyword(value)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value)


# --- graphs


def _result_data(node: Node) -> Any:
    value = node.meta["val"]
    return list(value.shape), list(value.stride()), value.dtype


def _graph(data: dict[str, Any]) -> Graph:
    graph = Graph()
    inputs = []
    for name, target in data["placeholders"]:
        node = graph.create_node("placeholder", target, (), {}, name)
        if name.isidentifier():
            node.name = name  # the signature's, also where that is a word of Python, as input
        inputs.append(node)
    program = files.program_of(data["programs"]["forward"], library_operator)
    if program.input_count != len(inputs):
        raise RuntimeError(
            f"load: the file has {len(inputs)} placeholders for {program.input_count} inputs"
        )
    writer = GraphWriter(graph, inputs, {}, _no_constant, {})
    writer.write(program, data["node_names"])
    graph.output(_output(writer, program))
    for node in graph.nodes:
        if node.name in data["results"]:
            shape, stride, dtype = data["results"][node.name]
            node.meta["val"] = fb.empty_strided(shape, stride, dtype=dtype, device="meta")
    return graph


def _output(writer: GraphWriter, program: Program) -> Any:
    value = writer.value(program.result)
    return tuple(value) if isinstance(program.result, tuple) else value


def _no_constant(number: int) -> Node:
    raise RuntimeError(f"load: the file has no constant {number} in its program")


# --- the rest


def _argument_data(argument: Any) -> Any:
    if isinstance(argument, TensorArgument):
        return ("tensor", argument.name)
    return ("constant", (argument.name, files.encoded(argument.value)))


def _argument(data: Any) -> Any:
    kind, content = data
    if kind == "tensor":
        return TensorArgument(content)
    name, value = content
    return ConstantArgument(name, files.decoded(value))


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
    return guard.name, list(guard.shape), guard.dtype, dynamic


def _guard(data: Any) -> InputGuard | None:
    if data is None:
        return None
    name, shape, dtype, dynamic = data
    bounds = {int(i): (str(n), int(least), int(most)) for i, (n, least, most) in dynamic.items()}
    if not isinstance(dtype, fb.dtype):
        raise ValueError(f"load: {dtype!r} is no type of elements")
    return InputGuard(name, tuple(shape), dtype, bounds)
