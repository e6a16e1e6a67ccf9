"""Products of bfloat16 matrices by AMX's tiles: emulated everywhere, and by the processor's own."""

import os
import subprocess
import sys

import numpy as np
import pytest

import flambeau as torch
from flambeau import _C
from tests.core.test_products import ORDERS

# rows, depth, columns: whole squares, edges of every kind, several blocks of the depth, several
# parts, and few rows or columns.
SHAPES = (
    (64, 64, 96),
    (2, 1, 2),
    (33, 31, 65),
    (31, 100, 7),
    (7, 1030, 33),
    (40, 2100, 50),
    (1100, 40, 70),
    (70, 48, 1061),
    (600, 700, 65),
)
THREADS = (1, 2, 3, 16)


def check(found: torch.Tensor, a: torch.Tensor, b: torch.Tensor, start: object = 0.0) -> None:
    """Compares with float64: a sum in float32, rounded once to 8 bits."""
    assert found.dtype == torch.bfloat16
    wide_a, wide_b = a.double().numpy(), b.double().numpy()
    start = start.double().numpy() if isinstance(start, torch.Tensor) else start
    expected = wide_a @ wide_b + start
    sizes = np.abs(wide_a) @ np.abs(wide_b) + np.abs(start)
    depth = wide_a.shape[-1]
    bound = 2.0**-8 * np.abs(expected) + np.sqrt(depth + 1) * 2.0**-23 * sizes
    error = np.abs(found.double().numpy() - expected)
    assert (error <= bound).all(), f"{(error / bound).max()} bounds"


def matrix(rows: int, columns: int, is_transposed: bool) -> torch.Tensor:
    """A matrix of normal numbers in bfloat16; its rows lie apart, so that most are not aligned."""
    if is_transposed:
        return torch.randn(columns, rows + 3).to(torch.bfloat16)[:, :rows].t()
    return torch.randn(rows, columns + 3).to(torch.bfloat16)[:, :columns]


def check_products() -> None:
    torch.manual_seed(0)
    for shape in SHAPES:
        for order in ORDERS:
            m, k, n = shape
            a, b = matrix(m, k, order[0] == "t"), matrix(k, n, order[1] == "t")
            bias = torch.randn(n).to(torch.bfloat16)
            batch = torch.randn(3, m, k).to(torch.bfloat16)
            results = []
            for threads in THREADS:
                torch.set_num_threads(threads)
                results.append((a @ b, torch.nn.functional.linear(a, b.t(), bias), batch @ b))
            check(results[0][0], a, b)
            check(results[0][1], a, b, bias)
            check(results[0][2], batch, b)
            for other in results[1:]:
                for found, first in zip(other, results[0], strict=True):
                    assert torch.equal(found, first), (shape, order)


def check_batches() -> None:
    torch.manual_seed(0)
    a, b = (torch.randn(*shape).to(torch.bfloat16) for shape in ((5, 40, 70), (5, 70, 50)))
    check(torch.bmm(a, b), a, b)
    for i in range(5):
        assert torch.equal(torch.bmm(a, b)[i], a[i] @ b[i])
    wide = torch.randn(5, 90, 120).to(torch.bfloat16)
    part = wide[:, 3:43, 5:75]
    check(torch.bmm(part, b), part, b)


def check_what_is_no_number() -> None:
    for rows in (33, 47):
        a, b = (torch.ones(*shape).to(torch.bfloat16) for shape in ((rows, 300), (300, rows)))
        a[rows - 1], b[:, rows - 1] = float("inf"), float("inf")
        for left in (a, a.t().contiguous().t()):
            for right in (b, b.t().contiguous().t()):
                found = left @ right
                assert (found[: rows - 1, : rows - 1] == 300).all()
                assert found[rows - 1].isinf().all()
                assert found[:, rows - 1].isinf().all()
    a[0, 0] = float("nan")
    assert (a @ b)[0].isnan().all()
    # What follows a row in memory belongs to the next.
    rows = torch.ones(64, 40).to(torch.bfloat16)
    rows[1::2] = float("nan")
    found = rows @ torch.ones(40, 64).to(torch.bfloat16)
    assert (found[::2] == 40).all()
    assert found[1::2].isnan().all()


def run(check_name: str, **variables: str) -> None:
    program = f"from tests.core.test_amx import {check_name}; {check_name}()"
    environment = os.environ | variables
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


def amx_with(**variables: str) -> str:
    program = "from flambeau import _C; print(_C._amx())"
    environment = {key: value for key, value in os.environ.items() if key != "FLAMBEAU_AMX"}
    command = [sys.executable, "-c", program]
    return subprocess.run(
        command, env=environment | variables, check=True, text=True, capture_output=True
    ).stdout.strip()


CHECKS = ("check_products", "check_batches", "check_what_is_no_number")
LEVELS = ("baseline", "avx2", "avx512")


@pytest.mark.parametrize("level", LEVELS)
@pytest.mark.parametrize("name", CHECKS)
def test_products_with_emulated_tiles(name: str, level: str) -> None:
    if level not in _C._build()["levels"]:
        pytest.skip("built for one instruction set")
    run(name, FLAMBEAU_AMX="emulated", FLAMBEAU_ISA=level)


@pytest.mark.parametrize("name", CHECKS)
def test_products_with_the_tiles_of_the_processor(name: str) -> None:
    if amx_with() != "tiles":
        pytest.skip("no AMX here")
    run(name, FLAMBEAU_AMX="")


def test_variables_choose_the_tiles() -> None:
    assert amx_with(FLAMBEAU_AMX="off") == "none"
    assert amx_with(FLAMBEAU_AMX="emulated") == "emulated"
    assert amx_with(FLAMBEAU_ISA="avx2") == "none"
    assert amx_with(FLAMBEAU_ISA="baseline", FLAMBEAU_AMX="emulated") == "emulated"
