"""The databases behind torch's own tests: operators, modules and criteria, sample by sample."""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.database import modules, operators
from tests.conformance.database.tally import Tally
from tests.conformance.differences import unused

MOST = 12  # samples of an operator in a dtype: with all of them, the run would take half an hour
SECONDS = 300  # after which a comparison is taken not to end


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """Ends the process of a comparison that does not end by itself, and shows where it was."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def assert_explained(made: Tally, record_property: Any) -> None:
    """Every difference has its reason, and every reason its difference."""
    found = made.unexplained()
    assert not found, f"{made.name}:\n" + "\n".join(map(str, found[:20]))
    assert not unused(made.name, made.found), f"{made.name}: it agrees where a reason is given"
    reasons = [each.reason for each in made.found]
    record_property("database", [dict(made.samples), made.checks.total(), reasons])


@pytest.mark.parametrize("name", operators.OPERATORS)
def test_operator(name: str, record_property: Any) -> None:
    assert_explained(operators.tally(operators.OPERATORS[name], MOST), record_property)


@pytest.mark.parametrize("name", modules.MODULES)
def test_module(name: str, record_property: Any) -> None:
    cases = modules.cases_of(modules.MODULES[name])
    assert_explained(modules.tally(cases, f"module {name}"), record_property)


@pytest.mark.parametrize("name", modules.OLDER)
def test_criterion(name: str, record_property: Any) -> None:
    assert_explained(modules.tally(modules.OLDER[name](), f"older {name}"), record_property)
