"""The end of the memory: what is tried, what the error says, and what is recorded before."""

import contextlib
import gc
import pickle
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau import cuda, nn

MIB = 1 << 20


@pytest.fixture(autouse=True)
def _clean() -> Iterator[None]:
    gc.collect()
    cuda.synchronize()
    cuda.empty_cache()
    cuda.reset_peak_memory_stats()
    yield
    cuda.memory._record_memory_history(None)
    cuda.set_per_process_memory_fraction(1.0)


def message_of_failure() -> str:
    with pytest.raises(fb.OutOfMemoryError) as caught:
        fb.empty(1 << 45, dtype=fb.uint8, device="cuda")
    return str(caught.value)


def test_the_class_of_the_error() -> None:
    assert cuda.OutOfMemoryError is fb.OutOfMemoryError
    assert issubclass(fb.OutOfMemoryError, RuntimeError)
    text = message_of_failure()
    for part in ("CUDA out of memory.", "Tried to allocate 32768.00 GiB", "GPU 0 has a total"):
        assert part in text


def test_the_error_says_what_takes_the_memory() -> None:
    net = nn.Sequential(nn.Linear(512, 512), nn.Linear(512, 3)).cuda()
    optimizer = fb.optim.Adam(net.parameters())
    activation = net(fb.ones(7, 512, device="cuda"))
    activation.sum().backward()
    optimizer.step()
    text = message_of_failure()
    larger = net[0](fb.ones(300, 512, device="cuda"))
    grown = message_of_failure()
    for kind in ("parameters 1.06 MB", "gradients 1.06 MB", "optimizer state 2.1", "other"):
        assert kind in text
    for line in (
        "1.05 MB  parameter 0.weight of Sequential, float32 [512, 512]",
        "1.05 MB  gradient of 0.weight of Sequential, float32 [512, 512]",
        "1.05 MB  exp_avg_sq of 0.weight of Sequential, state of Adam, float32 [512, 512]",
        "_record_memory_history() at the start adds the lines",
    ):
        assert line in text
    listed = text.partition("The largest tensors:\n")[2].splitlines()
    assert len([line for line in listed if line.startswith("  ")]) == 10
    assert "AddmmBackward0, recorded by" in grown
    del larger


def test_recording_adds_the_lines() -> None:
    cuda.memory._record_memory_history()
    x = fb.zeros(3 * MIB, dtype=fb.uint8, device="cuda")
    y = x + 1
    text = message_of_failure()
    assert text.count("made at " + __file__) >= 2
    assert "_record_memory_history" not in text
    del x, y


def test_an_error_in_a_backward_tells_as_well() -> None:
    x = fb.ones(300_000, device="cuda", requires_grad=True)  # more than a small block
    y = (x * x).sum()
    cuda.set_per_process_memory_fraction(0.0)
    ballast = []
    with contextlib.suppress(fb.OutOfMemoryError):
        while True:
            ballast.append(fb.empty(MIB + 1, dtype=fb.uint8, device="cuda"))
    with pytest.raises(fb.OutOfMemoryError, match=r"(?s)CUDA out of memory.*The largest tensors:"):
        y.backward()
    del ballast


def test_the_program_goes_on_with_less() -> None:
    """What programs do that look for the largest batch."""
    cuda.set_per_process_memory_fraction(64 * MIB / cuda.mem_get_info()[1])
    size, tried = 256 * MIB, 0
    while True:
        try:
            x = fb.zeros(size, dtype=fb.uint8, device="cuda")
            break
        except fb.OutOfMemoryError:
            size, tried = size // 2, tried + 1
            cuda.empty_cache()
    assert tried >= 2
    assert x[-1].item() == 0


