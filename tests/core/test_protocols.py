"""What Python does with a tensor: iteration, conversion, containment, hashing, formatting."""

from __future__ import annotations

import math
import operator

import pytest

import flambeau as fb


def test_iteration():
    assert [row.tolist() for row in fb.arange(4).reshape(2, 2)] == [[0, 1], [2, 3]]
    first, second = fb.zeros(2)
    assert first.dim() == second.dim() == 0
    assert list(fb.zeros(0, 3)) == []
    with pytest.raises(TypeError, match="iteration over a 0-d tensor"):
        iter(fb.tensor(1))


def test_iteration_gives_views():
    tensor = fb.zeros(2, 2)
    for row in tensor:
        row.fill_(1)
    assert tensor.sum().item() == 4


def test_length():
    assert len(fb.zeros(3, 2)) == 3
    with pytest.raises(TypeError, match="0-d"):
        len(fb.tensor(1))


def test_reversed():
    assert reversed(fb.arange(3)).tolist() == [2, 1, 0]


def test_containment():
    tensor = fb.tensor([[1, 2], [3, 4]])
    assert 3 in tensor
    assert 5 not in tensor
    assert fb.tensor(2) in tensor
    with pytest.raises(RuntimeError, match="only supports Tensor or scalar"):
        _ = "a" in tensor


def test_hash_is_by_identity():
    one, other = fb.ones(2), fb.ones(2)
    assert len({one, other, one}) == 2
    assert {one: 1}[one] == 1


def test_truth():
    assert fb.tensor(2.5)
    assert not fb.tensor([[0]])
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(fb.ones(2))
    with pytest.raises(RuntimeError, match="no values is ambiguous"):
        bool(fb.ones(0))


def test_numbers():
    assert int(fb.tensor(2.7)) == 2
    assert float(fb.tensor([2])) == 2.0
    assert complex(fb.tensor(1 + 2j)) == 1 + 2j
    assert operator.index(fb.tensor(3)) == 3
    assert [10, 20][fb.tensor(1)] == 20
    assert math.sqrt(fb.tensor(4.0)) == 2
    with pytest.raises(TypeError, match="index"):
        operator.index(fb.tensor(1.5))
    with pytest.raises(ValueError, match="one element"):
        int(fb.ones(2))


@pytest.mark.parametrize(
    ("dtype", "kind"),
    [("bool", bool), ("uint8", int), ("int64", int), ("bfloat16", float), ("complex64", complex)],
)
def test_item(dtype, kind):
    value = fb.ones(1, 1, dtype=getattr(fb, dtype)).item()
    assert type(value) is kind
    assert value == 1
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to Scalar"):
        fb.ones(2, dtype=getattr(fb, dtype)).item()


def test_tolist():
    assert fb.tensor(2).tolist() == 2
    assert fb.zeros(2, 0).tolist() == [[], []]
    assert fb.tensor([[True], [False]]).tolist() == [[True], [False]]
    assert fb.tensor([1 + 2j]).tolist() == [1 + 2j]


def test_format():
    assert f"{fb.tensor(1.23456):.2f}" == "1.23"
    assert f"{fb.tensor([1.0])}" == "tensor([1.])"
    with pytest.raises(TypeError, match="unsupported format string"):
        format(fb.ones(2), ".2f")


def test_unsupported_operands():
    for other in ("a", None, [1]):
        with pytest.raises(TypeError, match="unsupported operand"):
            fb.ones(1) + other
    assert (fb.ones(1) == "a") is False
    assert (fb.ones(1) != None) is True  # noqa: E711


def test_attributes_can_be_set():
    tensor = fb.ones(1)
    tensor.label = "a"
    assert tensor.label == "a"


def test_one_object_per_tensor():
    tensor = fb.ones(1)
    assert tensor.fill_(2) is tensor


def test_constants_and_settings():
    assert (fb.pi, fb.e, fb.inf) == (math.pi, math.e, math.inf)
    assert math.isnan(fb.nan)
    assert fb.newaxis is None
    assert fb.is_tensor(fb.ones(1))
    assert not fb.is_tensor([1])
    assert fb.get_default_device() == fb.device("cpu")
    fb.use_deterministic_algorithms(True, warn_only=True)
    assert fb.get_deterministic_debug_mode() == 1
    fb.set_deterministic_debug_mode("default")
    assert not fb.are_deterministic_algorithms_enabled()
    fb.set_float32_matmul_precision("high")
    assert fb.get_float32_matmul_precision() == "high"
    fb.set_float32_matmul_precision("highest")
    with pytest.warns(UserWarning, match="low"):
        fb.set_float32_matmul_precision("low")
