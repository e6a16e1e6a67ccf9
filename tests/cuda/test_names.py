"""The names of torch.cuda that programs use: each works here, or refuses and says what to do.

Those that the census counts in real programs are all here or in another file of this folder.
"""

import pathlib
import warnings
from typing import Any

import pytest

import flambeau as fb
from flambeau import accelerator, backends, cuda, nn
from tests.cuda.moving import CUDA

CENSUS = pathlib.Path(__file__).parents[1] / "data" / "census.tsv"


def named() -> list[str]:
    rows = (line.split("\t") for line in CENSUS.read_text().splitlines()[1:])
    names = (row[0].removeprefix("torch.") for row in rows)
    ours = ("cuda", "backends.cud", "Tensor.cuda", "nn.Module.cuda")
    return sorted(name for name in names if name.startswith(ours))


@pytest.mark.parametrize("name", named())
def test_counted_names_exist(name: str) -> None:
    found: Any = fb
    for part in name.split("."):
        if not hasattr(found, part):
            assert name in {"cuda.MemPool.id", "cuda.amp.grad_scaler"}, name
            break
        found = getattr(found, part)


def test_old_types() -> None:
    x = fb.ones(2, device=CUDA)
    assert isinstance(x, cuda.FloatTensor)
    assert not isinstance(x, fb.FloatTensor)
    assert cuda.LongTensor(2, 3).shape == (2, 3)
    assert cuda.FloatTensor(fb.Size([4])).shape == (4,)
    assert cuda.FloatTensor().shape == (0,)
    assert cuda.FloatTensor([[1, 2], [3, 4]]).tolist() == [[1.0, 2.0], [3.0, 4.0]]
    assert cuda.FloatTensor(x).data_ptr() == x.data_ptr()
    assert cuda.ByteTensor(3).fill_(7).tolist() == [7, 7, 7]
    for kind, dtype in (
        (cuda.HalfTensor, fb.float16),
        (cuda.BFloat16Tensor, fb.bfloat16),
        (cuda.DoubleTensor, fb.float64),
        (cuda.IntTensor, fb.int32),
        (cuda.ShortTensor, fb.int16),
        (cuda.CharTensor, fb.int8),
        (cuda.BoolTensor, fb.bool),
    ):
        made = kind([1, 0])
        assert made.dtype == dtype
        assert made.device == CUDA
        assert x.type(kind).dtype == dtype
    with pytest.raises(RuntimeError, match="expected a tensor on cuda, got cpu"):
        cuda.FloatTensor(fb.ones(1))
    assert x.type("torch.cuda.LongTensor").type() == "torch.cuda.LongTensor"
    assert x.type(fb.FloatTensor).device.type == "cpu"
    assert fb.ones(1).type("torch.cuda.HalfTensor").device == CUDA
    assert x.new(2).device == x.new([1, 2]).device == x.new_zeros(2).device == CUDA
    assert x.storage().cpu().cuda().device == CUDA


def test_the_default_type_and_device() -> None:
    try:
        fb.set_default_tensor_type(cuda.DoubleTensor)
        assert fb.zeros(1).device == CUDA
        assert fb.zeros(1).dtype == fb.float64
        fb.set_default_tensor_type("torch.cuda.FloatTensor")
        assert fb.tensor([1.0]).dtype == fb.float32
    finally:
        fb.set_default_tensor_type(fb.FloatTensor)
    assert fb.zeros(1).device.type == "cpu"
    try:
        fb.set_default_device("cuda")
        assert fb.arange(3).device == fb.empty(1).device == nn.LayerNorm(2).weight.device == CUDA
        assert fb.tensor([1.0]).device == fb.get_default_device() == CUDA
        assert fb.as_tensor([1.0]).device == CUDA
        assert fb.from_numpy(fb.ones(2, device="cpu").numpy()).device.type == "cpu"
    finally:
        fb.set_default_device(None)
    with fb.device("cuda"):
        assert fb.ones(1).device == CUDA
    assert fb.ones(1).device.type == "cpu"


