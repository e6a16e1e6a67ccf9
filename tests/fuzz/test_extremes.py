"""Extreme integers in every argument: refused, or the result is what it says; never a fault."""

import pathlib
import subprocess
import sys

import pytest

import flambeau as torch

_TABLE = pathlib.Path(__file__).parents[2] / "opgen" / "table"
FAMILIES = sorted(path.stem for path in _TABLE.glob("[a-z]*.py"))
GROUPS = [FAMILIES[i::8] for i in range(8)]


@pytest.mark.parametrize("families", GROUPS, ids=lambda each: each[0])
def test_extreme_integers(families: list[str]) -> None:
    command = [sys.executable, "-m", "tests.fuzz.extremes", *families]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=600)
    last = done.stdout.splitlines()[-1:]
    assert done.returncode == 0, f"exit status {done.returncode} in {last}:\n{done.stderr}"
    assert last, "no operator was called"


REFUSED = {
    "a square of elements": lambda: torch.empty(0).resize_(2**31, 2**31),
    "elements whose bytes overflow": lambda: torch.empty(0).resize_(2**62),
    "a product of zero": lambda: torch.ones(4).repeat(2**62),
    "a sum of zero": lambda: torch.cat([torch.ones(1).expand(2**62)] * 4),
    "counts that sum to zero": lambda: torch.repeat_interleave(torch.tensor([2**62] * 4)),
    "strides beside an empty dimension": lambda: torch.empty(0, 2**62, 8),
    "a step beyond the tensor": lambda: torch.ones(4, 10).unfold(0, 4, 2**63 - 1),
    "a diagonal out of reach": lambda: torch.diag_embed(torch.ones(3), -(2**63)),
    "as many steps as there are numbers": lambda: torch.arange(-(2**63), 2**63 - 1),
    "out of a size beyond memory": lambda: torch.arange(2**61, out=torch.empty(0)),
    "a triangle of many rows": lambda: torch.tril_indices(2**61, 4),
    "a matrix of many powers": lambda: torch.linalg.vander(torch.ones(4), N=2**61),
}


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refused(call) -> None:
    with pytest.raises(RuntimeError, match=r"2\^63|memory|too many"):
        call()


def test_a_tensor_that_was_not_resized_stays_what_it_was() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    for size in [(2**62,), (2**31, 2**31), (0, 2**62, 8)]:
        with pytest.raises(RuntimeError, match=r"2\^63"):
            x.resize_(size)
        assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
        assert x.untyped_storage().nbytes() == 24


def test_a_storage_that_shrank_and_grew_holds_its_tensors() -> None:
    """Whoever looked at more of it finds memory there."""
    x = torch.ones(100_000)
    x.untyped_storage().resize_(4)
    x.untyped_storage().resize_(8)
    assert x[:1].item() == 1.0
    assert x.fill_(2.0).sum().item() == 200_000.0


def entries(row: int, col: int, offset: int, lower: bool) -> list[list[int]]:
    kept = [
        (r, c)
        for r in range(row)
        for c in range(col)
        if (c <= r + offset if lower else c >= r + offset)
    ]
    return [[r for r, _ in kept], [c for _, c in kept]]


@pytest.mark.parametrize("offset", [-(2**63), -5, -2, -1, 0, 1, 2, 3, 6, 2**63 - 1])
@pytest.mark.parametrize("shape", [(0, 0), (0, 3), (3, 0), (1, 1), (3, 3), (2, 5), (5, 2)])
def test_entries_of_triangles(shape: tuple[int, int], offset: int) -> None:
    assert torch.tril_indices(*shape, offset).tolist() == entries(*shape, offset, True)
    assert torch.triu_indices(*shape, offset).tolist() == entries(*shape, offset, False)


def test_rows_without_entries_cost_nothing() -> None:
    assert torch.tril_indices(2**62, 0).shape == (2, 0)
    assert torch.triu_indices(2**62, 2).tolist() == [[0, 0, 1], [0, 1, 1]]
