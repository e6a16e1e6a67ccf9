"""Importing a module leaves the function of its name in the package, by whatever name it comes."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Prints what packages have under the names of their modules once these are imported: "module", or
# the class of another object, and what was there before if that was something else.
SWEEP = """
import importlib, json, pkgutil, sys, types, warnings
import flambeau.compat
warnings.simplefilter("ignore")
flambeau.compat.install()
tops, backwards = sys.argv[1].split(","), sys.argv[2] == "backwards"

def imported(name):
    try:
        return importlib.import_module(name)
    except ImportError:  # a module for another package that is not installed
        return None

def under(top, name):
    if top == "torch" and name.startswith("flambeau.vision"):
        return "torchvision" + name.removeprefix("flambeau.vision")
    return top + name.removeprefix("flambeau")

names = [m.name for m in pkgutil.walk_packages(flambeau.__path__, "flambeau.", lambda name: None)]
programs = ("flambeau.cli", "flambeau.compat")
names = [n for n in names if not n.startswith(programs) and not n.endswith("__main__")]
names.remove("flambeau.vision")  # a package of its own under the other name
assert not [name for name in sys.modules if name.startswith("torch")]
found = {}
for name in reversed(names) if backwards else names:
    for top in tops:
        path = under(top, name)
        parent, _, child = path.rpartition(".")
        package = imported(parent) if parent else None
        before = vars(package).get(child) if package else None
        module = imported(path)
        if module is None or package is None:
            continue
        after = getattr(package, child, None)
        found[name] = "another module" if module is not after else "module"
        if not isinstance(after, types.ModuleType):
            found[name] = type(after).__name__
        if before is not None and after is not before:
            found[name] += f", was {type(before).__name__}"
print(json.dumps(found))
"""


def sweep(tops: str, order: str) -> dict[str, str]:
    """What every package has under the names of its modules after all of them were imported."""
    command = [sys.executable, "-c", SWEEP, tops, order]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=300)
    assert result.returncode == 0, result.stderr
    return dict(json.loads(result.stdout))


@pytest.fixture(scope="module")
def plain() -> dict[str, str]:
    return sweep("flambeau", "forwards")


def test_functions_keep_their_names(plain):
    functions = [
        *("autograd.gradcheck", "autograd.variable", "multiprocessing.spawn"),
        *("nn.utils.weight_norm", "nn.utils.spectral_norm"),
        *("nn.parallel.data_parallel", "nn.parallel.replicate", "nn.parallel.parallel_apply"),
        *("vision.models.alexnet", "vision.ops.roi_align"),
    ]
    assert {plain[f"flambeau.{name}"] for name in functions} == {"function"}
    assert not [name for name, value in plain.items() if ", was" in value or "another" in value]


@pytest.mark.parametrize(
    ("tops", "order"),
    [("torch", "forwards"), ("torch", "backwards"), ("flambeau,torch", "forwards")],
)
def test_every_order_of_imports_leaves_the_same(plain, tops, order):
    assert sweep(tops, order) == plain
