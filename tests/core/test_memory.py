"""The allocator: reuse, limits, failure, and blocks freed by other threads."""

import gc
import queue
import threading

import pytest

import flambeau as torch

MEGABYTE = 1 << 20


def test_freed_memory_is_used_again() -> None:
    torch.empty_cache()
    x = torch.empty(MEGABYTE)
    address = x.data_ptr()
    del x
    assert torch.empty(MEGABYTE).data_ptr() == address


@pytest.mark.parametrize("count", [10, 1000, 60_000, 130_000, 260_000, MEGABYTE])
def test_temporaries_of_a_step_are_used_again(count: int) -> None:
    """However large they are: several of one size at a time."""

    def step() -> None:
        x = torch.empty(count)
        y, z = x + 1, x * 2
        torch.cat([y, z])

    step()
    before = torch.memory_stats()["system_allocations"]
    for _ in range(5):
        step()
    assert torch.memory_stats()["system_allocations"] == before


def test_memory_is_aligned_for_vectors() -> None:
    for count in (1, 3, 17, 1000, MEGABYTE):
        assert torch.empty(count).data_ptr() % 64 == 0


def test_statistics_count_what_is_alive() -> None:
    gc.collect()
    before = torch.memory_stats()["allocated_bytes"]
    x = torch.empty(MEGABYTE)
    assert torch.memory_stats()["allocated_bytes"] - before >= 4 * MEGABYTE
    del x
    assert torch.memory_stats()["allocated_bytes"] == before


def test_empty_cache_gives_everything_back() -> None:
    x = torch.empty(MEGABYTE)
    del x
    assert torch.memory_stats()["cached_bytes"] > 0
    torch.empty_cache()
    assert torch.memory_stats()["cached_bytes"] == 0


def test_cache_has_a_cap() -> None:
    torch.empty_cache()
    blocks = [torch.empty(step * 1_000_003, dtype=torch.uint8) for step in range(1, 200)]
    alive = torch.memory_stats()["allocated_bytes"]
    del blocks
    assert torch.memory_stats()["cached_bytes"] < alive


def test_a_loop_keeps_what_it_asks_for_again() -> None:
    """A step whose memory is freed at its end, and is more than a quarter of the peak."""

    def step() -> None:
        kept = [torch.empty(size * MEGABYTE, dtype=torch.uint8) for size in range(1, 12)]
        del kept

    gc.collect()
    torch.empty_cache()
    torch.set_cache_limit(0)
    torch.reset_peak_memory_stats()
    try:
        step()
        once = torch.memory_stats()
        assert once["cached_bytes"] <= once["peak_allocated_bytes"] / 4
        step()
        before = torch.memory_stats()["system_allocations"]
        step()
        assert torch.memory_stats()["system_allocations"] == before
        torch.empty_cache()
        assert torch.memory_stats()["cache_limit_bytes"] == once["cache_limit_bytes"]
    finally:
        torch.set_cache_limit(256 * MEGABYTE)


def test_too_much_is_an_error_and_the_program_goes_on() -> None:
    with pytest.raises(RuntimeError, match="memory"):
        torch.empty(1 << 55)
    with pytest.raises(RuntimeError):
        torch.zeros(1 << 31, 1 << 31, 1 << 31)  # the number of bytes overflows
    assert torch.ones(3).sum().item() == 3


def test_a_block_may_be_freed_in_another_thread() -> None:
    handed: queue.Queue[torch.Tensor | None] = queue.Queue()
    sums: list[float] = []

    def consume() -> None:
        while (tensor := handed.get()) is not None:
            sums.append(tensor.sum().item())
            del tensor

    consumer = threading.Thread(target=consume)
    consumer.start()
    for step in range(500):
        handed.put(torch.full((step + 1,), 1.0))
    handed.put(None)
    consumer.join()
    assert sums == [float(step + 1) for step in range(500)]
