"""Overloads whose arguments differ so much from the others' that the generic tests pass them by."""

import numpy as np
import pytest

import flambeau


@pytest.mark.parametrize("shape", [(), (0,), (7,), (3, 4), (2, 3, 4)], ids=str)
def test_where_of_a_condition_gives_coordinates(shape: tuple[int, ...]) -> None:
    values = np.asarray(np.arange(np.prod(shape, dtype=int)).reshape(shape) % 3 != 1)
    coordinates = flambeau.where(flambeau.from_numpy(values))
    expected = np.nonzero(np.atleast_1d(values))
    assert isinstance(coordinates, tuple)
    assert [c.tolist() for c in coordinates] == [e.tolist() for e in expected]


def test_where_method_keeps_its_own_elements() -> None:
    x = flambeau.tensor([1.0, 2.0, 3.0])
    assert x.where(x > 1.5, 0.0).tolist() == [0.0, 2.0, 3.0]


def test_polygamma_method_takes_the_order_second() -> None:
    x = flambeau.tensor([1.0, 2.5])
    assert flambeau.equal(x.polygamma(1), flambeau.polygamma(1, x))