def test_numbers_are_devices() -> None:
    assert fb.device(0) == CUDA
    assert (
        fb.ones(1, device=0).device == fb.ones(1).to(0).device == fb.ones(1).cuda(0).device == CUDA
    )
    assert nn.Linear(1, 1).cuda(0).weight.device == nn.Linear(1, 1).to(0).weight.device == CUDA
    assert fb.ones(1).cuda(non_blocking=True).device == CUDA


def test_what_a_gpu_can_do() -> None:
    major = cuda.get_device_capability()[0]
    assert cuda.is_bf16_supported()
    assert cuda.is_bf16_supported(including_emulation=False) == (major >= 8)
    assert cuda.is_tf32_supported() == (major >= 8)
    assert cuda.get_arch_list() == [f"sm_{major}{cuda.get_device_capability()[1]}"]
    assert cuda.get_gencode_flags().startswith("-gencode compute=compute_")
    assert fb.version.cuda is not None
    assert fb.version.cuda.count(".") == 1
    assert backends.cuda.is_built()
    assert fb.get_device_module() is cuda
    assert cuda.memory.list_gpu_processes()
    cuda.ipc_collect()
    assert not cuda.is_current_stream_capturing()


def test_settings() -> None:
    assert not backends.cuda.matmul.allow_tf32
    try:
        fb.set_float32_matmul_precision("high")
        assert backends.cuda.matmul.allow_tf32
        a = fb.ones(8, 8, device=CUDA)
        assert (a @ a).sum().item() == 512.0
    finally:
        fb.set_float32_matmul_precision("highest")
    assert not backends.cuda.matmul.allow_tf32
    for name in ("benchmark", "deterministic", "enabled", "allow_tf32"):
        before = getattr(backends.cudnn, name)
        setattr(backends.cudnn, name, not before)
        assert getattr(backends.cudnn, name) is not before
        setattr(backends.cudnn, name, before)
    with backends.cudnn.flags(enabled=False):
        assert not backends.cudnn.enabled
    assert backends.cudnn.is_available() == (backends.cudnn.version() is not None)
    assert backends.cudnn.is_acceptable(fb.ones(1, device=CUDA)) == backends.cudnn.is_available()
    assert not backends.cudnn.is_acceptable(fb.ones(1))


def test_the_accelerator() -> None:
    assert accelerator.is_available()
    assert accelerator.current_accelerator() == fb.device("cuda")
    assert accelerator.device_count() == cuda.device_count()
    assert accelerator.current_device_index() == 0
    accelerator.set_device_index(0)
    with accelerator.device_index(0), accelerator.device_index(None):
        assert accelerator.current_stream() == cuda.current_stream()
    accelerator.set_stream(cuda.default_stream())
    accelerator.synchronize()
    accelerator.empty_cache()
    x = fb.ones(1000, device=CUDA)
    assert accelerator.memory_allocated() >= 4000
    assert accelerator.max_memory_allocated() >= accelerator.memory_allocated()
    assert accelerator.max_memory_reserved() >= accelerator.memory_reserved() >= 4000
    assert accelerator.memory_stats()["active.all.current"] >= 1
    assert accelerator.get_memory_info()[1] == cuda.mem_get_info()[1]
    accelerator.reset_peak_memory_stats()
    accelerator.reset_accumulated_memory_stats()
    del x


def test_profilers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that there is no library of NVIDIA's for marks
        assert cuda.nvtx.range_push("outer") == 0
        with cuda.nvtx.range("inner {}", 3):
            cuda.nvtx.mark("here")
        assert cuda.nvtx.range_pop() == 0
        cuda.nvtx.range_end(cuda.nvtx.range_start("apart"))
    with cuda.profiler.profile():
        fb.ones(1, device=CUDA)
    runtime = cuda.cudart()
    assert runtime.cudaProfilerStart() == runtime.cudaProfilerStop() == 0
    assert runtime.cudaMemGetInfo(0)[1] == cuda.mem_get_info()[1]
    with pytest.raises(NotImplementedError, match=r"cudaHostRegister.*Tensor.pin_memory"):
        runtime.cudaHostRegister(0, 0, 0)


