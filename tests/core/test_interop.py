"""Memory shared with NumPy, buffers and DLPack: who sees whose writes, and who keeps it alive."""

from __future__ import annotations

import gc
import io
import threading

import numpy as np
import pytest

import flambeau as fb
from flambeau.utils import dlpack

NUMPY_TYPES = ["bool", "uint8", "int8", "int16", "int32", "int64"]
NUMPY_TYPES += ["float16", "float32", "float64", "complex64", "complex128"]


class Array(np.ndarray):
    """An array whose death can be seen."""

    alive = 0

    def __array_finalize__(self, source):
        Array.alive += 1

    def __del__(self):
        Array.alive -= 1


@pytest.fixture
def counted():
    Array.alive = 0
    yield lambda: np.arange(6.0).view(Array)
    gc.collect()
    assert Array.alive == 0


class TestNumpy:
    @pytest.mark.parametrize("dtype", NUMPY_TYPES)
    def test_both_ways_share_memory(self, dtype):
        array = np.arange(6).reshape(2, 3).astype(dtype)
        tensor = fb.from_numpy(array)
        assert str(tensor.dtype) == f"torch.{dtype}"
        assert tensor.tolist() == array.tolist()
        tensor[0, 0] = 1
        assert array[0, 0] == 1
        back = tensor.numpy()
        assert back.dtype == array.dtype
        back[1, 2] = 0
        assert array[1, 2] == 0

    def test_strides_are_kept(self):
        array = np.arange(24).reshape(2, 3, 4)[:, ::2, 1:].transpose(2, 0, 1)
        tensor = fb.from_numpy(array)
        assert tensor.stride() == tuple(stride // 8 for stride in array.strides)
        assert tensor.tolist() == array.tolist()
        assert tensor.numpy().strides == array.strides
        assert fb.arange(6).reshape(2, 3).t().numpy().tolist() == [[0, 3], [1, 4], [2, 5]]

    @pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)])
    def test_special_shapes(self, shape):
        array = np.ones(shape, np.float32)
        assert fb.from_numpy(array).shape == shape
        assert fb.ones(shape).numpy().shape == shape

    def test_the_tensor_keeps_the_array_alive(self, counted):
        tensor = fb.from_numpy(counted())[2:]
        gc.collect()
        assert Array.alive == 1
        assert tensor.tolist() == [2, 3, 4, 5]
        del tensor

    def test_the_array_keeps_the_memory_alive(self):
        tensor = fb.arange(5)
        array = tensor.numpy()
        del tensor
        gc.collect()
        fb.zeros(5, dtype=fb.int64)  # would take the block, had it been freed
        assert array.tolist() == [0, 1, 2, 3, 4]

    def test_a_lent_storage_is_not_resized(self):
        tensor = fb.arange(5)
        array = tensor.numpy()
        with pytest.raises(RuntimeError, match="resiz"):
            tensor.resize_(1000)
        assert array.tolist() == [0, 1, 2, 3, 4]

    def test_last_reference_dropped_in_another_thread(self, counted):
        held = [fb.from_numpy(counted())]
        thread = threading.Thread(target=held.clear)
        thread.start()
        thread.join()
        assert not held

    def test_refused(self):
        with pytest.raises(TypeError, match=r"expected np.ndarray \(got list\)"):
            fb.from_numpy([1])
        with pytest.raises(ValueError, match="negative"):
            fb.from_numpy(np.arange(3)[::-1])
        with pytest.raises(ValueError, match="byte order"):
            fb.from_numpy(np.array([1], ">i4"))
        with pytest.raises(TypeError, match=r"numpy.str_"):
            fb.from_numpy(np.array(["a"]))
        with pytest.raises(ValueError, match="not a multiple"):
            fb.from_numpy(np.zeros(3, [("a", "i1"), ("b", "f4")])["b"])
        with pytest.raises(TypeError, match="BFloat16"):
            fb.ones(2, dtype=fb.bfloat16).numpy()

    def test_array_functions(self):
        tensor = fb.arange(4.0)
        assert np.asarray(tensor).base is not None
        assert np.asarray(tensor).ctypes.data == tensor.data_ptr()
        assert np.asarray(tensor, dtype=np.int64).tolist() == [0, 1, 2, 3]
        assert np.array(tensor).ctypes.data != tensor.data_ptr()
        assert np.sum(tensor.numpy()) == 6
        assert tensor.__array__().tolist() == [0, 1, 2, 3]

    def test_numpy_scalars_are_arguments(self):
        x = fb.ones(3)
        assert (x * np.float32(2)).dtype == fb.float32
        assert (x * np.float64(2)).tolist() == [2, 2, 2]
        assert (fb.ones(3, dtype=fb.int64) + np.int32(2)).tolist() == [3, 3, 3]
        assert fb.zeros(np.int64(2), np.int32(3)).shape == (2, 3)
        assert x.sum(dim=np.int64(0)).item() == 3
        assert fb.tensor(np.float32(1.5)).dtype == fb.float32
        assert fb.tensor(np.bool_(True)).dtype == fb.bool
        assert x[np.int64(1)].item() == 1

    def test_tensor_of_arrays(self):
        array = np.arange(3, dtype=np.int32)
        copied = fb.tensor(array)
        array[0] = 9
        assert copied.tolist() == [0, 1, 2]
        assert copied.dtype == fb.int32
        shared = fb.as_tensor(array)
        array[1] = 7
        assert shared.tolist() == [9, 7, 2]
        assert fb.tensor([array, array]).shape == (2, 3)
        assert fb.as_tensor(array, dtype=fb.float32).tolist() == [9, 7, 2]


