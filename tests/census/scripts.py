"""Examples of names of TorchScript, of compilers and of exports."""

from __future__ import annotations

_NET = "nn.Sequential(nn.Linear(3, 2), nn.ReLU()).eval()"
_FILE = "__import__('io').BytesIO()"
_TRACED = f"t.jit.trace({_NET}, x)"
_REWOUND = "f.seek(0)"

SCRIPTS: dict[str, list[str]] = {
    "compile": [
        (
            "t.compile(lambda x: x * 2, fullgraph=True, dynamic=False, backend='eager',"
            " disable=False)(x)"
        ),
        f"list(t.compile({_NET}, backend='eager').state_dict())",
        "t.compile(mode='reduce-overhead', disable=True)(lambda x: x + 1)(x)",
        "t.compile(lambda x: x, options={'epilogue_fusion': True}) is not None",
    ],
    "compiler.is_compiling": ["t.compiler.is_compiling()"],
    "compiler.reset": ["t.compiler.reset()"],
    "compiler.disable": ["t.compiler.disable(recursive=False)(lambda x: x + 1)(x)"],
    "compiler.cudagraph_mark_step_begin": ["t.compiler.cudagraph_mark_step_begin()"],
    "jit.script": [f"t.jit.script({_NET})(x)", f"list(t.jit.script({_NET}).state_dict())"],
    "jit.ScriptModule": [f"isinstance(t.jit.script({_NET}), t.jit.ScriptModule)"],
    "jit.trace": [
        (
            "t.jit.trace(func=nn.Flatten(), example_inputs=image, check_trace=True, strict=True)"
            "(t.ones(3, 3, 4, 4))"
        ),
        f"t.jit.trace({_NET}, example_kwarg_inputs={{'input': x}})(y)",
    ],
    "jit.save": [
        (
            f"[[t.jit.save(m={_TRACED}, f=f, _extra_files={{'a': 'b'}}), {_REWOUND},"
            f" t.jit.load(f)(y)][2] for f in [{_FILE}]]"
        ),
    ],
    "jit.load": [
        (
            f"[[t.jit.save({_TRACED}, f, {{'a': 'b'}}), {_REWOUND},"
            " len(list(t.jit.load(f, map_location='cpu', _extra_files={'a': ''}).parameters()))][2]"
            f" for f in [{_FILE}]]"
        ),
    ],
    "jit.is_scripting": ["t.jit.is_scripting()"],
    "jit.is_tracing": ["t.jit.is_tracing()"],
    "jit.ignore": ["t.jit.ignore(lambda x: x + 1)(x)", "t.jit.ignore(drop=True)(lambda: 3)()"],
    "jit.unused": ["t.jit.unused(lambda x: x + 1)(x)"],
    "jit.export": ["t.jit.export(lambda x: x + 1)(x)"],
    "jit.annotate": ["t.jit.annotate(list[int], [1, 2])"],
    "jit.isinstance": ["t.jit.isinstance([1, 2], list[int])"],
    "jit.freeze": [f"t.jit.freeze({_TRACED})(y)"],
    "jit.TracerWarning": ["issubclass(t.jit.TracerWarning, Warning)"],
    "onnx.is_in_onnx_export": ["t.onnx.is_in_onnx_export()"],
    "onnx.operators.shape_as_tensor": ["t.onnx.operators.shape_as_tensor(x)"],
    "onnx.TrainingMode": ["int(t.onnx.TrainingMode.TRAINING)"],
    "utils.cpp_extension.BuildExtension": [
        "isinstance(t.utils.cpp_extension.BuildExtension, type)"
    ],
    "futures.Future": ["[[f.set_result(3), f.wait()] for f in [t.futures.Future()]]"],
    "quantization.quantize_dynamic": [
        (
            f"t.quantization.quantize_dynamic({_NET}, qconfig_spec={{nn.Linear}}, dtype=t.qint8,"
            " inplace=False)(x)"
        ),
    ],
    "library.custom_op": ["callable(t.library.custom_op)"],
}
