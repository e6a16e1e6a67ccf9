"""Comparing what a program prints under PyTorch and under Flambeau."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["assert_same_output", "printed"]

ROOT = Path(__file__).parents[2]
RUNNERS = {"torch": "tests.conformance.with_torch", "flambeau": "flambeau.compat"}
_NUMBER = re.compile(r"[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:e[-+]?\d+)?|nan|inf", re.IGNORECASE)


def printed(framework: str, script: Path, *arguments: str) -> str:
    """What a program prints under ``torch`` or ``flambeau``, with one thread."""
    path = f"{ROOT}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"
    result = subprocess.run(
        [sys.executable, "-m", RUNNERS[framework], str(script), *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": path, "OMP_NUM_THREADS": "1", "CUDA_VISIBLE_DEVICES": ""},
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def assert_same_output(script: Path, *arguments: str, tolerance: float = 1e-3) -> None:
    """The texts are the same but for their numbers, and those agree to the tolerance."""
    expected, actual = (printed(name, script, *arguments) for name in RUNNERS)
    assert expected, "the program printed nothing"
    for theirs, ours in zip(expected.splitlines(), actual.splitlines(), strict=True):
        assert _NUMBER.sub("#", ours) == _NUMBER.sub("#", theirs)
        theirs_numbers, ours_numbers = (
            [float(number) for number in _NUMBER.findall(line)] for line in (theirs, ours)
        )
        assert ours_numbers == pytest.approx(
            theirs_numbers, rel=tolerance, abs=tolerance, nan_ok=True
        ), f"torch: {theirs}\nflambeau: {ours}"
