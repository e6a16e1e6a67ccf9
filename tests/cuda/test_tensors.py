"""Tensors that live on the device: moving, looking, storing."""

import copy
import io
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from tests.cuda.moving import CUDA


def test_tensors_move_there_and_back() -> None:
    x = fb.arange(6.0).reshape(2, 3)
    there = x.to(CUDA)
    assert there.device == CUDA
    assert there.is_cuda
    assert not there.is_cpu
    assert there.get_device() == 0
    assert there.to("cuda") is there
    assert x.cuda().device == x.to(0).device == CUDA
    assert fb.equal(there.cpu(), x)
    assert fb.equal(there.t().to("cpu"), x.t())
    assert there.to("cpu", fb.float64).dtype == fb.float64
    assert fb.equal(x.double().to("cuda", fb.float16).cpu(), x.half())
    assert x.to(there).device == CUDA


@pytest.mark.parametrize(
    "dtype", [fb.bool, fb.uint8, fb.int64, fb.float16, fb.bfloat16, fb.complex64]
)
def test_any_type_and_any_strides(dtype: Any) -> None:
    x = fb.arange(2 * 3 * 4).reshape(2, 3, 4).to(dtype)
    for view in (
        x,
        x.transpose(0, 2),
        x[:, ::2],
        x[:, :, 1],
        x.expand(2, 2, 3, 4),
        x[0, 0, 0],
        x[:0],
    ):
        there = view.to(CUDA)
        assert there.shape == view.shape
        assert fb.equal(there.cpu(), view)
        assert fb.equal(
            x.to(CUDA).as_strided(view.shape, view.stride(), view.storage_offset()).cpu(), view
        )


def test_copies_on_the_device_convert() -> None:
    x = fb.tensor([[0.0, 1.5, -2.5], [3.0, 0.25, 7.0]])
    there = x.to(CUDA)
    for dtype in (fb.int64, fb.uint8, fb.bool, fb.float64, fb.half, fb.bfloat16, fb.complex64):
        values = x.abs() if dtype == fb.uint8 else x
        moved = values.to(CUDA)
        assert fb.equal(moved.to(dtype).cpu(), values.to(dtype))
        assert fb.equal(moved.t().to(dtype).cpu(), values.t().to(dtype))
    out = fb.empty(3, 2, device=CUDA)
    out.copy_(there.t())
    assert fb.equal(out.cpu(), x.t())


def test_single_elements_are_read() -> None:
    x = fb.tensor([1.5, 2.5], device=CUDA)
    assert x[1].item() == 2.5
    assert x.tolist() == [1.5, 2.5]
    assert bool(x[0] < x[1])


def test_a_tensor_is_printed() -> None:
    assert repr(fb.tensor([1, 2], device=CUDA)) == "tensor([1, 2], device='cuda:0')"


def test_numpy_asks_for_a_copy() -> None:
    with pytest.raises(TypeError, match=r"Use Tensor.cpu\(\)"):
        fb.ones(3, device=CUDA).numpy()


def test_factories_make_tensors_there() -> None:
    assert fb.zeros(2, 3, device="cuda").tolist() == [[0.0] * 3] * 2
    assert fb.full((2,), 3, device=CUDA).tolist() == [3, 3]
    assert fb.arange(2, 7, 2, device="cuda:0").tolist() == [2, 4, 6]
    assert fb.as_tensor(np.ones(2), device=CUDA).tolist() == [1.0, 1.0]
    assert fb.cuda.FloatTensor([1, 2]).tolist() == [1.0, 2.0]
    assert fb.ones(1, device=CUDA).type() == "torch.cuda.FloatTensor"


def test_a_file_keeps_the_elements() -> None:
    x = fb.arange(4.0).to(CUDA)
    file = io.BytesIO()
    fb.save({"x": x, "view": x[1:3]}, file)
    for place, expected in ((None, CUDA), ("cpu", fb.device("cpu")), ("cuda:0", CUDA)):
        file.seek(0)
        loaded = fb.load(file, map_location=place)
        assert loaded["x"].device == expected
        assert loaded["x"].tolist() == [0.0, 1.0, 2.0, 3.0]
        assert loaded["view"].tolist() == [1.0, 2.0]


def test_copies_stay_there() -> None:
    x = fb.arange(4.0).to(CUDA)
    assert copy.deepcopy(x).device == CUDA
    assert copy.deepcopy(x).tolist() == x.tolist()


def test_numbers_of_the_host_meet_tensors_of_the_device() -> None:
    there = fb.ones(3, device=CUDA) * fb.tensor(2.0)
    assert there.device == CUDA
    assert there.tolist() == [2.0, 2.0, 2.0]
    assert (fb.tensor(3.0, device=CUDA) * fb.tensor(2.0)).item() == 6.0
    with pytest.raises(RuntimeError, match=r"same device.*(cpu.*cuda|cuda.*cpu)"):
        fb.ones(3, device=CUDA) + fb.ones(3)


def test_many_dimensions() -> None:
    x = fb.arange(2.0**11).reshape([2] * 11).permute(*range(10, -1, -1))
    y = x.to(CUDA)
    assert fb.equal((y + 1).cpu(), x + 1)
    assert fb.equal(
        (y.permute(*range(10, -1, -1))[..., ::1].contiguous() * y).cpu(),
        x.permute(*range(10, -1, -1)) * x,
    )


def test_gradients_return_to_where_their_input_is() -> None:
    x = fb.arange(3.0, requires_grad=True)
    (x.to(CUDA) * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_pinned_memory() -> None:
    x = fb.arange(5.0)
    pinned = x.pin_memory()
    assert pinned.is_pinned()
    assert pinned.pin_memory() is pinned
    assert not x.is_pinned()
    there = pinned.to(CUDA, non_blocking=True)
    back = fb.empty(5).pin_memory()
    back.copy_(there, non_blocking=True)
    fb.cuda.synchronize()
    assert fb.equal(back, x)
    del pinned, back


def test_what_has_no_kernel_is_refused_by_name() -> None:
    x = fb.ones([2] * 18, device=CUDA)
    with pytest.raises(NotImplementedError, match="sum: no kernel on cuda for reductions of more"):
        x.sum(tuple(range(0, 18, 2)))


def test_other_libraries_share_the_memory() -> None:
    x = fb.arange(6.0).reshape(2, 3).to(CUDA)
    assert x.__dlpack_device__() == (2, 0)
    y = fb.from_dlpack(x)
    assert y.device == CUDA
    assert y.data_ptr() == x.data_ptr()
    x.add_(1)
    assert y.tolist() == [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]
    with fb.cuda.stream(fb.cuda.Stream()):
        assert fb.from_dlpack(x).tolist() == x.tolist()
    interface = x.t().__cuda_array_interface__
    assert interface["data"] == (x.data_ptr(), False)
    assert interface["shape"] == (3, 2)
    assert interface["strides"] == (4, 12)
    assert interface["typestr"] == "<f4"
    assert not hasattr(fb.ones(1), "__cuda_array_interface__")


def test_a_bad_index_is_an_error_and_no_end() -> None:
    x = fb.arange(10.0).to(CUDA)
    picked = x[fb.tensor([1, 12, -1]).to(CUDA)]
    with pytest.raises(IndexError, match="the index 12, which is out of bounds for dimension 0"):
        fb.cuda.synchronize()
    fb.cuda.synchronize()
    assert picked[2].item() == 9.0
    assert x[fb.tensor([1, -1]).to(CUDA)].tolist() == [1.0, 9.0]
    with pytest.raises(IndexError, match="size 10"):
        x.gather(0, fb.tensor([10]).to(CUDA)).item()
