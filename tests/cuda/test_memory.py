"""The caching allocator."""

import gc

import pytest

import flambeau as fb
from flambeau import cuda

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _clean() -> None:
    gc.collect()
    cuda.synchronize()
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()


def test_what_is_allocated_is_counted() -> None:
    before = cuda.memory_allocated()
    x = fb.empty(MIB, dtype=fb.uint8, device="cuda")
    y = fb.empty(1, device="cuda")
    assert cuda.memory_allocated() - before == MIB + 512
    assert cuda.memory_reserved() >= cuda.memory_allocated()
    del x, y
    assert cuda.memory_allocated() == before
    assert cuda.max_memory_allocated() - before == MIB + 512
    stats = cuda.memory_stats()
    assert stats["allocated_bytes.all.current"] == before
    assert stats["requested_bytes.small_pool.peak"] >= MIB + 4
    assert "reserved" in cuda.memory_summary()
    cuda.reset_peak_memory_stats()
    assert cuda.max_memory_allocated() == before


def test_memory_is_given_out_again() -> None:
    x = fb.empty(3 * MIB, dtype=fb.uint8, device="cuda")
    address, reserved = x.data_ptr(), cuda.memory_reserved()
    del x
    y = fb.empty(3 * MIB, dtype=fb.uint8, device="cuda")
    assert y.data_ptr() == address
    assert cuda.memory_reserved() == reserved
    del y
    cuda.empty_cache()
    assert cuda.memory_reserved() < reserved


def test_neighbours_are_joined() -> None:
    parts = [fb.empty(8 * MIB, dtype=fb.uint8, device="cuda") for _ in range(8)]
    reserved = cuda.memory_reserved()
    del parts
    whole = fb.empty(64 * MIB, dtype=fb.uint8, device="cuda")
    assert cuda.memory_reserved() == reserved
    del whole


def test_a_small_block_serves_its_size_again() -> None:
    x = fb.empty(3000, dtype=fb.uint8, device="cuda")
    y = fb.empty(3000, dtype=fb.uint8, device="cuda")
    addresses = [x.data_ptr(), y.data_ptr()]
    del x, y
    again = [fb.empty(2900, dtype=fb.uint8, device="cuda") for _ in range(2)]
    assert [each.data_ptr() for each in again] == addresses[::-1]


def test_small_neighbours_are_joined_before_memory_is_missing() -> None:
    with cuda.stream(cuda.Stream()):  # whose small pool is empty
        parts = [fb.empty(512, dtype=fb.uint8, device="cuda") for _ in range(2 * MIB // 512)]
        reserved, before = cuda.memory_reserved(), cuda.memory_stats()
        del parts
        freed = cuda.memory_stats()
        blocks = "inactive_split.small_pool.current"
        assert freed[blocks] - before[blocks] == 2 * MIB // 512
        halves = [fb.empty(MIB, dtype=fb.uint8, device="cuda") for _ in range(2)]
        assert cuda.memory_reserved() == reserved
        assert cuda.memory_stats()[blocks] == before[blocks]
        del halves


def test_kept_small_blocks_are_returned() -> None:
    cuda.empty_cache()
    reserved = cuda.memory_reserved()
    with cuda.stream(cuda.Stream()):
        parts = [fb.empty(512, dtype=fb.uint8, device="cuda") for _ in range(2 * MIB // 512)]
        assert cuda.memory_reserved() == reserved + 2 * MIB
        del parts
    cuda.empty_cache()
    assert cuda.memory_reserved() == reserved


def test_growing_lengths_do_not_fragment() -> None:
    for size in range(1, 40):
        pair = [fb.empty(size * MIB, dtype=fb.uint8, device="cuda") for _ in range(2)]
        del pair
    # One page of each pool is the least that can be reserved.
    assert cuda.max_memory_reserved() <= 1.15 * cuda.max_memory_allocated() + 18 * MIB


def test_another_stream_has_memory_of_its_own() -> None:
    x = fb.empty(1000, device="cuda")
    address = x.data_ptr()
    del x
    with cuda.stream(cuda.Stream()):
        y = fb.empty(1000, device="cuda")
    assert y.data_ptr() != address


def test_out_of_memory() -> None:
    free, total = cuda.mem_get_info()
    assert 0 < free <= total
    kept = fb.empty(MIB, dtype=fb.uint8, device="cuda")
    with pytest.raises(fb.OutOfMemoryError, match=r"CUDA out of memory.*GPU 0"):
        fb.empty(4 * total, dtype=fb.uint8, device="cuda")
    assert cuda.memory_stats()["num_ooms"] >= 1
    cuda.set_per_process_memory_fraction(64 * MIB / total)
    try:
        with pytest.raises(fb.OutOfMemoryError, match="may reserve"):
            fb.empty(128 * MIB, dtype=fb.uint8, device="cuda")
    finally:
        cuda.set_per_process_memory_fraction(1.0)
    assert cuda.get_per_process_memory_fraction() == 1.0
    del kept


def test_what_is_kept_is_returned_before_giving_up() -> None:
    total = cuda.mem_get_info()[1]
    cuda.set_per_process_memory_fraction(96 * MIB / total)
    try:
        retries = cuda.memory_stats()["num_alloc_retries"]
        with cuda.stream(cuda.Stream()):
            x = fb.empty(64 * MIB, dtype=fb.uint8, device="cuda")
            del x
        y = fb.empty(64 * MIB, dtype=fb.uint8, device="cuda")
        assert cuda.memory_stats()["num_alloc_retries"] == retries + 1
        del y
    finally:
        cuda.set_per_process_memory_fraction(1.0)
