"""The names that make up 99 % of what real code uses exist and take the arguments it passes."""

from __future__ import annotations

import pytest

import flambeau as fb
from tests import census

NEEDED = {
    entry.name: entry
    for area in census.AREAS
    for entry in census.needed(area)
    if entry.name not in census.LEFT_OUT
}


@pytest.mark.parametrize("name", NEEDED)
def test_examples_run(name):
    assert census.exists(fb, name)
    for call in census.EXAMPLES[name]:
        census.run(fb, call)


@pytest.mark.parametrize("name", NEEDED)
def test_examples_use_every_counted_keyword(name):
    left_out = census.KEYWORDS_LEFT_OUT.get(name, {}).keys()
    assert NEEDED[name].keywords - left_out <= census.keywords_of(name)


def test_what_is_left_out_is_counted():
    counted = {entry.name for area in census.AREAS for entry in census.load(area)}
    assert census.EXAMPLES.keys() | census.LEFT_OUT.keys() <= counted
    assert not any(census.exists(fb, name) for name in census.LEFT_OUT)
