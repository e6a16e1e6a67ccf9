"""The named tuples of operators with several results."""

from __future__ import annotations

import pytest

import flambeau as fb


def test_one_type_an_operator():
    x = fb.ones(2, 2)
    assert type(fb.max(x, 0)) is type(x.max(0)) is fb.return_types.max
    assert isinstance(x.topk(1), fb.return_types.topk)
    assert isinstance(fb.linalg.qr(x), fb.return_types.linalg_qr)


def test_known_before_any_call():
    mode = fb.return_types.mode
    assert mode((1, 2)).indices == 2
    assert "cummax" in dir(fb.return_types)
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        _ = fb.return_types.nothing
