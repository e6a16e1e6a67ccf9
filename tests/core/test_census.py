"""The names that make up what real code uses exist and take the arguments it passes."""

from __future__ import annotations

import pytest

import flambeau as fb
from tests import census

NEEDED = {
    entry.name: entry
    for entry in census.needed()
    if entry.name not in census.LEFT_OUT
    and (entry.area in census.AREA_TARGETS or entry.name in census.EXAMPLES)
}
CALLED = [name for name, entry in NEEDED.items() if entry.kind != "module"]


@pytest.mark.parametrize("name", NEEDED)
def test_examples_run(name):
    assert census.exists(fb, name)
    for call in census.EXAMPLES.get(name, []):
        census.run(fb, call)


@pytest.mark.parametrize("name", CALLED)
def test_examples_use_every_counted_keyword(name):
    left_out = census.KEYWORDS_LEFT_OUT.get(name, {}).keys()
    assert name in census.EXAMPLES
    assert NEEDED[name].keywords - left_out <= census.keywords_of(name)


def test_what_is_left_out_is_counted():
    counted = {entry.name for entry in census.load()}
    assert census.EXAMPLES.keys() | census.LEFT_OUT.keys() <= counted
    assert not any(census.exists(fb, name) for name in census.LEFT_OUT)


def test_coverage_is_printed(capsys):
    """The share of all counted uses whose names are there."""
    entries = census.load()
    there = sum(entry.weight for entry in entries if census.exists(fb, entry.name))
    share = there / sum(entry.weight for entry in entries)
    with capsys.disabled():
        print(f"\n{share:.2%} of the counted uses of torch and torchvision have their names here")
    assert share >= 0.95
