"""Options without effect warn once, are listed, and are on the compatibility page."""

from __future__ import annotations

import ast
import inspect
import re
import warnings
from pathlib import Path

import pytest

from flambeau._limits.accepted import ACCEPTED, AcceptedWarning, accepted
from flambeau.compat._names import ABSENT, declares, resolve
from tools import accepted_table

ROOT = Path(__file__).parents[2]


def marked() -> list[tuple[str, object]]:
    """Every call of the marker in the package, with its first argument."""
    texts = {file: file.read_text(encoding="utf-8") for file in (ROOT / "flambeau").rglob("*.py")}
    return [
        (f"{file}:{node.lineno}", ast.literal_eval(node.args[0]))
        for file, text in texts.items()
        if "accepted(" in text
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "accepted"
    ]


def test_every_mark_is_in_the_list_and_every_entry_is_used():
    marks = marked()
    assert [place for place, name in marks if name not in ACCEPTED] == []
    assert ACCEPTED.keys() - {name for _, name in marks} == set()


@pytest.mark.parametrize("entry", ACCEPTED)
def test_entries_are_names_of_the_package(entry: str):
    match = re.fullmatch(r"([\w.]+)(?:\((\w+)\))?", entry)
    assert match, entry
    name, option = match.groups()
    value = resolve(name)
    owner, _, attribute = name.rpartition(".")
    assert value is not ABSENT or declares(resolve(owner), attribute), f"there is no {name}"
    if option is not None:
        assert option in inspect.signature(value).parameters, f"{name} has no option {option}"


def test_a_warning_comes_once(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("flambeau._limits.accepted._said", set())
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(2):
            for name in ("torch.compile", "torch.compile(fullgraph)"):
                accepted(name, stacklevel=0)
    assert [str(each.message).partition(" ")[0] for each in caught] == [
        "torch.compile",
        "torch.compile(fullgraph)",
    ]
    assert all(each.category is AcceptedWarning for each in caught)
    assert all(each.filename == __file__ for each in caught)
    assert all("\n" not in str(each.message) for each in caught)


def test_the_page_has_the_table():
    for page in accepted_table.PAGES:
        text = page.read_text(encoding="utf-8")
        assert text == accepted_table.with_table(text), "run python tools/accepted_table.py"
