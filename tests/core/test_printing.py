"""What ``repr`` of a tensor shows, as literal strings."""

from __future__ import annotations

import pytest

import flambeau as fb

CASES = {
    "fb.tensor(3)": "tensor(3)",
    "fb.tensor(3.5)": "tensor(3.5000)",
    "fb.tensor(-0.0)": "tensor(-0.)",
    "fb.tensor(True)": "tensor(True)",
    "fb.tensor(float('nan'))": "tensor(nan)",
    "fb.tensor(1e10)": "tensor(1.0000e+10)",
    "fb.tensor(1 + 2j)": "tensor(1.+2.j)",
    "fb.tensor(7, dtype=fb.uint8)": "tensor(7, dtype=torch.uint8)",
    "fb.tensor([])": "tensor([])",
    "fb.zeros(0, 3)": "tensor([], size=(0, 3))",
    "fb.zeros(2, 0, dtype=fb.int64)": "tensor([], size=(2, 0), dtype=torch.int64)",
    "fb.zeros(0, dtype=fb.bool)": "tensor([], dtype=torch.bool)",
    "fb.zeros(0, dtype=fb.float64)": "tensor([], dtype=torch.float64)",
    "fb.tensor([1, -20, 300])": "tensor([  1, -20, 300])",
    "fb.tensor([[1, 2], [3, 4]], dtype=fb.int32)": (
        "tensor([[1, 2],\n        [3, 4]], dtype=torch.int32)"
    ),
    "fb.tensor([True, False])": "tensor([ True, False])",
    "fb.arange(30)": (
        "tensor([ 0,  1,  2,  3,  4,  5,  6,  7,  8,  9, 10, 11, 12, 13, 14, 15, 16, 17,\n"
        "        18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29])"
    ),
    "fb.tensor([2.0, 2.0], dtype=fb.float64)": "tensor([2., 2.], dtype=torch.float64)",
    "fb.tensor([1.0, -2.5, 100.25])": "tensor([  1.0000,  -2.5000, 100.2500])",
    "fb.tensor([1.0, float('inf'), float('nan')])": "tensor([1., inf, nan])",
    "fb.tensor([float('inf'), 0.0, -0.0])": "tensor([inf, 0., -0.])",
    "fb.tensor([0.5, float('-inf')])": "tensor([0.5000,   -inf])",
    "fb.tensor([1e-5, 1.0])": "tensor([1.0000e-05, 1.0000e+00])",
    "fb.tensor([1.0, 1001.0])": "tensor([1.0000e+00, 1.0010e+03])",
    "fb.tensor([1.0, 1000.0])": "tensor([   1., 1000.])",
    "fb.tensor([123456789.0])": "tensor([1.2346e+08])",
    "fb.tensor([0.1, 0.2], dtype=fb.float16)": "tensor([0.1000, 0.2000], dtype=torch.float16)",
    "fb.tensor([0.1, 0.2], dtype=fb.bfloat16)": "tensor([0.1001, 0.2002], dtype=torch.bfloat16)",
    "fb.tensor([1 + 2j, -0.5 - 3j])": "tensor([ 1.0000+2.j, -0.5000-3.j])",
    "fb.tensor([1 + 2j], dtype=fb.complex128)": "tensor([1.+2.j], dtype=torch.complex128)",
    "fb.tensor([complex(1e-6, 1), complex(0, float('nan'))])": (
        "tensor([1.0000e-06+1.j, 0.0000e+00+nanj])"
    ),
    "fb.zeros(0, dtype=fb.complex64)": "tensor([], dtype=torch.complex64)",
    "fb.arange(8).reshape(2, 2, 2)": (
        "tensor([[[0, 1],\n         [2, 3]],\n\n        [[4, 5],\n         [6, 7]]])"
    ),
    "fb.arange(16.0).reshape(2, 2, 2, 2)": (
        "tensor([[[[ 0.,  1.],\n"
        "          [ 2.,  3.]],\n"
        "\n"
        "         [[ 4.,  5.],\n"
        "          [ 6.,  7.]]],\n"
        "\n"
        "\n"
        "        [[[ 8.,  9.],\n"
        "          [10., 11.]],\n"
        "\n"
        "         [[12., 13.],\n"
        "          [14., 15.]]]])"
    ),
    "fb.arange(1001)": "tensor([   0,    1,    2,  ...,  998,  999, 1000])",
    "fb.arange(2000.0).reshape(1000, 2)": (
        "tensor([[0.0000e+00, 1.0000e+00],\n"
        "        [2.0000e+00, 3.0000e+00],\n"
        "        [4.0000e+00, 5.0000e+00],\n"
        "        ...,\n"
        "        [1.9940e+03, 1.9950e+03],\n"
        "        [1.9960e+03, 1.9970e+03],\n"
        "        [1.9980e+03, 1.9990e+03]])"
    ),
    "fb.zeros(2, 7, 100)": (
        "tensor([[[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         ...,\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.]],\n"
        "\n"
        "        [[0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         ...,\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.],\n"
        "         [0., 0., 0.,  ..., 0., 0., 0.]]])"
    ),
    "fb.arange(1001, dtype=fb.int32)": (
        "tensor([   0,    1,    2,  ...,  998,  999, 1000], dtype=torch.int32)"
    ),
}


