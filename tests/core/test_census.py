"""The names that make up what real code uses exist and take the arguments it passes."""

from __future__ import annotations

import pytest

import flambeau as fb
from tests import census

NEEDED = {entry.name: entry for entry in census.needed()}
CALLED = [
    name for name, entry in NEEDED.items() if entry.kind != "module" and name not in census.REFUSED
]


@pytest.mark.parametrize("name", NEEDED)
def test_examples_run(name):
    assert census.exists(name)
    for call in census.EXAMPLES.get(name, []):
        census.run(fb, call)


@pytest.mark.parametrize("name", CALLED)
def test_examples_use_every_counted_keyword(name):
    left_out = census.KEYWORDS_LEFT_OUT.get(name, {}).keys()
    assert census.EXAMPLES[name]
    assert NEEDED[name].keywords - left_out <= census.keywords_of(name)


@pytest.mark.parametrize("name", census.REFUSED)
def test_what_cannot_work_yet_says_what_to_do(name):
    with pytest.raises(NotImplementedError, match=rf"{name.rpartition('.')[2]}: .*; "):
        census.run(fb, census.REFUSED[name])


def test_examples_are_of_counted_names():
    counted = {entry.name for entry in census.load()}
    assert census.EXAMPLES.keys() | census.REFUSED.keys() <= counted


def test_coverage(capsys):
    entries = census.load()
    working = {
        entry.name
        for entry in entries
        if entry.name not in census.REFUSED and census.exists(entry.name)
    }
    there = sum(entry.weight for entry in entries if entry.name in working)
    share = there / sum(entry.weight for entry in entries)
    with capsys.disabled():
        print(f"\n{share:.2%} of the counted uses of torch and torchvision have their names here")
    assert share >= census.TARGET
