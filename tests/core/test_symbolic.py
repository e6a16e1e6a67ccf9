"""``SymInt``, ``SymFloat`` and ``SymBool``, of which there are no instances."""

from __future__ import annotations

import pytest

import flambeau as fb


@pytest.mark.parametrize("name", ["SymInt", "SymFloat", "SymBool"])
def test_no_number_is_symbolic(name):
    symbol = getattr(fb, name)
    assert not any(isinstance(value, symbol) for value in (3, 2.5, True, fb.ones(2).shape[0]))
    with pytest.raises(TypeError, match=f"{name}: sizes are plain numbers"):
        symbol(3)


def test_functions_take_plain_numbers():
    assert fb.sym_max(3, 2.0) == 3.0
    assert isinstance(fb.sym_max(3, 2.0), float)
    assert isinstance(fb.sym_max(3, 2), int)
    assert fb.sym_min(3, 2) == 2
    assert (fb.sym_int(2.7), fb.sym_int(-2.7), fb.sym_float(2)) == (2, -2, 2.0)
    assert fb.sym_not(0) is True
    assert fb.sym_ite(False, 1, 2) == 2
    assert (fb.sym_sum([1, 2, 3]), fb.sym_sqrt(4)) == (6, 2.0)
