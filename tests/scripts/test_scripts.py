"""The programs run on Flambeau and learn something."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.scripts import SCRIPTS, Script, losses

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_losses(script: Script):
    result = subprocess.run(
        [sys.executable, "-m", "flambeau.compat", str(script.path), *script.short],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    assert result.returncode == 0, result.stderr
    found = losses(result.stdout)
    assert all(math.isfinite(loss) for series in found.values() for loss in series)
    if script.falling is None:
        assert found
    else:
        first, *_, last = found[script.falling]
        assert last < first


def test_every_program_is_run():
    here = Path(__file__).parent
    programs = {path.stem for path in here.glob("*.py") if not path.stem.startswith(("_", "test"))}
    assert programs == {script.name for script in SCRIPTS}


def test_reading_losses():
    text = "Epoch 1 Avg. Loss: 0.5, loss_val: 1e-3 (kld loss: 2.) Test loss nan\nno loss here"
    found = losses(text)
    assert found.pop("Test loss") == [pytest.approx(math.nan, nan_ok=True)]
    assert found == {"Avg Loss": [0.5], "loss_val": [0.001], "kld loss": [2.0]}
