"""Exported programs: a graph, what its inputs stand for, and the state that it runs on."""

from __future__ import annotations

import copy
import functools
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn

from flambeau import Tensor, nn
from flambeau._limits.accepted import accepted
from flambeau.export.graph_signature import ConstantArgument, ExportGraphSignature, InputKind
from flambeau.fx._codegen import CodeGen
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.node import Node
from flambeau.utils import _pytree as pytree

__all__ = ["ExportedProgram", "ModuleCallEntry", "ModuleCallSignature"]


@dataclass
class CallSpec:
    """The shapes of the nested inputs and outputs."""

    in_spec: Any
    out_spec: Any


@dataclass
class ModuleCallSignature:
    """How a module of the program was called."""

    inputs: list[Any]
    outputs: list[Any]
    in_spec: Any
    out_spec: Any


@dataclass
class ModuleCallEntry:
    """A module of the program, by its name; the empty name is the whole program."""

    fqn: str
    signature: ModuleCallSignature | None = None


@dataclass
class InputGuard:
    """What an input of the program must look like."""

    name: str
    shape: tuple[int, ...]
    dtype: Any
    # Sizes that may differ: name of the size, least and greatest value.
    dynamic: dict[int, tuple[str, int, int]] = field(default_factory=dict)

    def check(self, value: Any, known: dict[str, int]) -> None:
        """Raise unless ``value`` fits; sizes of one name must agree."""
        if not isinstance(value, Tensor):
            raise AssertionError(f"Guard failed: {self.name} is a tensor, got {type(value)}")
        if value.dtype is not self.dtype:
            raise AssertionError(f"Guard failed: {self.name}.dtype == {self.dtype}")
        if value.dim() != len(self.shape):
            raise AssertionError(f"Guard failed: {self.name}.dim() == {len(self.shape)}")
        for i, (size, wanted) in enumerate(zip(value.shape, self.shape, strict=True)):
            place = f"{self.name}.size()[{i}]"
            if i not in self.dynamic:
                if size != wanted:
                    raise AssertionError(f"Guard failed: {place} == {wanted}")
                continue
            name, least, greatest = self.dynamic[i]
            if size < least:
                raise AssertionError(f"Guard failed: {place} >= {least}")
            if size > greatest:
                raise AssertionError(f"Guard failed: {place} <= {greatest}")
            if known.setdefault(name, size) != size:
                raise AssertionError(f"Guard failed: {place} == {name}, which is {known[name]}")


@dataclass
class ConstantGuard:
    """An input that is no tensor: the program was recorded for its value."""

    name: str
    value: Any

    def check(self, value: Any, known: dict[str, int]) -> None:
        """Raise unless ``value`` is the one that is built into the program."""
        if type(value) is not type(self.value) or value != self.value:
            raise AssertionError(f"Guard failed: {self.name} == {self.value!r}, got {value!r}")


class GuardsFn(nn.Module):
    """Checks the inputs of a program before it runs."""

    def __init__(self, guards: list[InputGuard | ConstantGuard | None]) -> None:
        super().__init__()
        self.guards = guards

    def forward(self, *inputs: Any) -> None:
        known: dict[str, int] = {}
        for guard, value in zip(self.guards, inputs, strict=True):
            if guard is not None:
                guard.check(value, known)


class _ProgramCodeGen(CodeGen):
    """A function with the arguments of the module that was exported."""

    def __init__(self, names: list[str], keywords: list[str], spec: CallSpec) -> None:
        self.names = names
        self.keywords = keywords
        self.spec = spec

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        given = [*self.names, *self.keywords]
        first = super().gen_fn_def(given, maybe_return_annotation)
        if not free_vars:
            return first
        named = ", ".join(f"'{name}':{name}" for name in self.keywords)
        taken = "".join(f"{name.split(':')[0]}, " for name in free_vars)
        inputs = f"([{', '.join(self.names)}], {{{named}}})"
        return f"{first}\n    {taken}= fx_pytree.tree_flatten_spec({inputs}, self._in_spec)"

    def generate_output(self, output_args: Any, *, descs: Any = None) -> str:
        return f"return pytree.tree_unflatten({output_args!r}, self._out_spec)"

    def process_inputs(self, *args: Any) -> Any:
        return pytree.tree_leaves((args, {}))

    def process_outputs(self, outputs: Any) -> Any:
        return pytree.tree_unflatten(list(outputs), self.spec.out_spec)

    def additional_globals(self) -> list[tuple[str, Any]]:
        from flambeau.fx import _pytree as fx_pytree

        return [("fx_pytree", fx_pytree), ("pytree", pytree)]


def _refuse_mode(name: str, *_: bool) -> NoReturn:
    raise NotImplementedError(
        f"{name}: an exported program does what its module did when it was exported; call "
        "train() or eval() of the module before torch.export.export"
    )


