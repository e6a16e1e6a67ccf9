"""Windows for short-time analysis, against SciPy's."""

from __future__ import annotations

import pytest
from scipy.signal import windows as reference

import flambeau as fb
from flambeau.signal import windows

CASES = [
    ("bartlett", {}, ()),
    ("blackman", {}, ()),
    ("cosine", {}, ()),
    ("exponential", {"tau": 2.0}, (None, 2.0)),
    ("gaussian", {"std": 1.5}, (1.5,)),
    ("general_cosine", {"a": [0.5, 0.3, 0.2]}, ([0.5, 0.3, 0.2],)),
    ("general_hamming", {"alpha": 0.6}, (0.6,)),
    ("hamming", {}, ()),
    ("hann", {}, ()),
    ("kaiser", {"beta": 3.0}, (3.0,)),
    ("nuttall", {}, ()),
]


@pytest.mark.parametrize("sym", [True, False])
@pytest.mark.parametrize(("name", "options", "args"), CASES, ids=[case[0] for case in CASES])
def test_like_scipy(name, options, args, sym):
    for length in (0, 1, 2, 5, 8):
        window = getattr(windows, name)(length, sym=sym, dtype=fb.float64, **options)
        expected = getattr(reference, name)(length, *args, sym=sym)
        fb.testing.assert_close(window, fb.from_numpy(expected), rtol=1e-9, atol=1e-9)


def test_options():
    assert windows.hann(5).dtype == fb.get_default_dtype()
    assert windows.hann(5, requires_grad=True).requires_grad
    assert windows.exponential(3, center=0.0, sym=False)[0] == 1


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: windows.hann(-1), ValueError, "non-negative window length, got M=-1"),
        (lambda: windows.hann(3, dtype=fb.int64), ValueError, "expects float32 or float64"),
        (lambda: windows.hann(3, layout=fb.sparse_coo), ValueError, "strided tensors only"),
        (lambda: windows.gaussian(3, std=0), ValueError, "must be positive, got: 0"),
        (lambda: windows.exponential(3, tau=-1), ValueError, "Tau must be positive"),
        (lambda: windows.exponential(3, center=1.0), ValueError, "Center must be None"),
        (lambda: windows.kaiser(3, beta=-1), ValueError, "beta must be non-negative"),
        (lambda: windows.general_cosine(3, a=[]), ValueError, "cannot be empty"),
        (lambda: windows.general_cosine(3, a=0.5), TypeError, "must be a list/tuple"),
    ],
)
def test_bad_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()