def test_the_history_as_a_file(tmp_path: Path) -> None:
    cuda.memory._record_memory_history(max_entries=100)
    x = fb.empty(2 * MIB, dtype=fb.uint8, device="cuda")
    address = x.data_ptr()
    del x
    cuda.memory._dump_snapshot(str(tmp_path / "snapshot.pickle"))
    found = pickle.loads((tmp_path / "snapshot.pickle").read_bytes())
    assert found.keys() >= {"segments", "device_traces"}
    trace = [each for each in found["device_traces"][0] if each["addr"] == address]
    assert [each["action"] for each in trace if each["frames"]] == ["alloc", "free_completed"]
    assert trace[-2]["frames"][0]["filename"] == __file__
    assert trace[-1]["size"] == 2 * MIB
    for _ in range(200):
        fb.empty(1, device="cuda")
    assert len(cuda.memory._snapshot()["device_traces"][0]) == 100
    cuda.memory._record_memory_history(enabled=None)
    assert cuda.memory._snapshot()["device_traces"][0] == []
    with pytest.raises(RuntimeError, match="expected enabled"):
        cuda.memory._record_memory_history("some")


def test_segments_and_blocks() -> None:
    x = fb.empty(5 * MIB, dtype=fb.uint8, device="cuda")
    segment = next(each for each in cuda.memory_snapshot() if each["segment_type"] == "large")
    block = next(each for each in segment["blocks"] if each["address"] == x.data_ptr())
    assert (block["state"], block["size"]) == ("active_allocated", 5 * MIB)
    assert segment["allocated_size"] == 5 * MIB
    assert segment["total_size"] == sum(each["size"] for each in segment["blocks"])
    stats = cuda.memory_stats()
    assert stats["inactive_split_bytes.all.current"] == (
        stats["reserved_bytes.all.current"] - stats["active_bytes.all.current"]
    )


# Names that PyTorch's memory_stats has.
QUANTITIES = (
    *("allocation", "segment", "active", "inactive_split"),
    *("allocated_bytes", "reserved_bytes", "active_bytes", "inactive_split_bytes"),
    "requested_bytes",
)
COUNTS = (
    *("num_alloc_retries", "num_ooms", "num_sync_all_streams", "num_device_alloc"),
    *("num_device_free", "max_split_size", "oversize_allocations.current"),
    "oversize_segments.freed",
)


def test_the_names_of_the_statistics() -> None:
    fb.ones(3, device="cuda")
    expected = {
        f"{quantity}.{pool}.{part}"
        for quantity in QUANTITIES
        for pool in ("all", "small_pool", "large_pool")
        for part in ("current", "peak", "allocated", "freed")
    }
    found = cuda.memory_stats()
    assert found.keys() >= expected | set(COUNTS)
    assert list(found) == sorted(found)
    table = cuda.memory_summary()
    assert "PyTorch CUDA memory summary, device ID 0" in table
    for line in ("Allocated memory", "GPU reserved memory", "from large pool", "CUDA OOMs: "):
        assert line in table
    assert len({len(line) for line in table.splitlines()}) == 1
    assert len(cuda.memory_summary(abbreviated=True).splitlines()) < len(table.splitlines())


def lengths(seed: int) -> Iterator[int]:
    """The lengths of texts in a day's training: most are short, some are very long."""
    draw = random.Random(seed)
    for _ in range(150):
        yield int(min(2048, 16 + draw.paretovariate(1.1) * 40))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_varied_lengths_do_not_fragment(seed: int) -> None:
    """A layer's activations of another length at each step, made and freed as in a training."""
    # One page of each pool is the least that can be reserved.
    room = 18 * MIB
    weights = [fb.empty(1024, 1024, device="cuda") for _ in range(8)]
    for length in lengths(seed):
        shapes: list[Any] = [(8, length, 256), (8, length, 1024), (8, length, 256), (8, 4, length)]
        forward = [fb.empty(*shape, device="cuda") for shape in shapes * 2]
        while forward:  # backward: a gradient for each, freed in reverse
            gradient = fb.empty_like(forward[-1])
            forward.pop()
            del gradient
    assert cuda.max_memory_reserved() <= 1.15 * cuda.max_memory_allocated() + room
    del weights


def test_lengths_that_shrink_do_not_fragment() -> None:
    kept: list[fb.Tensor] = []
    for size in range(40, 1, -1):
        kept.append(fb.empty(size * MIB // 4, dtype=fb.uint8, device="cuda"))
        if len(kept) > 6:
            kept.pop(random.Random(size).randrange(6))
    assert cuda.max_memory_reserved() <= 1.15 * cuda.max_memory_allocated() + 18 * MIB
