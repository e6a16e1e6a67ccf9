"""Every program of examples/ runs in a short form and reaches the expected result."""

import importlib
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import flambeau as fb

FOLDER = Path(__file__).parents[2] / "examples"
NOT_TRAINED = {
    "corpus",
    "shapes",
    "tour",
}  # what several programs share; a walk through many things
ON_PICTURES = {"cifar_resnet", "finetune"}  # which have tests of their own

# For each program, a short run and what must hold of what it returns.
Short = tuple[Callable[[ModuleType], Any], Callable[[ModuleType, Any], bool]]
SHORT: dict[str, Short] = {
    "char_lstm": (lambda m: m.train(steps=60), lambda m, got: got[2] < 3.0),
    "digits_cnn": (lambda m: m.train(epochs=4), lambda m, got: got[1] > 0.85),
    "energy_model": (lambda m: m.train(steps=20), lambda m, got: lower_at_data(m, got)),
    "gan": (lambda m: m.train(steps=300), lambda m, got: m.judge(got)[0] > 0.15),
    "gpt": (lambda m: m.train(steps=25), lambda m, got: got[2] < 3.3),
    "gradient_penalty": (lambda m: m.train(steps=200), lambda m, got: 2.0 < got < 3.5),
    "neural_ode": (
        lambda m: m.train(steps=60),
        lambda m, got: m.mean_error(*got) < m.mean_error(got[0], fb.zeros(2)),
    ),
    "reinforce": (lambda m: m.train(episodes=40), lambda m, got: sum(got[-10:]) > sum(got[:10])),
    "tree_lstm": (lambda m: m.train(steps=150), lambda m, got: m.accuracy(got, 2) > 0.8),
    "vae": (lambda m: m.train(epochs=3), lambda m, got: got[1] < 33),
}


def lower_at_data(module: ModuleType, energy: Any) -> bool:
    with fb.no_grad():
        return bool(energy(module.two_moons(500)).mean() < energy(module.noise(500)).mean())


@pytest.fixture(autouse=True)
def _as_if_run_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_every_program_has_a_short_form() -> None:
    assert {path.stem for path in FOLDER.glob("*.py")} - NOT_TRAINED - ON_PICTURES == set(SHORT)


@pytest.mark.parametrize("name", sorted(SHORT))
def test_program(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    module = importlib.import_module(name)
    run, is_right = SHORT[name]
    assert is_right(module, run(module))
    assert "\r" not in capsys.readouterr().err  # a bar does not draw into a pipe


@pytest.mark.parametrize("name", sorted(set(SHORT) | ON_PICTURES))
def test_header_says_what_to_expect(name: str) -> None:
    assert "\nExpected: " in str(importlib.import_module(name).__doc__)


def test_tour(capsys: pytest.CaptureFixture[str]) -> None:
    importlib.import_module("tour").least_squares()
    printed = capsys.readouterr().out
    true, fitted = re.findall(r"coefficients: *\[(.*)\]", printed)
    assert all(
        abs(float(a) - float(b)) < 0.05
        for a, b in zip(true.split(","), fitted.split(","), strict=True)
    )
