"""export(): a module, recorded on example inputs and checked on others."""

from __future__ import annotations

import inspect
from typing import Any

from flambeau import Tensor, nn
from flambeau._dynamo.exc import UserError
from flambeau._limits.accepted import accepted
from flambeau._recording.program import row_named
from flambeau._recording.sizes import TracedInt, noted_comparisons
from flambeau.compiler._exporting import exporting
from flambeau.export._graphs import GraphWriter, recorder_for, without_elements
from flambeau.export._sizes import bounds_of, check_other_sizes, fresh, untouched
from flambeau.export.dynamic_shapes import dims_of_inputs
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
from flambeau.utils import _pytree as pytree


def export(
    mod: nn.Module,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    dynamic_shapes: Any = None,
    strict: bool = False,
    preserve_module_call_signature: tuple[str, ...] = (),
    prefer_deferred_runtime_asserts_over_guards: bool = False,
) -> ExportedProgram:
    """Record what a module does with ``args`` as a graph of operators.

    Sizes in ``dynamic_shapes`` may differ from call to call: the program is run with others, too,
    and refused if it gives other results than the module. All else is as in the examples.
    """
    if not isinstance(mod, nn.Module):
        raise ValueError(f"Expected `mod` to be an instance of `torch.nn.Module`, got {type(mod)}.")
    if not isinstance(args, tuple):
        raise UserError(
            f"Expecting `args` to be a tuple of example positional inputs, got {type(args)}"
        )
    if preserve_module_call_signature:
        raise NotImplementedError(
            "export: the graph does not keep calls of submodules, so that their signatures cannot "
            f"be preserved, got preserve_module_call_signature={preserve_module_call_signature}"
        )
    if strict:
        accepted("torch.export.export(strict)")
    kwargs = kwargs or {}
    declared = dims_of_inputs(mod.forward, args, kwargs, dynamic_shapes)
    with exporting(), noted_comparisons() as compared:
        program = _Exporter(mod, args, kwargs, declared).run()
        check_other_sizes(mod, program, args, kwargs, declared, compared)
    return program