def test_synchronising_calls_are_not_reported() -> None:
    assert cuda.get_sync_debug_mode() == 0
    cuda.set_sync_debug_mode("default")
    with pytest.raises(NotImplementedError, match="set_sync_debug_mode: not there for GPUs yet"):
        cuda.set_sync_debug_mode("warn")


@pytest.mark.parametrize(
    "call",
    [
        lambda: cuda.current_blas_handle(),
        lambda: cuda.CUDAGraph(),
        lambda: cuda.graph(None),
        lambda: cuda.graph_pool_handle(),
        lambda: cuda.make_graphed_callables(None, ()),
        lambda: cuda.MemPool(),
        lambda: cuda.use_mem_pool(None),
        lambda: cuda.nccl.version(),
        lambda: cuda.utilization(),
        lambda: cuda.temperature(),
        lambda: cuda.memory_usage(),
        lambda: cuda.caching_allocator_alloc(8),
        lambda: cuda.change_current_allocator(None),
        lambda: cuda.jiterator._create_jit_fn(""),
    ],
)
def test_what_is_refused_says_so(call: Any) -> None:
    with pytest.raises((AssertionError, RuntimeError), match="not there for GPUs yet; "):
        call()


def test_copies_between_gpus() -> None:
    x = fb.arange(6.0).reshape(3, 2).to(CUDA)
    (same,) = cuda.comm.broadcast(x, [0])
    assert same.device == CUDA
    assert cuda.comm.broadcast(x, out=[fb.empty(3, 2, device=CUDA)])[0].tolist() == x.tolist()
    assert cuda.comm.broadcast_coalesced([x, x], [0])[0][1].tolist() == x.tolist()
    assert cuda.comm.reduce_add([x, x, x]).tolist() == (x * 3).tolist()
    parts = cuda.comm.scatter(x.cpu(), [0, 0], [1, 2])
    assert [part.shape[0] for part in parts] == [1, 2]
    assert cuda.comm.gather(parts).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="either devices or out"):
        cuda.comm.broadcast(x)


def test_one_gpu_in_parallel() -> None:
    net = nn.DataParallel(nn.Linear(3, 2))
    assert net.device_ids[:1] == [0]
    assert next(net.parameters()).device == CUDA or cuda.device_count() > 1
    y = net.cuda()(fb.ones(4, 3))
    assert y.device == CUDA
    y.sum().backward()
    assert net.module.bias.grad is not None
    assert net.module.bias.grad.tolist() == [4.0, 4.0]
    assert list(net.state_dict()) == ["module.weight", "module.bias"]


def test_pinned_memory_of_factories() -> None:
    like = fb.ones(2, 3)
    for made in (
        fb.zeros(2, 3, pin_memory=True),
        fb.empty(2, 3, pin_memory=True),
        fb.arange(6, pin_memory=True),
        fb.tensor([1.0], pin_memory=True, requires_grad=True),
        fb.zeros_like(like, pin_memory=True),
        like.new_ones(3, pin_memory=True),
        like.new_tensor([1.0], pin_memory=True),
        fb.rand(2, pin_memory=True),
    ):
        assert made.is_pinned()
        assert made.untyped_storage().is_pinned()
    assert fb.tensor([1.0], pin_memory=True, requires_grad=True).is_leaf
    assert not fb.zeros(2, pin_memory=False).is_pinned()
    with pytest.raises(RuntimeError, match="only dense CPU tensors can be pinned"):
        fb.zeros(2, device=CUDA, pin_memory=True)
