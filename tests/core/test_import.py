"""What ``import flambeau`` brings, and what it leaves for later."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import flambeau as fb

ROOT = Path(__file__).parents[2]
# Each costs milliseconds and is loaded by what needs it.
LEFT_FOR_LATER = {"numpy", "dataclasses", "inspect", "pickle", "json", "flambeau.testing"}


def test_import_is_light():
    program = "import sys, flambeau; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert not LEFT_FOR_LATER & set(result.stdout.split())


def test_lazy_modules():
    assert fb.testing.assert_close
    assert not hasattr(fb, "no_such_name")


def test_version_is_the_packages():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{fb.__version__}"' in project.splitlines()


def test_public_names_are_of_the_package():
    """Helpers of the modules that make up the package do not leak into it."""
    leaked = {
        "Any",
        "annotations",
        "math",
        "warnings",
        "Callable",
        "Iterator",
        "Sequence",
        "typing",
    }
    assert not leaked & set(vars(fb))
