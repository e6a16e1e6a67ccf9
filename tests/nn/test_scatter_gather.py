"""Batches split into parts, and results gathered."""

from __future__ import annotations

from collections import namedtuple

import flambeau as fb
from flambeau.nn.parallel import gather, scatter
from flambeau.nn.parallel.scatter_gather import scatter_kwargs

Batch = namedtuple("Batch", "x y")


def test_there_and_back():
    x, y = fb.arange(6.0).reshape(3, 2), fb.arange(3)
    for batch in ((x, y), [x, y], {"x": x, "y": y}, Batch(x, y)):
        parts = scatter(batch, ["cpu", "cpu"])
        assert [type(part) for part in parts] == [type(batch)] * 2
        whole = gather(parts, "cpu")
        assert type(whole) is type(batch)
        values = list(whole.values()) if isinstance(whole, dict) else list(whole)
        assert fb.equal(values[0], x)
        assert fb.equal(values[1], y)


def test_arguments_without_tensors_go_to_all():
    inputs, named = scatter_kwargs((fb.ones(4), 7), {"flag": True}, ["cpu", "cpu"])
    assert [part[1] for part in inputs] == [7, 7]
    assert [part[0].shape for part in inputs] == [(2,), (2,)]
    assert named == ({"flag": True}, {"flag": True})
