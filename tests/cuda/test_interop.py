"""Memory that other libraries share with tensors, both ways and without copies."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import _C, cuda
from tests.cuda.moving import CUDA


class Producer:
    """An array of another library: it offers a tensor's memory, and nothing else of a tensor."""

    def __init__(self, tensor: fb.Tensor, **changed: Any) -> None:
        self.tensor = tensor
        self.interface = dict(tensor.__cuda_array_interface__) | changed

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        return self.interface


@pytest.mark.parametrize(
    "dtype", [fb.bool, fb.uint8, fb.int32, fb.int64, fb.float16, fb.float64, fb.complex64]
)
def test_arrays_of_any_type(dtype: fb.dtype) -> None:
    x = fb.arange(6).reshape(2, 3).to(dtype).to(CUDA)
    for source in (x, x.t(), x[:, ::2], x[1], x[0, 0], x[:0]):
        y = fb.as_tensor(Producer(source))
        assert y.dtype == dtype
        assert y.shape == source.shape
        assert y.device == CUDA
        assert fb.equal(y.cpu(), source.cpu())
        assert source.numel() == 0 or y.data_ptr() == source.data_ptr()


def test_memory_is_shared_or_copied() -> None:
    x = fb.arange(4.0).to(CUDA)
    array = Producer(x)
    shared, copied = fb.as_tensor(array), fb.tensor(array)
    assert fb.asarray(array).data_ptr() == x.data_ptr()
    assert fb.asarray(array, copy=True).data_ptr() != x.data_ptr()
    assert fb.as_tensor(array, dtype=fb.int64).tolist() == [0, 1, 2, 3]
    assert fb.as_tensor(array, device="cpu").device.type == "cpu"
    x.add_(1)
    assert shared.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert copied.tolist() == [0.0, 1.0, 2.0, 3.0]
    assert fb.tensor(array, requires_grad=True).requires_grad


def test_the_array_lives_as_long_as_its_memory() -> None:
    array = Producer(fb.arange(3.0).to(CUDA))
    x = fb.as_tensor(array)
    del array
    fb.zeros(3, device=CUDA)
    assert x.tolist() == [0.0, 1.0, 2.0]


def test_the_interface_of_tensors() -> None:
    x = fb.ones(2, 3, device=CUDA)
    interface = x.__cuda_array_interface__
    assert (interface["version"], interface["stream"], interface["strides"]) == (3, 1, None)
    stream = cuda.Stream()
    with cuda.stream(stream):
        assert x.__cuda_array_interface__["stream"] == stream.cuda_stream
        assert fb.as_tensor(Producer(x, stream=1)).tolist() == x.tolist()
    for given in (1, 2, stream.cuda_stream, None):
        assert fb.as_tensor(Producer(x, stream=given)).tolist() == x.tolist()


@pytest.mark.parametrize(
    ("changed", "error", "message"),
    [
        ({"mask": 1}, TypeError, "masked arrays"),
        ({"typestr": ">f4"}, TypeError, "byte order"),
        ({"typestr": "<f16"}, TypeError, "no element type"),
        ({"strides": (-4,)}, ValueError, "negative"),
        ({"strides": (6,)}, ValueError, "no multiple"),
        ({"stream": 0}, ValueError, "stream 0"),
        ({"data": None}, TypeError, "expected shape, typestr and data"),
    ],
)
def test_interfaces_that_are_refused(changed: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fb.as_tensor(Producer(fb.ones(3, device=CUDA), **changed))


def test_memory_of_the_host_is_refused() -> None:
    host = fb.ones(3)
    array = Producer(fb.ones(3, device=CUDA), data=(host.data_ptr(), False))
    with pytest.raises(ValueError, match="no memory of a GPU"):
        fb.as_tensor(array)


class Capsules:
    """A producer of DLPack capsules that notes what it was asked."""

    def __init__(self, tensor: fb.Tensor, versions: bool = True) -> None:
        self.tensor = tensor
        self.versions = versions
        self.asked: dict[str, Any] = {}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, stream: Any = None, **options: Any) -> Any:
        if options and not self.versions:
            raise TypeError("a producer from before version 1.0")
        self.asked = {"stream": stream, **options}
        return self.tensor.__dlpack__(stream=stream, **options)


@pytest.mark.parametrize("versions", [True, False])
def test_capsules(versions: bool) -> None:
    x = fb.arange(6.0).reshape(2, 3).to(CUDA)
    for source in (x, x.t(), x[:, 1], x[:0]):
        producer = Capsules(source, versions)
        y = fb.from_dlpack(producer)
        assert y.device == CUDA
        assert y.stride() == source.stride()
        assert fb.equal(y.cpu(), source.cpu())
        assert producer.asked["stream"] == 1
    y = fb.from_dlpack(Capsules(x, versions))
    assert y.data_ptr() == x.data_ptr()
    x.zero_()
    assert y.sum().item() == 0.0
    stream = cuda.Stream()
    with cuda.stream(stream):
        producer = Capsules(x, versions)
        fb.from_dlpack(producer)
        assert producer.asked["stream"] == stream.cuda_stream


def test_streams_of_capsules() -> None:
    x = fb.ones(3, device=CUDA)
    for stream in (None, 1, 2, -1, cuda.Stream().cuda_stream):
        assert fb.from_dlpack(x.__dlpack__(stream=stream)).tolist() == [1.0, 1.0, 1.0]
    with pytest.raises(BufferError, match="stream 0"):
        x.__dlpack__(stream=0)


def test_capsules_move_and_copy() -> None:
    x = fb.arange(3.0).to(CUDA)
    there = fb.from_dlpack(x.__dlpack__(dl_device=(1, 0)))
    assert there.device.type == "cpu"
    assert there.tolist() == [0.0, 1.0, 2.0]
    with pytest.raises(ValueError, match="without a copy"):
        x.__dlpack__(dl_device=(1, 0), copy=False)
    assert fb.from_dlpack(x, device="cpu").device.type == "cpu"
    assert fb.from_dlpack(np.arange(3.0), device="cuda").device == CUDA
    assert fb.from_dlpack(x, device="cuda").data_ptr() == x.data_ptr()
    assert fb.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()


def test_old_capsules_are_consumed_once() -> None:
    capsule = fb.to_dlpack(fb.ones(2, device=CUDA))
    assert fb.from_dlpack(capsule).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="has not been consumed"):
        fb.from_dlpack(capsule)


def test_the_consumers_stream_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    noted: list[tuple[int, int, int]] = []
    monkeypatch.setattr(_C, "_cuda_order_streams", lambda *given: noted.append(given))
    x = fb.ones(3, device=CUDA)
    other = cuda.Stream().cuda_stream
    x.__dlpack__(stream=other)
    x.__dlpack__(stream=-1)
    x.__dlpack__(stream=1)
    assert noted == [(0, 0, other)]
