"""Sizes beyond all memory: a tensor is refused, or made at once if it has hardly any elements."""

import itertools
import subprocess
import sys

import numpy as np
import pytest

import flambeau as torch


def test_quick_or_refused() -> None:
    command = [sys.executable, "-m", "tests.fuzz.creation"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout.splitlines()[-1:] == ["done"], done.stdout[-200:] + done.stderr


@pytest.mark.parametrize("offset", [-(2**63), -5, -1, 0, 1, 3, 9, 2**63 - 1])
def test_triangles(offset: int) -> None:
    for rows, columns in itertools.product((0, 1, 2, 4), (0, 1, 3, 5)):
        near = max(min(offset, 100), -100)
        lower = np.stack(np.tril_indices(rows, near, columns))
        upper = np.stack(np.triu_indices(rows, near, columns))
        assert torch.tril_indices(rows, columns, offset).tolist() == lower.tolist()
        assert torch.triu_indices(rows, columns, offset).tolist() == upper.tolist()