class TestBuffer:
    def test_memoryview(self):
        tensor = fb.arange(6).reshape(2, 3)
        view = memoryview(tensor)
        assert (view.format, view.shape, view.strides) == ("q", (2, 3), (24, 8))
        view[1, 2] = 9
        assert tensor[1, 2].item() == 9
        assert bytes(memoryview(fb.ones(1, dtype=fb.uint8))) == b"\x01"

    def test_the_view_keeps_the_memory_alive(self):
        view = memoryview(fb.arange(3))
        gc.collect()
        fb.zeros(3, dtype=fb.int64)
        assert view.tolist() == [0, 1, 2]

    def test_refused(self):
        with pytest.raises(BufferError, match="bfloat16"):
            memoryview(fb.ones(2, dtype=fb.bfloat16))
        with pytest.raises(BufferError, match="contiguous"):
            io.BytesIO().write(fb.arange(6).reshape(2, 3).t())

    def test_frombuffer(self):
        data = bytearray(16)
        tensor = fb.frombuffer(data, dtype=fb.float32, count=2, offset=4)
        tensor.fill_(1)
        assert bytes(data[4:12]) == np.ones(2, np.float32).tobytes()
        assert fb.frombuffer(data, dtype=fb.int16).shape == (8,)
        with pytest.raises(BufferError):
            data.clear()  # the tensor holds it

    def test_storages_cover_what_the_tensor_does(self):
        data, array = bytearray(64), np.arange(16, dtype=np.float32)
        made = [
            fb.frombuffer(data, dtype=fb.float32, count=4, offset=8),
            fb.from_numpy(array[2:6]),
            fb.as_tensor(array[2:6]),
            fb.from_dlpack(fb.arange(16.0)[2:6]),
            fb.asarray(memoryview(array)[2:6]),
        ]
        for tensor in made:
            assert tensor.untyped_storage().nbytes() == 16
            assert tensor.storage_offset() == 0
        file = io.BytesIO()
        fb.save(fb.frombuffer(bytearray(1 << 20), dtype=fb.uint8, count=4), file)
        assert len(file.getvalue()) < 10_000

    @pytest.mark.parametrize(
        ("size", "options", "message"),
        [
            (8, {"count": 3}, r"requested buffer length \(3 \* 4 bytes\)"),
            (8, {"offset": 3}, "multiple of element size"),
            (7, {}, "multiple of element size"),
            (8, {"offset": 8}, "offset"),
            (8, {"offset": -1}, "offset"),
            (0, {}, "must not be 0"),
            (8, {"count": 0}, "must not be 0"),
        ],
    )
    def test_frombuffer_refused(self, size, options, message):
        with pytest.raises(ValueError, match=message):
            fb.frombuffer(bytearray(size), dtype=fb.float32, **options)

    def test_read_only(self):
        with pytest.warns(UserWarning, match="not writable"):
            assert fb.frombuffer(b"ab", dtype=fb.uint8).tolist() == [97, 98]


class TestDLPack:
    @pytest.mark.parametrize("dtype", NUMPY_TYPES)
    def test_numpy_both_ways(self, dtype):
        array = np.arange(6).reshape(2, 3).astype(dtype)
        tensor = fb.from_dlpack(array)
        assert tensor.data_ptr() == array.ctypes.data
        assert tensor.tolist() == array.tolist()
        back = np.from_dlpack(tensor)
        assert back.dtype == array.dtype
        assert back.ctypes.data == array.ctypes.data

    def test_lifetime(self, counted):
        tensor = fb.from_dlpack(counted())
        gc.collect()
        assert tensor.tolist() == [0, 1, 2, 3, 4, 5]
        del tensor
        array = np.from_dlpack(fb.arange(4))
        gc.collect()
        fb.zeros(4, dtype=fb.int64)
        assert array.tolist() == [0, 1, 2, 3]

    def test_strides_and_offset(self):
        tensor = fb.arange(12).reshape(3, 4)[1:, ::2].t()
        assert np.from_dlpack(tensor).tolist() == tensor.tolist()
        assert fb.from_dlpack(tensor).stride() == tensor.stride()

    def test_both_forms_of_capsule(self):
        tensor = fb.arange(3)
        for options in ({}, {"max_version": (1, 0)}, {"max_version": (1, 0), "copy": True}):
            taken = fb.from_dlpack(tensor.__dlpack__(**options))
            assert taken.tolist() == [0, 1, 2]
            assert (taken.data_ptr() == tensor.data_ptr()) == ("copy" not in options)

    def test_a_capsule_is_consumed_once(self):
        capsule = dlpack.to_dlpack(fb.ones(2))
        dlpack.from_dlpack(capsule)
        with pytest.raises(RuntimeError, match="capsule"):
            dlpack.from_dlpack(capsule)

    def test_an_unused_capsule_gives_the_memory_back(self, counted):
        fb.from_numpy(counted()).__dlpack__()
        fb.from_numpy(counted()).__dlpack__(max_version=(1, 0))

    def test_bfloat16_stays_inside(self):
        tensor = fb.ones(2, dtype=fb.bfloat16)
        assert fb.from_dlpack(tensor).dtype == fb.bfloat16

    def test_device_and_copy(self):
        assert fb.ones(2).__dlpack_device__() == (1, 0)
        tensor = fb.ones(2)
        assert fb.from_dlpack(tensor, device="cpu", copy=True).data_ptr() != tensor.data_ptr()

    def test_refused(self):
        with pytest.raises(RuntimeError, match="capsule"):
            fb.from_dlpack(3)
        with pytest.raises(ValueError, match="negative"):
            fb.from_dlpack(np.arange(3)[::-1])
        with pytest.raises(AssertionError, match="stream"):
            fb.ones(2).__dlpack__(stream=3)
