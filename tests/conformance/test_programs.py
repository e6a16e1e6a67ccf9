"""Thousands of random programs: every value, flag, node name, error and gradient as torch's."""

from collections import Counter
from typing import Any

import pytest

import flambeau
from tests.conformance.programs import compare, generate

BATCHES = 44
BATCH = 50


@pytest.mark.parametrize("batch", range(BATCHES))
def test_programs_as_torch(batch: int, record_property: Any) -> None:
    refused: Counter[str] = Counter()
    for seed in range(batch * BATCH, (batch + 1) * BATCH):
        program = generate(seed)
        difference = compare(program, flambeau, refused)
        assert not difference, f"\n{program}\n\n{difference}"
    record_property("refused", dict(refused))


def test_programs_are_those_of_their_seeds() -> None:
    assert [str(generate(seed)) for seed in range(20)] == [
        str(generate(seed)) for seed in range(20)
    ]


def wrong_value(result):
    return result * (1 + 1e-5)


def wrong_gradient(result):
    if result.requires_grad:
        result.register_hook(lambda grad: grad * (1 + 1e-5))
    return result


@pytest.mark.parametrize("plant", [wrong_value, wrong_gradient])
def test_a_planted_difference_is_found(plant) -> None:
    """A module that is wrong in one operator, by little more than what is tolerated."""

    class Planted:
        def __getattr__(self, name: str):
            return getattr(flambeau, name)

        @staticmethod
        def maximum(input, other):
            return plant(flambeau.maximum(input, other))

    programs = [generate(seed) for seed in range(100)]
    using = [each for each in programs if "torch.maximum" in str(each)]
    found = [bool(compare(program, Planted())) for program in using]
    assert any(found) if plant is wrong_gradient else all(found)
