"""Bool tensors whose bytes are neither 0 nor 1: every byte but 0 is true, for every operator.

Such bytes come in through `uint8.view(bool)`, files, buffers and DLPack, and may change while the
tensor lives.
"""

import threading
from typing import Any

import numpy as np
import pytest

import flambeau as torch
from tests.ops.check import assert_identical, is_tensor, outputs
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator, operators

TABLE = operators()
SAMPLES = all_samples()
SAMPLED = sorted(set(TABLE) & set(SAMPLES))
TRUE_BYTES = np.array([2, 0x80, 1, 0xFF], np.uint8)


class Foreign(Input):
    """A bool input that is made of all kinds of bytes."""

    def to_module(self, t: Any) -> Any:
        cycle = np.resize(TRUE_BYTES, self.values.size).reshape(self.shape)
        values = np.where(self.values, cycle, np.uint8(0))
        if self.layout == "expanded":
            kept = tuple(slice(0, 1) if s == 0 else slice(None) for s in self.values.strides)
            return Input(values[kept], "uint8").to_module(t).view(t.bool).expand(self.shape)
        return Input(values, "uint8", self.layout).to_module(t).view(t.bool)


def foreign(each: Input) -> Input:
    return Foreign(each.values, each.dtype, each.layout) if each.dtype == "bool" else each


def run(operator: Operator, sample: Sample) -> Any:
    torch.manual_seed(0)
    args, kwargs = to_module(torch, sample.args), to_module(torch, sample.kwargs)
    return operator.call(torch, args, kwargs)


def with_bools(name: str) -> list[Sample]:
    """The calls of an operator that take a bool tensor: as a mask or as one of many types."""
    wanted = ("bool", "float32", "int64")
    drawn = [s for dtype in wanted for s in SAMPLES[name].where_sensible(dtype)]
    return [s for s in drawn if any(each.dtype == "bool" for each in s.inputs())]


TAKE_BOOLS = [name for name in SAMPLED if with_bools(name)]


@pytest.mark.parametrize("name", [n for n in TAKE_BOOLS if SAMPLES[n].values])
def test_every_byte_but_zero_is_true(name: str) -> None:
    for sample in with_bools(name):
        try:
            expected = run(TABLE[name], sample)
        except (RuntimeError, NotImplementedError, TypeError):
            continue  # not for bools
        actual = run(TABLE[name], sample.map_inputs(foreign))
        assert_identical(normal(actual), normal(expected), f"{name}{sample!r}")


def normal(result: Any) -> Any:
    """A result with its bools as NumPy would write them; NumPy compares their bytes."""
    parts = [
        each != 0 if is_tensor(each) and each.dtype == torch.bool else each
        for each in outputs(result)
    ]
    return parts if len(parts) > 1 else parts[0]


def bytes_of(t: Any) -> set[int]:
    return set(t.contiguous().view(torch.uint8).flatten().tolist())


# Operators that only hand elements on, as index_select does, hand their bytes on.
COMPUTES = [
    "logical_not",
    "bitwise_and",
    "bitwise_or",
    "eq",
    "ne",
    "lt",
    "logical_xor",
    "maximum",
    "minimum",
    "where",
    "any",
    "all",
    "amax",
    "amin",
    "sort",
    "cummax",
]


@pytest.mark.parametrize("name", [n for n in COMPUTES if n in TAKE_BOOLS])
def test_results_that_are_computed_are_zero_or_one(name: str) -> None:
    for sample in with_bools(name):
        try:
            result = run(TABLE[name], sample.map_inputs(foreign))
        except (RuntimeError, NotImplementedError):
            continue
        for each in outputs(result):
            if is_tensor(each) and each.dtype == torch.bool:
                assert bytes_of(each) <= {0, 1}, f"{name}{sample!r}"


def some_bytes(n: int) -> tuple[Any, Any]:
    """Bytes as a bool tensor and what they mean."""
    pattern = torch.tensor([0, 1, 2, 0, 0x80, 0xFF, 0], dtype=torch.uint8)
    raw = pattern.repeat(n // 7 + 1)[:n].clone()
    return raw.view(torch.bool), raw != 0


@pytest.mark.parametrize("n", [1, 3, 7, 64, 129, 1000, 40_000])
def test_masks_of_any_length(n: int) -> None:
    mask, truth = some_bytes(n)
    x = torch.arange(n, dtype=torch.float32)
    assert int(mask.sum()) == int(truth.sum())
    assert mask.nonzero().tolist() == truth.nonzero().tolist()
    assert x[mask].tolist() == x[truth].tolist()
    assert torch.masked_select(x, mask).tolist() == x[truth].tolist()
    assert x.masked_fill(mask, -1).tolist() == x.masked_fill(truth, -1).tolist()
    assert torch.where(mask, x, -x).tolist() == torch.where(truth, x, -x).tolist()
    assert mask.max(0).indices.item() == truth.max(0).indices.item()
    assert mask.cumsum(0).tolist() == truth.cumsum(0).tolist()
    for dtype in (torch.float32, torch.float64, torch.int64, torch.float16, torch.complex64):
        assert mask.to(dtype).tolist() == truth.to(dtype).tolist()
        assert mask[::2].to(dtype).tolist() == truth[::2].to(dtype).tolist()


def test_single_elements() -> None:
    mask, _ = some_bytes(7)
    assert mask.tolist() == [False, True, True, False, True, True, False]
    assert mask[4].item() is True
    assert bool(mask[4])
    assert int(mask[4]) == float(mask[4]) == 1
    assert torch.zeros(2).fill_(mask[4]).tolist() == [1.0, 1.0]
    assert torch.where(mask[4], 1.0, 2.0).item() == 1.0
    assert (torch.ones(3) + mask[4]).tolist() == [2.0, 2.0, 2.0]


def test_attention_masks() -> None:
    torch.manual_seed(0)
    q, k, v = (torch.randn(2, 3, 14, 8) for _ in range(3))
    mask, truth = (each.reshape(14, 14) for each in some_bytes(196))
    mask[:, 0] = truth[:, 0] = True
    attend = torch.nn.functional.scaled_dot_product_attention
    assert torch.equal(attend(q, k, v, mask), attend(q, k, v, truth))
    row, row_truth = mask[5:6].expand(14, 14), truth[5:6].expand(14, 14)
    assert torch.equal(attend(q, k, v, row), attend(q, k, v, row_truth))


def test_a_mask_that_changes_while_it_is_read() -> None:
    """Values are then unspecified, but only memory of the tensors is touched."""
    n = 200_000
    raw = torch.zeros(n, dtype=torch.uint8)
    mask, x = raw.view(torch.bool), torch.ones(n)
    stop = threading.Event()

    def change() -> None:
        while not stop.is_set():
            raw.random_(0, 3)

    changer = threading.Thread(target=change)
    changer.start()
    try:
        for _ in range(50):
            places = mask.nonzero()
            assert places.numel() == 0 or 0 <= int(places.min()) <= int(places.max()) < n
            assert set(x[mask].tolist()) <= {0.0, 1.0}
            assert 0 <= mask.max(0).indices.item() < n
    finally:
        stop.set()
        changer.join()