class _Exporter:
    """One export."""

    def __init__(
        self, mod: nn.Module, args: Any, kwargs: dict[str, Any], declared: list[dict[int, Any]]
    ) -> None:
        self.mod = mod
        self.args, self.kwargs = args, kwargs
        self.declared = declared
        self.graph = Graph()
        self.inputs: list[InputSpec] = []
        self.constants: dict[str, Tensor] = {}
        self.state: dict[str, Node] = {}
        self.tensors: list[tuple[Tensor, Node]] = []  # inputs that are some
        self.guards: list[InputGuard | None] = []

    def run(self) -> ExportedProgram:
        args, kwargs = fresh((self.args, self.kwargs))
        self._add_state()
        self._add_inputs(args, kwargs)
        named = [*self.mod.named_parameters(), *self.mod.named_buffers()]
        recorder = recorder_for([tensor for tensor, _ in self.tensors], named, any(self.declared))
        with untouched(self.mod), recorder:
            result = self.mod(*args, **kwargs)
        leaves, out_spec = pytree.tree_flatten(result)
        program = recorder.program([], [self._result(leaf) for leaf in leaves])
        inputs = [node for _, node in self.tensors]

        def constant(number: int) -> Node:
            return self._add_constant(recorder.constants[number])

        writer = GraphWriter(self.graph, inputs, self.state, constant, recorder.tensors)
        writer.write(program)
        outputs = self._add_output([writer.value(each) for each in program.result])
        in_spec = pytree.tree_flatten((self.args, self.kwargs))[1]
        self._name_constants()
        self.graph.eliminate_dead_code(lambda node: node.is_impure() or _changes_something(node))
        state = {
            **dict(self.mod.named_parameters(remove_duplicate=False)),
            **self.mod.state_dict(keep_vars=True),
        }
        constants = dict(self.constants)
        constants |= {
            str(spec.target): self.mod.get_buffer(str(spec.target))
            for spec in self.inputs
            if spec.persistent is False
        }
        return ExportedProgram(
            GraphModule({}, self.graph),
            ExportGraphSignature(self.inputs, outputs),
            state,
            CallSpec(in_spec, out_spec),
            self._argument_names(),
            self.guards,
            constants,
            (self.args, self.kwargs),
        )

    # --- inputs

    def _add_state(self) -> None:
        for name, parameter in self.mod.named_parameters():
            self._add_tensor(f"p_{name}", parameter, InputKind.PARAMETER, name)
        persistent = self.mod.state_dict()
        for name, buffer in self.mod.named_buffers():
            self._add_tensor(f"b_{name}", buffer, InputKind.BUFFER, name, name in persistent)

    def _add_tensor(
        self, name: str, tensor: Tensor, kind: InputKind, target: str, persistent: Any = None
    ) -> None:
        node = self.graph.placeholder(name.replace(".", "_"))
        node.meta["val"] = without_elements(tensor)
        self.state[target] = node
        self.inputs.append(InputSpec(kind, TensorArgument(node.name), target, persistent))

    def _add_inputs(self, args: Any, kwargs: dict[str, Any]) -> None:
        bound = inspect.signature(self.mod.forward).bind(*args, **kwargs).arguments
        named = [pair for name, value in bound.items() for pair in _named_leaves(name, value)]
        for (name, value), dims in zip(named, self.declared, strict=True):
            node = self.graph.placeholder(name)
            node.name = name  # also where that is a word of Python, as input
            if not isinstance(value, Tensor):
                self.guards.append(None)
                constant = ConstantArgument(node.name, value)
                self.inputs.append(InputSpec(InputKind.USER_INPUT, constant, None))
                continue
            node.meta["val"] = without_elements(value)
            self.tensors.append((value, node))
            self.inputs.append(InputSpec(InputKind.USER_INPUT, TensorArgument(node.name), None))
            bounds = {i: bounds_of(dim, f"{name}_{i}") for i, dim in dims.items()}
            self.guards.append(InputGuard(name, tuple(value.shape), value.dtype, bounds))

    def _argument_names(self) -> tuple[list[str], list[str]]:
        parameters = list(inspect.signature(self.mod.forward).parameters)
        positional = [p for p in parameters if p not in self.kwargs][: len(self.args)]
        return positional, list(self.kwargs)

    def _add_constant(self, tensor: Tensor) -> Node:
        """A tensor that comes from elsewhere becomes an input that is the same in every call."""
        name = f"lifted_tensor_{len(self.constants)}"
        with self.graph.inserting_before(next(iter(self.graph.nodes), None)):
            node = self.graph.placeholder(f"c_{name}")
        node.meta["val"] = without_elements(tensor)
        self.constants[name] = tensor
        return node

    def _name_constants(self) -> None:
        nodes = {node.name: node for node in self.graph.find_nodes(op="placeholder")}
        for name in self.constants:
            node = nodes[f"c_{name}"]
            spec = InputSpec(InputKind.CONSTANT_TENSOR, TensorArgument(node.name), name)
            self.inputs.insert(0, spec)

    # --- outputs

    def _add_output(self, leaves: list[Any]) -> list[OutputSpec]:
        specs, results = [], []
        for value in leaves:
            results.append(value)
            arg: Any = TensorArgument(value.name) if isinstance(value, Node) else None
            specs.append(OutputSpec(OutputKind.USER_OUTPUT, arg or ConstantArgument("", value)))
        self.graph.output(tuple(results))
        return specs

    def _result(self, leaf: Any) -> Any:
        if leaf is None or isinstance(leaf, (Tensor, TracedInt, bool, int, float, str)):
            return leaf
        raise UserError(
            f"export: the module returned {type(leaf).__name__}, which a program cannot return"
        )


def _changes_something(node: Node) -> bool:
    """Whether an operator changes its input, moves running means, or is a check."""
    name = str(getattr(node.target, "__name__", "")).split(".")[0].removeprefix("nn_functional_")
    known = node.meta.get("row")
    writes = known is not None and row_named(known).writes
    return writes or name in ("batch_norm", "instance_norm", "check_decision")


def _named_leaves(name: str, value: Any) -> list[tuple[str, Any]]:
    if isinstance(value, dict):
        items: Any = value.items()
    elif isinstance(value, (list, tuple)):
        items = enumerate(value)
    else:
        return [(name, value)]
    return [pair for key, item in items for pair in _named_leaves(f"{name}_{key}", item)]