class ExportedProgram:
    """A program as a graph of operators, together with the state of the module it was made of."""

    def __init__(
        self,
        graph_module: GraphModule,
        graph_signature: ExportGraphSignature,
        state_dict: dict[str, Any],
        call_spec: CallSpec,
        names: tuple[list[str], list[str]],
        guards: list[InputGuard | None],
        constants: dict[str, Tensor],
        example_inputs: tuple[tuple[Any, ...], dict[str, Any]] | None,
    ) -> None:
        self.graph_module = graph_module
        self.graph_signature = graph_signature
        self.state_dict = state_dict
        self.call_spec = call_spec
        self.constants = constants
        self.example_inputs = example_inputs
        self.verifier: Any = None
        self._names = names
        self._guards = guards
        self._unlifted: GraphModule | None = None

    @property
    def graph(self) -> Graph:
        """The graph; parameters, buffers and constants are inputs of it."""
        return self.graph_module.graph

    @property
    def range_constraints(self) -> dict[str, tuple[int, int]]:
        """The bounds of sizes that may differ, by name."""
        return {
            name: (least, greatest)
            for guard in self._guards
            if guard is not None
            for name, least, greatest in guard.dynamic.values()
        }

    @property
    def dialect(self) -> str:
        """The kind of operators in the graph."""
        return "TRAINING"

    @property
    def module_call_graph(self) -> list[ModuleCallEntry]:
        """The whole program as one module."""
        spec = self.call_spec
        inputs, outputs = list(self.graph_signature.user_inputs), self.graph_signature.user_outputs
        signature = ModuleCallSignature(inputs, list(outputs), spec.in_spec, spec.out_spec)
        return [ModuleCallEntry("", signature)]

    def parameters(self) -> Iterator[nn.Parameter]:
        """The parameters of the module that was exported."""
        return (value for _, value in self.named_parameters())

    def named_parameters(self) -> Iterator[tuple[str, nn.Parameter]]:
        """The parameters with their names."""
        return ((name, self.state_dict[name]) for name in self.graph_signature.parameters)

    def buffers(self) -> Iterator[Tensor]:
        """The buffers of the module that was exported."""
        return (value for _, value in self.named_buffers())

    def named_buffers(self) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their names."""
        return ((name, self._value(name)) for name in self.graph_signature.buffers)

    def _value(self, name: str) -> Any:
        return self.state_dict[name] if name in self.state_dict else self.constants[name]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Unable to call ExportedProgram directly. You should use `exported_program.module()` "
            "instead."
        )

    def module(self, check_guards: bool = True) -> GraphModule:
        """A module that runs the program on this program's parameters and buffers."""
        values = {
            str(spec.target): self._value(str(spec.target))
            for spec in self.graph_signature.input_specs
            if spec.kind is not InputKind.USER_INPUT
        }
        graph = self._unlifted_graph(check_guards)
        if check_guards:
            values["_guards_fn"] = GuardsFn(self._all_guards())
        made = GraphModule(values, graph)
        made._in_spec = self.call_spec.in_spec
        made._out_spec = self.call_spec.out_spec
        made.recompile()
        for name in ("train", "eval"):
            made.__dict__[name] = functools.partial(_refuse_mode, name)
        return made

    def _all_guards(self) -> list[InputGuard | ConstantGuard | None]:
        """The guards of all inputs that the caller gives."""
        specs = self.graph_signature.input_specs
        given = [spec.arg for spec in specs if spec.kind is InputKind.USER_INPUT]
        return [
            ConstantGuard(arg.name, arg.value) if isinstance(arg, ConstantArgument) else guard
            for arg, guard in zip(given, self._guards, strict=True)
        ]

    def _unlifted_graph(self, check_guards: bool) -> Graph:
        """The graph with attributes in the places of inputs that the caller does not give."""
        specs = {spec.arg.name: spec for spec in self.graph_signature.input_specs}
        made = Graph()
        made.set_codegen(_ProgramCodeGen(*self._names, self.call_spec))
        val_map: dict[Node, Node] = {}
        placeholders = self.graph.find_nodes(op="placeholder")
        for node in placeholders:
            if specs[node.name].kind is InputKind.USER_INPUT:
                val_map[node] = made.node_copy(node)
        for node in placeholders:
            if node not in val_map:
                val_map[node] = made.get_attr(str(specs[node.name].target))
        if check_guards:
            inputs = [n for n in made.nodes if n.op == "placeholder"]
            made.call_module("_guards_fn", tuple(inputs))
        result = made.graph_copy(self.graph, val_map)
        made.output(result)
        return made

    def run_decompositions(
        self,
        decomp_table: dict[Any, Any] | None = None,
        decompose_custom_triton_ops: bool = False,
    ) -> ExportedProgram:
        """A copy of the program: its operators are those that Flambeau runs."""
        if decomp_table or decompose_custom_triton_ops:
            raise NotImplementedError(
                "run_decompositions: operators are not replaced by others; exchange nodes of "
                "exported_program.graph, or pass an empty table for a copy"
            )
        if decomp_table is None:
            accepted("torch.export.ExportedProgram.run_decompositions")
        return copy.copy(self)

    def __str__(self) -> str:
        code = self.graph_module.print_readable(print_output=False)
        code = "\n".join(f"    {line}" for line in code.splitlines())
        signature = "\n".join(f"    {line}" for line in str(self.graph_signature).splitlines())
        ranges = ", ".join(
            f"{name}: VR[{least}, {greatest if greatest < 1 << 62 else 'int_oo'}]"
            for name, (least, greatest) in self.range_constraints.items()
        )
        return (
            f"ExportedProgram:\n{code}\n    \nGraph signature: {signature.lstrip()}\n    \n"
            f"Range constraints: {{{ranges}}}\n"
        )
