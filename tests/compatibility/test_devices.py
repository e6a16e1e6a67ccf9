"""Missing devices: queries answer, and what needs a device raises an error."""

from __future__ import annotations

import pytest

import flambeau as torch
from flambeau import accelerator, cpu, cuda, mps, mtia, nn, xpu

REMEDY = r"ask torch\.cuda\.is_available\(\) first"


def test_questions_about_gpus():
    assert not cuda.is_available()
    assert cuda.device_count() == 0
    assert not cuda.is_initialized()
    assert not cuda.is_bf16_supported(including_emulation=False)
    assert cuda.get_arch_list() == []
    assert cuda.default_generators == ()
    assert issubclass(cuda.OutOfMemoryError, RuntimeError)
    assert cuda.OutOfMemoryError is torch.OutOfMemoryError
    assert torch.version.cuda is None
    assert torch.version.hip is None
    assert torch.version.xpu is None


def test_what_is_set_without_a_gpu():
    cuda.manual_seed(1)
    cuda.manual_seed_all(1)
    cuda.seed_all()
    cuda.empty_cache()
    cuda.set_rng_state(torch.get_rng_state())
    cuda.set_rng_state_all(cuda.get_rng_state_all())
    with pytest.raises(ValueError, match="invalid literal"):
        cuda.manual_seed("seven")


def test_the_generator_of_the_cpu_is_left_alone():
    torch.manual_seed(3)
    expected = torch.rand(2)
    torch.manual_seed(3)
    cuda.manual_seed_all(7)
    assert torch.equal(torch.rand(2), expected)


def test_memory_of_gpus():
    assert cuda.memory_allocated() == cuda.max_memory_allocated(0) == 0
    assert cuda.memory_reserved() == cuda.max_memory_reserved("cuda") == 0
    assert len(cuda.memory_stats()) == 0
    assert cuda.memory.memory_stats() == {}


@pytest.mark.parametrize(
    "call",
    [
        lambda: cuda.synchronize(),
        lambda: cuda.synchronize(device=0),
        lambda: cuda.current_device(),
        lambda: cuda.get_device_name(0),
        lambda: cuda.get_device_properties("cuda"),
        lambda: cuda.get_device_capability(),
        lambda: cuda.current_stream(device=None),
        lambda: cuda.mem_get_info(),
        lambda: cuda.reset_peak_memory_stats(),
        lambda: cuda.get_rng_state(),
        lambda: cuda.nccl.version(),
        lambda: cuda.comm.broadcast(torch.ones(1), [0]),
        lambda: cuda.set_device(0),
        lambda: torch.ones(1).cuda(),
        lambda: torch.ones(1).cuda(0, non_blocking=True),
        lambda: torch.ones(1).to("cuda:1"),
        lambda: torch.zeros(2, device="cuda"),
        lambda: torch.tensor([1.0], device=torch.device("cuda", 0)),
        lambda: torch.ones(1).type("torch.cuda.FloatTensor"),
        lambda: torch.ones(1).type(cuda.FloatTensor),
        lambda: nn.Linear(1, 1).cuda(),
        lambda: nn.Linear(1, 1).to("cuda"),
        lambda: torch.set_default_device("cuda"),
    ],
)
def test_what_needs_a_gpu(call):
    with pytest.raises(AssertionError, match=REMEDY):
        call()


@pytest.mark.parametrize(
    "call",
    [
        lambda: cuda.Stream(device=0),
        lambda: cuda.Event(enable_timing=True),
        lambda: cuda.CUDAGraph(),
        lambda: cuda.graph(None, pool=None, stream=None),
        lambda: cuda.graph_pool_handle(),
        lambda: cuda.nvtx.range_push("step"),
        lambda: cuda.nvtx.range("step").__enter__(),
        lambda: cuda.device(0).__enter__(),
    ],
)
def test_objects_of_gpus(call):
    with pytest.raises(RuntimeError, match=REMEDY):
        call()


def test_blocks_without_a_gpu():
    with cuda.device(-1), cuda.device(None), cuda.stream(None), cuda.device_of(torch.ones(1)):
        assert torch.ones(1).device == torch.device("cpu")
    cuda.set_device(-1)
    cuda.set_stream(None)
    assert not cuda.is_current_stream_capturing()


def test_a_device_of_another_kind():
    with pytest.raises(ValueError, match="Expected a cuda device, but got: cpu"):
        cuda.set_device("cpu")
    with pytest.raises(RuntimeError, match="cuda: expected a cuda device, got cpu"):
        torch.ones(1).cuda("cpu")


def test_old_types():
    assert cuda.FloatTensor.dtype == torch.float32
    assert cuda.LongTensor.is_cuda
    assert repr(cuda.HalfTensor) == "<class 'torch.cuda.HalfTensor'>"
    assert not isinstance(torch.ones(1), cuda.FloatTensor)
    assert isinstance(torch.ones(1), torch.FloatTensor)
    with pytest.raises(TypeError, match=REMEDY):
        cuda.FloatTensor(3)
    with pytest.raises(TypeError, match="no GPU can be used here"):
        torch.set_default_tensor_type(cuda.FloatTensor)


