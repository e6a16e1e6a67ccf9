"""The databases behind torch's own tests: operators, modules, criteria and optimisers.

Of an operator in a dtype only some samples run here. ``python -m tests.conformance.database`` runs
all of them, which takes a quarter of an hour of processor time, and says which reasons stand for
nothing.
"""

from __future__ import annotations

import faulthandler
from collections.abc import Iterator
from typing import Any

import pytest

from tests.conformance.database import modules, operators, optimizers
from tests.conformance.database.tally import Tally

MOST = 12  # samples of an operator in a dtype
SECONDS = 300  # after which a comparison is taken not to end


@pytest.fixture(autouse=True)
def _ends() -> Iterator[None]:
    """Ends the process of a comparison that does not end by itself, and shows where it was."""
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    yield
    faulthandler.cancel_dump_traceback_later()


def assert_explained(made: Tally, record_property: Any) -> None:
    """Every difference has its reason."""
    found = made.unexplained()
    assert not found, f"{made.name}:\n" + "\n".join(map(str, found[:20]))
    record_property("database", made.counts())


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


@pytest.mark.parametrize("name", optimizers.OPTIMIZERS)
def test_optimizer(name: str, record_property: Any) -> None:
    assert_explained(optimizers.tally(optimizers.OPTIMIZERS[name]), record_property)