@pytest.fixture(autouse=True)
def default_options():
    fb.set_printoptions(profile="default")
    yield
    fb.set_printoptions(profile="default")


@pytest.mark.parametrize("expression", CASES)
def test_repr(expression):
    assert repr(eval(expression, {"fb": fb})) == CASES[expression]


def test_str_is_repr():
    assert str(fb.ones(2)) == "tensor([1., 1.])"


@pytest.mark.parametrize(
    ("spec", "expected"), [("", "2.5"), (".3f", "2.500"), ("8.1e", " 2.5e+00")]
)
def test_format_of_one_element(spec, expected):
    assert format(fb.tensor(2.5), spec) == expected


def test_size():
    assert repr(fb.zeros(5, 3).shape) == "torch.Size([5, 3])"
    assert repr(fb.zeros(5, 3).size()) == "torch.Size([5, 3])"


def test_the_default_dtype_is_not_shown():
    before = fb.get_default_dtype()
    fb.set_default_dtype(fb.float64)
    try:
        assert repr(fb.ones(1, dtype=fb.float64)) == "tensor([1.])"
        assert repr(fb.ones(1, dtype=fb.float32)) == "tensor([1.], dtype=torch.float32)"
        assert repr(fb.tensor([1j], dtype=fb.complex128)) == "tensor([0.+1.j])"
    finally:
        fb.set_default_dtype(before)


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({"precision": 2}, "tensor([0.33, 0.67, 1.00])"),
        ({"precision": 0, "sci_mode": True}, "tensor([3e-01, 7e-01, 1e+00])"),
        ({"sci_mode": True}, "tensor([3.3333e-01, 6.6667e-01, 1.0000e+00])"),
        ({"linewidth": 20}, "tensor([0.3333,\n        0.6667,\n        1.0000])"),
        ({"threshold": 2, "edgeitems": 1}, "tensor([0.3333,  ..., 1.0000])"),
        ({"threshold": 2, "edgeitems": 0}, "tensor([...], size=(3,))"),
        ({"profile": "short"}, "tensor([0.33, 0.67, 1.00])"),
        ({"profile": "short", "precision": 1}, "tensor([0.3, 0.7, 1.0])"),
    ],
)
def test_options(options, expected):
    thirds = fb.arange(1, 4) / 3
    fb.set_printoptions(**options)
    assert repr(thirds) == expected


def test_sci_mode_off():
    fb.set_printoptions(sci_mode=False)
    assert repr(fb.tensor([1e-5, 1e5])) == "tensor([     0.0000, 100000.0000])"


def test_full_profile_shows_everything():
    fb.set_printoptions(profile="full")
    text = repr(fb.arange(5000))
    assert "..." not in text
    assert text.count(",") == 4999


def test_a_large_tensor_is_read_at_its_edges_only():
    large = fb.zeros(1).expand(10**6, 10**6)  # reading all of it would take hours
    assert repr(large).startswith("tensor([[0., 0., 0.,  ..., 0., 0., 0.],\n")


def test_non_contiguous():
    assert repr(fb.arange(4).reshape(2, 2).t()) == "tensor([[0, 2],\n        [1, 3]])"


def test_names_that_packages_import():
    from flambeau._tensor_str import PRINT_OPTS, _str, _tensor_str

    x = fb.arange(4.0, requires_grad=True).reshape(2, 2)
    assert _tensor_str(x, indent=2) == "[[0., 1.],\n   [2., 3.]]"
    assert _str(x) == repr(x)
    assert PRINT_OPTS.precision == 4