def test_tensors_and_gpus():
    x = torch.ones(2)
    assert not x.is_cuda
    assert not x.is_pinned()
    assert x.get_device() == -1
    with pytest.raises(RuntimeError, match="pin_memory: page-locked memory needs a GPU"):
        x.pin_memory()
    with pytest.raises(RuntimeError, match="record_stream: expected a tensor on a GPU"):
        x.record_stream(torch.Stream())


def test_device_as_a_block():
    with torch.device("cpu") as device:
        assert device == torch.device("cpu")
        assert torch.ones(1).device == device
    with pytest.raises(AssertionError, match=REMEDY), torch.device("cuda"):
        pass


@pytest.mark.parametrize("module", [cuda, mps, mtia, xpu, accelerator])
def test_other_devices(module):
    assert not module.is_available()
    assert module.device_count() == 0
    with pytest.raises((AssertionError, RuntimeError), match="is_available"):
        module.synchronize()


def test_accelerator():
    assert accelerator.current_accelerator() is None
    with accelerator.device_index(None):
        pass
    first = accelerator.device_index(0)
    with pytest.raises(RuntimeError, match=r"accelerator\.device_index: "), first:
        pass


def test_modules_of_devices():
    assert torch.get_device_module("cuda") is cuda
    assert torch.get_device_module(torch.device("cpu")) is cpu
    assert torch.get_device_module() is cpu
    with pytest.raises(RuntimeError, match="there is no module for device 'tpu'"):
        torch.get_device_module("tpu")


def test_cpu_as_a_device():
    assert cpu.is_available()
    assert cpu.device_count() == 1
    assert cpu.current_device() == "cpu"
    stream = cpu.Stream()
    with cpu.stream(stream):
        assert cpu.current_stream() is stream
    assert cpu.current_stream() is not stream
    cpu.synchronize()


def test_streams_and_events_of_any_device():
    stream = torch.Stream()
    assert stream.query()
    assert stream == torch.Stream("cpu")
    start, end = (torch.Event(enable_timing=True) for _ in range(2))
    start.record()
    assert stream.record_event(end) is end
    assert start.elapsed_time(end) >= 0
    with pytest.raises(ValueError, match="enable_timing=True"):
        start.elapsed_time(torch.Event())
    with pytest.raises(ValueError, match="must have been recorded"):
        start.elapsed_time(torch.Event(enable_timing=True))
    with pytest.raises(RuntimeError, match="Stream: no GPU can be used here"):
        torch.Stream("cuda")


FACTORIES = [
    *("torch.empty(2)", "torch.zeros(2)", "torch.full((2,), 1.0)", "torch.tensor([1.0])"),
    *("torch.arange(3)", "torch.linspace(0, 1, 3)", "torch.eye(2)", "torch.rand(2)"),
    *("torch.randint(3, (2,))", "torch.randperm(3)", "torch.hann_window(3)"),
    *("torch.zeros_like(x)", "torch.rand_like(x)", "x.new_zeros(2)", "x.new_tensor([1.0])"),
    *("torch.empty_strided((2,), (1,))", "torch.normal(0.0, 1.0, (2,))"),
]


@pytest.mark.parametrize("call", FACTORIES)
def test_pinned_memory_is_refused(call):
    names = {"torch": torch, "x": torch.ones(2)}
    assert not eval(f"{call[:-1]}, pin_memory=False)", names).is_pinned()
    with pytest.raises(RuntimeError, match="pin_memory=True requires a CUDA or other accelerator"):
        eval(f"{call[:-1]}, pin_memory=True)", names)


def test_texts_that_are_no_device():
    # array_api_compat reads the names of devices out of this error.
    with pytest.raises(RuntimeError) as caught:
        torch.device("notadevice")
    names = str(caught.value).split("Expected one of ")[1].split(" device type")[0].split(", ")
    assert {torch.device(name).type for name in names} == set(names)
    assert {"cpu", "cuda", "meta", "mps"} < set(names)
    assert str(caught.value).endswith(" device type at start of device string: notadevice")
    with pytest.raises(RuntimeError, match=r"at start of device string: bad$"):
        torch.device("bad:0")
    for text in ("cpu:x", "cuda:-1", "cpu:0:1", "cuda:", "cuda:01", " cpu", "cpu:0 "):
        with pytest.raises(RuntimeError, match=f"^Invalid device string: '{text}'$"):
            torch.device(text)
    with pytest.raises(RuntimeError, match=r"^Device string must not be empty$"):
        torch.device("")
    with pytest.raises(RuntimeError, match="must not include an index because index was passed"):
        torch.device("cpu:0", 1)
    with pytest.raises(RuntimeError, match=r"^Device index must not be negative"):
        torch.device("cpu", -1)
