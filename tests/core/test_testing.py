"""``flambeau.testing``: what passes, and what the message of a failure says."""

from __future__ import annotations

import numpy as np
import pytest

import flambeau as fb
from flambeau.testing import assert_close, make_tensor

nan, inf = fb.nan, fb.inf


@pytest.mark.parametrize(
    ("actual", "expected", "options"),
    [
        (fb.tensor([1.0]), fb.tensor([1.000001]), {}),
        (fb.tensor([1.0]), fb.tensor([1.1]), {"rtol": 0, "atol": 0.2}),
        (fb.tensor([nan, inf]), fb.tensor([nan, inf]), {"equal_nan": True}),
        (fb.tensor([1, 2]), fb.tensor([1, 2]), {}),
        (fb.tensor([1]), fb.tensor([1.0]), {"check_dtype": False}),
        ([1, {"a": fb.ones(2)}], [1, {"a": fb.ones(2)}], {}),
        (np.ones(2), np.ones(2), {}),
        (1.0, 1.0 + 1e-9, {}),
        (None, None, {}),
        (True, True, {}),
        (fb.ones(0), fb.ones(0), {}),
    ],
)
def test_close(actual, expected, options):
    assert_close(actual, expected, **options)


@pytest.mark.parametrize(
    ("actual", "expected", "message"),
    [
        (
            fb.tensor([1.0, 2.0]),
            fb.tensor([1.0, 4.0]),
            (
                "Tensor-likes are not close!\n\n"
                "Mismatched elements: 1 / 2 (50.0%)\n"
                "Greatest absolute difference: 2.0 at index (1,) (up to 1e-05 allowed)\n"
                "Greatest relative difference: 0.5 at index (1,) (up to 1.3e-06 allowed)"
            ),
        ),
        (
            fb.tensor([[1, 2]]),
            fb.tensor([[1, 4]]),
            (
                "Tensor-likes are not equal!\n\n"
                "Mismatched elements: 1 / 2 (50.0%)\n"
                "Greatest absolute difference: 2 at index (0, 1)\n"
                "Greatest relative difference: 0.5 at index (0, 1)"
            ),
        ),
        (
            {"a": [fb.tensor(1.0)]},
            {"a": [fb.tensor(2.0)]},
            (
                "Scalars are not close!\n\n"
                "Expected 2.0 but got 1.0.\n"
                "Absolute difference: 1.0 (up to 1e-05 allowed)\n"
                "Relative difference: 0.5 (up to 1.3e-06 allowed)\n\n"
                "The failure occurred for item ['a'][0]"
            ),
        ),
        (
            fb.ones(2),
            fb.ones(3),
            "The values for attribute 'shape' do not match: torch.Size([2]) != torch.Size([3]).",
        ),
        (
            fb.ones(2),
            fb.ones(2, dtype=fb.float64),
            "The values for attribute 'dtype' do not match: torch.float32 != torch.float64.",
        ),
        ([1.0], [1.0, 2.0], "The length of the sequences mismatch: 1 != 2"),
        (True, False, "Booleans mismatch: True is not False"),
        (None, 1, "None mismatch: None is not 1"),
        (1, 1.0, "The (d)types do not match: <class 'int'> != <class 'float'>."),
    ],
)
def test_messages(actual, expected, message):
    with pytest.raises(AssertionError) as caught:
        assert_close(actual, expected)
    assert str(caught.value) == message


def test_own_message():
    with pytest.raises(AssertionError, match=r"^mine$"):
        assert_close(1, 2, msg="mine")
    with pytest.raises(AssertionError, match=r"^mine: Scalars are not equal"):
        assert_close(1, 2, msg=lambda message: f"mine: {message}")


def test_misuse():
    with pytest.raises(ValueError, match="got no atol"):
        assert_close(1.0, 1.0, rtol=1e-3)
    with pytest.raises(TypeError, match="No comparison pair"):
        assert_close("a", "a")


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float32", "complex64"])
def test_make_tensor(dtype):
    dtype = getattr(fb, dtype)
    made = make_tensor(3, 4, dtype=dtype, device="cpu", low=0, high=2)
    assert made.shape == (3, 4)
    assert made.dtype == dtype
    assert not make_tensor((3, 4), dtype=dtype, device="cpu", noncontiguous=True).is_contiguous()
    assert make_tensor(50, dtype=dtype, device="cpu", exclude_zero=True).all()


def test_make_tensor_refuses():
    with pytest.raises(ValueError, match="low must be less than high"):
        make_tensor(2, dtype=fb.float32, device="cpu", low=2, high=1)
    with pytest.raises(ValueError, match="cannot be NaN"):
        make_tensor(2, dtype=fb.float32, device="cpu", low=nan)
    with pytest.raises(ValueError, match="lies outside"):
        make_tensor(2, dtype=fb.uint8, device="cpu", low=-5, high=-1)
    with pytest.raises(ValueError, match="cannot require grad"):
        make_tensor(2, dtype=fb.int64, device="cpu", requires_grad=True)


def test_assert_allclose():
    with pytest.warns(FutureWarning, match="use torch.testing.assert_close"):
        fb.testing.assert_allclose(fb.ones(2), fb.ones(2, dtype=fb.float64) * (1 + 2e-5))
    with pytest.warns(FutureWarning):
        fb.testing.assert_allclose([1.0, float("nan")], fb.tensor([1.0, float("nan")]))
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="hello"):
        fb.testing.assert_allclose(fb.ones(2), fb.ones(2) * 1.1, rtol=1e-3, atol=1e-3, msg="hello")
    with pytest.warns(FutureWarning), pytest.raises(AssertionError, match="not equal"):
        fb.testing.assert_allclose(fb.ones(2, dtype=fb.bfloat16), fb.tensor([1.0, 1.01]).bfloat16())
