"""Packages that are written for PyTorch give the same results on Flambeau."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conformance.output import assert_same_output

PROGRAMS = sorted((Path(__file__).parents[1] / "packages").glob("*.py"))


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_same_output(program: Path):
    assert_same_output(program)
