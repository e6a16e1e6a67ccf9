"""Values on the edges of bins and next to them, which torch's rounding puts into bins."""

import random

import pytest
import torch

import flambeau


@pytest.mark.parametrize("seed", range(20))
def test_values_on_edges(seed: int):
    rng = random.Random(seed)
    bins, low = rng.randint(1, 20), round(rng.uniform(-5, 5), 1)
    high = low + bins * rng.choice([0.1, 0.3, 0.7, 1.0])
    edges = torch.linspace(low, high, bins + 1)
    near = [torch.nextafter(edges, edges + side) for side in (-1, 1)]
    there = torch.cat([edges, *near])
    here = flambeau.tensor(there.tolist())
    assert edges.tolist() == flambeau.histogram(here, bins, range=(low, high))[1].tolist()
    for count in (
        lambda t, x: t.histc(x, bins, low, high),
        lambda t, x: t.histogram(x, bins, range=(low, high)).hist,
        lambda t, x: t.histogram(x, bins).hist,
        lambda t, x: t.histogramdd(x[:, None], [bins], range=[low, high]).hist,
    ):
        assert count(flambeau, here).tolist() == count(torch, there).tolist()
