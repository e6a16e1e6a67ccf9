"""Devices, compilers, scripts, own operators and processes against torch's build for CPUs."""

from __future__ import annotations

import io
import warnings
from typing import Any

import numpy as np
import pytest
import torch

import flambeau as fb

FRAMEWORKS = pytest.mark.parametrize("t", [fb, torch], ids=["flambeau", "torch"])


def outcome(t: Any, call: str) -> Any:
    """The result of a call, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(call, {"t": t, "x": t.ones(2), "nn": t.nn})
        except Exception as error:
            return type(error).__name__


# Where torch's build for CPUs fails by an accident of its own (a missing private function), the
# error here is the AssertionError of the others.
@pytest.mark.parametrize(
    "call",
    [
        "t.cuda.is_available()",
        "t.cuda.device_count()",
        "t.cuda.is_initialized()",
        "t.cuda.current_device()",
        "t.cuda.synchronize()",
        "t.cuda.get_device_name(0)",
        "t.cuda.get_device_properties(0)",
        "t.cuda.get_device_capability()",
        "t.cuda.current_stream()",
        "t.cuda.mem_get_info()",
        "t.cuda.memory_allocated(0)",
        "t.cuda.max_memory_reserved('cpu')",
        "t.cuda.get_rng_state()",
        "t.cuda.manual_seed('a')",
        "t.cuda.set_device('cpu')",
        "t.cuda.set_device(-1)",
        "t.cuda.Stream()",
        "t.cuda.Event(enable_timing=True)",
        "t.cuda.CUDAGraph()",
        "t.cuda.graph_pool_handle()",
        "t.cuda.nvtx.range_push('a')",
        "t.cuda.FloatTensor(3)",
        "t.cuda.device(0).__enter__()",
        "t.cuda.init()",
        "t.cuda.cudart()",
        "t.cuda.ipc_collect()",
        "t.cuda.get_arch_list()",
        "t.accelerator.current_accelerator()",
        "t.accelerator.synchronize()",
        "t.mps.synchronize()",
        "t.xpu.synchronize()",
        "t.xpu.get_device_name()",
        "x.cuda()",
        "x.cuda('cpu')",
        "x.to('cuda')",
        "t.zeros(2, device='cuda')",
        "t.empty_like(x, device='cuda:1')",
        "nn.Linear(1, 1).to('cuda')",
        "x.pin_memory()",
        "x.is_pinned()",
        "t.Stream('cuda')",
        "t.Event()  .query()",
        "setattr(t.backends.cudnn, 'benchmark', 1)",
        "setattr(t.backends.cuda.matmul, 'allow_tf32', 'a')",
        "setattr(t.backends.cuda.matmul, 'speed', True)",
        "setattr(t.backends.quantized, 'engine', 'abacus')",
        "setattr(t.backends, 'fp32_precision', 'fp8')",
        "t.backends.cuda.enable_flash_sdp('a')",
        "t.backends.cudnn.is_available()",
        "t.backends.cudnn.version()",
        "t.backends.cuda.is_built()",
        "t.backends.cuda.preferred_linalg_library('magma')",
        "t.compile(x)",
        "t.compile(nn.Linear(1, 1), mode='fast')",
        "t.compile(nn.Linear(1, 1), backend='magic')",
        "t.compile(nn.Linear(1, 1), mode='default', options={})",
        "t.compile(nn.Linear(1, 1), speed=1)",
        "t.compiler.allow_in_graph(3)",
        "t.jit.script(3)",
        "t.jit.freeze(nn.Linear(1, 1))",
        "t.jit.load('/no/such/file')",
        "t.jit.trace(nn.Linear(2, 2))",
        "t.distributed.get_rank()",
        "t.distributed.destroy_process_group()",
        "t.distributed.is_nccl_available()",
        "t.ops.load_library('no.so')",
        "t.ops.aten.nothing",
        "t.classes.demo.Thing",
        "t.futures.Future().set_exception(3)",
    ],
)
def test_same_outcome(call):
    assert outcome(fb, call) == outcome(torch, call)


@pytest.mark.parametrize(
    "steps",
    [
        ["t.set_float32_matmul_precision('high')", "t.set_float32_matmul_precision('highest')"],
        [
            "setattr(b.cuda.matmul, 'allow_tf32', True)",
            "setattr(b.cuda.matmul, 'allow_tf32', False)",
        ],
        ["t.set_float32_matmul_precision('medium')", "t.set_float32_matmul_precision('highest')"],
    ],
)
def test_precision_of_products(steps):
    """The newer settings and the older ones speak of the same thing."""

    def values(t: Any) -> list[Any]:
        names = {"t": t, "b": t.backends}
        seen = []
        for step in steps:
            eval(step, names)
            seen += [t.backends.cuda.matmul.allow_tf32, t.get_float32_matmul_precision()]
            seen += [t.backends.cuda.matmul.fp32_precision, t.backends.cudnn.conv.fp32_precision]
        return seen

    assert values(fb) == values(torch)


class Shapes:
    """The same network in both frameworks."""

    def __new__(cls, t: Any) -> Any:
        class Net(t.nn.Module):  # type: ignore[misc,name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.conv = t.nn.Conv2d(1, 4, 3, padding=1)
                self.norm = t.nn.BatchNorm2d(4)
                self.head = t.nn.Linear(16, 3)

            def forward(self, x: Any) -> Any:
                x = t.nn.functional.max_pool2d(t.relu(self.norm(self.conv(x))), 2)
                return self.head(x.flatten(1)) / x.shape[1]

        Net.__module__ = "net"  # which TorchScript mangles
        t.manual_seed(0)
        return Net().eval()


def images(t: Any, count: int) -> Any:
    return t.linspace(-1, 1, count * 16).reshape(count, 1, 4, 4)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_traces():
    results = []
    for t in (fb, torch):
        traced = t.jit.trace(Shapes(t), images(t, 2))
        buffer = io.BytesIO()
        t.jit.save(traced, buffer)
        buffer.seek(0)
        loaded = t.jit.load(buffer)
        results.append((loaded(images(t, 5)).detach().numpy(), list(loaded.state_dict())))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-4, atol=1e-5)
    assert results[0][1] == results[1][1]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_file_of_torchscript_is_refused(tmp_path):
    torch.jit.trace(Shapes(torch), images(torch, 1)).save(str(tmp_path / "net.pt"))
    with pytest.raises(NotImplementedError, match="holds TorchScript code"):
        fb.jit.load(tmp_path / "net.pt")


@FRAMEWORKS
def test_compiled_modules(t):
    net = t.nn.Linear(2, 2)
    compiled = t.compile(net, backend="eager")
    assert list(compiled.state_dict()) == ["_orig_mod.weight", "_orig_mod.bias"]
    assert compiled._orig_mod is net
    compiled.eval()
    assert not net.training
    assert type(compiled).__name__ == "OptimizedModule"
    compiled.in_features = 7
    assert net.in_features == 7


@FRAMEWORKS
def test_own_operators(t):
    name = f"conformance_{t.__name__}::scaled"

    def scaled(x, by, times=2):
        return x * by * times

    scaled.__annotations__ = {"x": t.Tensor, "by": float, "times": int, "return": t.Tensor}
    op = t.library.custom_op(name, mutates_args=())(scaled)
    assert op._schema == "(Tensor x, float by, SymInt times=2) -> Tensor"
    overload = getattr(t.ops, name.partition("::")[0]).scaled.default
    assert overload.name() == name
    assert str(overload) == f"{name.replace('::', '.')}.default"
    assert op(t.ones(1), 3.0).item() == overload(t.ones(1), 3.0).item() == 6
    with pytest.raises(RuntimeError):
        op(3, 1.0)
    x = t.ones(1, requires_grad=True)
    with pytest.raises(RuntimeError, match=r"register_autograd"):
        op(x, 3.0).backward()
    op.register_autograd(
        lambda ctx, grad: (grad * ctx.factor, None, None),
        setup_context=lambda ctx, inputs, output: setattr(ctx, "factor", inputs[1] * inputs[2]),
    )
    op(x, 3.0).backward()
    assert x.grad.item() == 6


@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::UserWarning")
@pytest.mark.parametrize("seed", range(8))
def test_dynamic_quantization(seed):
    results = []
    for t in (fb, torch):
        t.manual_seed(seed)
        net = t.nn.Sequential(t.nn.Linear(8, 6), t.nn.ReLU(), t.nn.Linear(6, 3))
        small = t.ao.quantization.quantize_dynamic(net, {t.nn.Linear}, dtype=t.qint8)
        results.append(small(t.randn(5, 8)).detach().numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-5, atol=1e-5)


@FRAMEWORKS
def test_fused_layers(t):
    net = t.nn.Sequential(t.nn.Conv2d(1, 2, 1), t.nn.BatchNorm2d(2), t.nn.ReLU()).eval()
    fused = t.ao.quantization.fuse_modules(net, [["0", "1", "2"]])
    assert [type(layer).__name__ for layer in fused] == ["ConvReLU2d", "Identity", "Identity"]


@FRAMEWORKS
def test_a_group_of_one_process(t):
    dist = t.distributed
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    try:
        x = t.tensor([1.0, 2.0])
        assert dist.all_reduce(x, async_op=True).wait()
        gathered = [t.zeros(2)]
        dist.all_gather(gathered, x)
        assert gathered[0].tolist() == [1, 2]
        for wrong in (
            lambda: dist.broadcast(x, src=1),
            lambda: dist.all_gather([], x),
        ):
            with pytest.raises(RuntimeError):
                wrong()
        for wrong in (lambda: dist.gather(x), lambda: dist.new_group([0, 1])):
            with pytest.raises(ValueError):  # noqa: PT011 - each with its own words
                wrong()
        with pytest.raises(TypeError):
            dist.all_reduce([x])
        wrapped = t.nn.parallel.DistributedDataParallel(t.nn.Linear(2, 2))
        assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
        with pytest.raises(RuntimeError):
            t.nn.parallel.DistributedDataParallel(t.nn.ReLU())
    finally:
        dist.destroy_process_group()
