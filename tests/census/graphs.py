"""Examples of graphs and exported programs (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_NET = "nn.Sequential(nn.Linear(3, 2), nn.ReLU())"
_TRACED = f"t.fx.symbolic_trace({_NET})"
_GRAPH = f"{_TRACED}.graph"
_NODES = f"list({_GRAPH}.nodes)"
_DIM = "t.export.Dim"


def built(nodes: str) -> str:
    """The text of a graph `g` with the input `a`, after nodes were added."""
    return f"(lambda g: (lambda a: ({nodes}, str(g))[-1])(g.placeholder('x')))(t.fx.Graph())"


def exported(options: str) -> str:
    """What an exported network gives."""
    return f"t.export.export({_NET}, {options}).module()(x)"


GRAPHS: dict[str, list[str]] = {
    "fx.GraphModule": [
        f"t.fx.GraphModule({_NET}, {_GRAPH})(x)",
        f"isinstance({_TRACED}, t.fx.GraphModule)",
    ],
    "fx.GraphModule.graph": [f"str({_TRACED}.graph)"],
    "fx.GraphModule.recompile": [f"(lambda m: (m.recompile(), m.code)[1])({_TRACED})"],
    "fx.GraphModule.meta": [f"{_TRACED}.meta"],
    "fx.GraphModule.print_readable": [
        f"{_TRACED}.print_readable(print_output=False, include_stride=True, include_device=True)",
        f"{_TRACED}.print_readable(False, expanded_def=False, additional_meta=None)",
    ],
    "fx.Graph": [built("g.output(a)"), "len(t.fx.Graph().nodes)"],
    "fx.Graph.nodes": [f"[n.name for n in {_GRAPH}.nodes]"],
    "fx.Graph.call_function": [
        built("g.output(g.call_function(t.add, args=(a, 1), kwargs={'alpha': 2}))")
    ],
    "fx.Graph.placeholder": [built("g.placeholder('z', default_value=1)")],
    "fx.Graph.output": [built("g.output((a, a))")],
    "fx.Graph.get_attr": [built("g.get_attr('w')")],
    "fx.Graph.create_node": [built("g.create_node(op='call_method', target='relu', args=(a,))")],
    "fx.Graph.node_copy": [built(f"g.node_copy({_NODES}[0])")],
    "fx.Graph.lint": [f"{_GRAPH}.lint()"],
    "fx.Graph.owning_module": ["t.fx.Graph().owning_module is None"],
    "fx.CodeGen": ["t.fx.CodeGen().gen_fn_def(['x'], '')"],
    "fx.Node": [f"isinstance({_NODES}[0], t.fx.Node)"],
    "fx.Node.target": [f"[n.target for n in {_NODES}]"],
    "fx.Node.op": [f"[n.op for n in {_NODES}]"],
    "fx.Node.args": [f"[str(n.args) for n in {_NODES}]"],
    "fx.Node.kwargs": [f"[dict(n.kwargs) for n in {_NODES}]"],
    "fx.Node.name": [f"[n.name for n in {_NODES}]"],
    "fx.Node.meta": [f"[isinstance(n.meta, dict) for n in {_NODES}]"],
    "fx.Node.users": [f"[str(n.users) for n in {_NODES}]"],
    "fx.Node.graph": [f"(lambda g: all(n.graph is g for n in g.nodes))({_GRAPH})"],
    "fx.Node.all_input_nodes": [f"[str(n.all_input_nodes) for n in {_NODES}]"],
    "fx.Node.is_impure": [f"{_NODES}[0].is_impure()"],
    "fx.Node.prepend": [built("a.prepend(g.placeholder('first'))")],
    "fx.Node.replace_all_uses_with": [
        built("(g.output(a), a.replace_all_uses_with(g.placeholder('other')))")
    ],
    "fx.Node.replace_input_with": [
        built("g.output(a).replace_input_with(a, g.placeholder('other'))")
    ],
    "fx.Proxy": ["repr(t.fx.Proxy(t.fx.Graph().placeholder('x')) + 1)"],
    "fx.Tracer": [f"str(t.fx.Tracer().trace({_NET}))"],
    "fx.Tracer.trace": [
        "str(t.fx.Tracer().trace(lambda a, on: a + 1 if on else a, concrete_args={'on': True}))"
    ],
    "fx.Tracer.root": [f"(lambda r, n: (r.trace(n), r.root is n))(t.fx.Tracer(), {_NET})[1]"],
    "fx.Tracer.path_of_module": [
        f"(lambda r, n: (r.trace(n), r.path_of_module(n[0])))(t.fx.Tracer(), {_NET})[1]"
    ],
    "fx.Tracer.create_args_for_root": ["callable(t.fx.Tracer.create_args_for_root)"],
    "fx.Tracer.submodule_paths": ["t.fx.Tracer().submodule_paths is None"],
    "fx.Tracer.tensor_attrs": [f"(lambda r: (r.trace({_NET}), r.tensor_attrs))(t.fx.Tracer())[1]"],
    "fx.symbolic_trace": [f"{_TRACED}(x)", f"{_TRACED}.code"],
    "fx.wrap": ["t.fx.wrap is not None"],
    "fx.map_arg": [f"str(t.fx.map_arg({_NODES}[1].args, lambda n: n.name))"],
    "fx.Interpreter": [f"t.fx.Interpreter({_TRACED}).run(x)"],
    "fx.Interpreter.boxed_run": [f"t.fx.Interpreter({_TRACED}).boxed_run([x])"],
    "fx.graph_module": ["t.fx.graph_module.GraphModule is t.fx.GraphModule"],
    "fx.node": ["t.fx.node.Node is t.fx.Node"],
    "fx.node.Target": ["t.fx.node.Target is not None"],
    "fx.proxy.GraphAppendingTracer": [
        "t.fx.proxy.GraphAppendingTracer(t.fx.Graph()).graph is not None"
    ],
    "fx.proxy.TracerBase.graph": ["len(t.fx.proxy.GraphAppendingTracer(t.fx.Graph()).graph.nodes)"],
    "fx.experimental.symbolic_shapes": ["t.fx.experimental.symbolic_shapes is not None"],
    "fx.experimental.symbolic_shapes.free_symbols": [
        "t.fx.experimental.symbolic_shapes.free_symbols(3)"
    ],
    "fx.experimental.symbolic_shapes.free_unbacked_symbols": [
        "t.fx.experimental.symbolic_shapes.free_unbacked_symbols(3)"
    ],
    "fx.experimental.symbolic_shapes.guard_or_false": [
        "t.fx.experimental.symbolic_shapes.guard_or_false(x.shape[0] == 2)"
    ],
    "fx.experimental.symbolic_shapes.guard_or_true": [
        "t.fx.experimental.symbolic_shapes.guard_or_true(x.shape[0] == 3)"
    ],
    "fx.experimental.symbolic_shapes.statically_known_true": [
        "t.fx.experimental.symbolic_shapes.statically_known_true(x.shape[0] == 2)"
    ],
    "export": ["t.export.export is not None"],
    "export.export": [
        exported("args=(x,), kwargs={}, strict=False"),
        exported(
            f"(x,), dynamic_shapes=({{0: {_DIM}('b', min=1, max=9)}},),"
            " prefer_deferred_runtime_asserts_over_guards=False"
        ),
    ],
    "export.Dim": [f"{_DIM}('b', min=1, max=9).max"],
    "export.Dim.AUTO": [f"repr({_DIM}.AUTO)"],
    "export.Dim.DYNAMIC": [f"repr({_DIM}.DYNAMIC(max=4))"],
    "export.Dim.STATIC": [f"repr({_DIM}.STATIC)"],
    "export.ExportedProgram": [
        f"isinstance(t.export.export({_NET}, (x,)), t.export.ExportedProgram)"
    ],
    "export.ExportedProgram.module": [f"t.export.export({_NET}, (x,)).module()(x)"],
    "export.ExportedProgram.graph_module": [f"t.export.export({_NET}, (x,)).graph_module.code"],
    "export.ExportedProgram.graph_signature": [
        f"str(t.export.export({_NET}, (x,)).graph_signature)"
    ],
    "export.ExportedProgram.state_dict": [f"list(t.export.export({_NET}, (x,)).state_dict)"],
    "export.ExportedProgram.named_buffers": [
        f"list(t.export.export({_NET}, (x,)).named_buffers())"
    ],
    "export.ShapesCollection": ["len(t.export.ShapesCollection())"],
    "overrides": ["t.overrides is not None"],
    "overrides.TorchFunctionMode": ["issubclass(t.overrides.TorchFunctionMode, object)"],
}
