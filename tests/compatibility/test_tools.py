"""ONNX, extensions in C++, futures and reports: what is asked for, and what is refused."""

from __future__ import annotations

import threading

import pytest

import flambeau as torch
from flambeau import futures, nn
from flambeau.utils import collect_env, cpp_extension


def test_questions_of_onnx():
    assert not torch.onnx.is_in_onnx_export()
    assert torch.onnx.TrainingMode.EVAL == 0
    assert torch.onnx.OperatorExportTypes.ONNX_ATEN_FALLBACK == 2
    shape = torch.onnx.operators.shape_as_tensor(torch.ones(2, 3))
    assert shape.tolist() == [2, 3]
    assert shape.dtype == torch.int64
    reshaped = torch.onnx.operators.reshape_from_tensor_shape(torch.ones(6), shape)
    assert reshaped.shape == (2, 3)


def test_onnx_export_says_what_to_do():
    with pytest.raises(NotImplementedError, match=r"torch\.jit\.trace\(model, args\)\.save"):
        torch.onnx.export(nn.Linear(1, 1), (torch.ones(1),), "m.onnx", opset_version=17)
    with pytest.raises(NotImplementedError, match=r"onnx\.export"):
        torch.onnx.dynamo_export(nn.Linear(1, 1), torch.ones(1))


def test_symbolics_are_kept():
    @torch.onnx.symbolic_helper.parse_args("v", "i")
    def symbolic(graph, x, k):
        return graph

    torch.onnx.register_custom_op_symbolic("demo::op", symbolic, 17)
    torch.onnx.unregister_custom_op_symbolic("demo::op", 17)
    with pytest.raises(torch.onnx.OnnxExporterError, match="expected a name 'domain::op'"):
        torch.onnx.register_custom_op_symbolic("op", symbolic, 17)


def test_mode_of_an_export():
    layer = nn.Linear(1, 1)
    with torch.onnx.select_model_mode_for_export(layer, torch.onnx.TrainingMode.EVAL):
        assert not layer.training
    assert layer.training


@pytest.mark.parametrize(
    "build",
    [
        lambda: cpp_extension.CppExtension(name="a", sources=["a.cpp"], include_dirs=[]),
        lambda: cpp_extension.CUDAExtension("a", ["a.cu"], extra_compile_args={}),
        lambda: cpp_extension.load(name="a", sources=["a.cpp"], verbose=True),
        lambda: cpp_extension.load_inline("a", "int f();"),
        lambda: cpp_extension.BuildExtension.with_options(no_python_abi_suffix=True)(),
    ],
)
def test_extensions_are_not_built(build):
    with pytest.raises(NotImplementedError, match=r"torch\.library\.custom_op"):
        build()


def test_questions_about_extensions():
    assert cpp_extension.CUDA_HOME is None or isinstance(cpp_extension.CUDA_HOME, str)
    assert cpp_extension.include_paths() == []
    assert isinstance(cpp_extension.is_ninja_available(), bool)


def test_report(capsys):
    collect_env.main()
    assert torch.__version__ in capsys.readouterr().out


def test_futures():
    future = futures.Future()
    assert not future.done()
    with pytest.raises(RuntimeError, match="there is no value yet"):
        future.value()
    after = future.then(lambda done: done.value() + 1)
    threading.Timer(0.01, future.set_result, [3]).start()
    assert future.wait() == 3
    assert after.wait() == 4
    with pytest.raises(RuntimeError, match="set already"):
        future.set_result(4)


def test_futures_that_fail():
    future = futures.Future()
    after = future.then(lambda done: done.value())
    future.set_exception(ValueError("no"))
    with pytest.raises(ValueError, match="no"):
        future.wait()
    with pytest.raises(ValueError, match="no"):
        after.wait()
    with pytest.raises(AssertionError, match="expected an exception, got int"):
        futures.Future().set_exception(3)


def test_all_futures():
    several = [futures.Future() for _ in range(3)]
    together = futures.collect_all(several)
    for value, future in enumerate(several):
        assert not together.done()
        future.set_result(value)
    assert futures.wait_all(several) == [0, 1, 2]
    assert futures.wait_all([]) == []


def test_types_for_annotations():
    assert isinstance(3.0, torch.types.Number)
    assert isinstance(torch.device("cpu"), torch.types.Device)
    assert torch.types._int is int


def test_names_below_jit():
    from flambeau import _jit_internal

    assert _jit_internal.BroadcastingList2[int] == list[int]
    assert not _jit_internal.is_scripting()
