"""Products of matrices of every shape and order: values, threads, instruction sets, odd memory."""

import os
import subprocess
import sys
from collections.abc import Iterator

import numpy as np
import pytest

import flambeau as torch
from flambeau import _C

SIZES = (1, 2, 7, 13, 16, 63, 64, 65, 200, 513)
ORDERS = ("nn", "tn", "nt", "tt")
# rows, depth, columns: what is cut by rows, columns and depth, what is read in place, and edges of
# tiles, panels and blocks.
SHAPES = (
    (256, 256, 256),
    (97, 300, 161),
    (511, 129, 65),
    (27, 1000, 700),
    (29, 513, 130),
    (1100, 64, 48),
    (64, 784, 512),
    (3, 900, 1030),
    (130, 70, 2100),
    (64, 20_000, 64),
    (7, 5000, 100),
    (120, 3000, 31),
)


def matrix(rows: int, columns: int, is_transposed: bool, padding: int = 0) -> torch.Tensor:
    """A matrix of normal numbers whose rows, or columns, lie `padding` elements apart."""
    if is_transposed:
        return torch.randn(columns, rows + padding)[:, :rows].t()
    return torch.randn(rows, columns + padding)[:, :columns]


def operands(
    shape: tuple[int, int, int], order: str, padding: int = 0
) -> tuple[torch.Tensor, torch.Tensor]:
    m, k, n = shape
    return matrix(m, k, order[0] == "t", padding), matrix(k, n, order[1] == "t", padding)


def check(found: torch.Tensor, a: torch.Tensor, b: torch.Tensor, start: object = 0.0) -> None:
    """Compares with float64; the error of a sum grows with the sizes of what is added."""
    wide_a, wide_b = a.numpy().astype(np.float64), b.numpy().astype(np.float64)
    start = start.numpy() if isinstance(start, torch.Tensor) else start
    sizes = np.abs(wide_a) @ np.abs(wide_b) + np.abs(start)
    error = np.abs(found.numpy() - (wide_a @ wide_b + start))
    # Blocks of 256 are added one after the other, and so are their sums.
    unit = np.finfo(found.numpy().dtype).eps / 2
    assert (error <= 64 * unit * sizes).all(), f"{(error / sizes).max() / unit} units"


def all_products() -> Iterator[tuple[tuple[int, int, int], str]]:
    rng = np.random.default_rng(0)
    for order in ORDERS:
        yield from ((shape, order) for shape in SHAPES)
        for _ in range(60):
            m, k, n = (int(each) for each in rng.choice(SIZES, 3))
            yield (m, k, n), order


def check_all_products() -> None:
    """What every instruction set must pass: called in a process of its own for each."""
    torch.manual_seed(0)
    for shape, order in all_products():
        a, b = operands(shape, order)
        check(a @ b, a, b)


@pytest.mark.parametrize("level", ["baseline", "avx2", "avx512"])
def test_products_at_every_level(level: str) -> None:
    if level not in _C._build()["levels"]:
        pytest.skip("built for one instruction set")
    program = "from tests.core.test_products import check_all_products; check_all_products()"
    environment = os.environ | {"FLAMBEAU_ISA": level}
    subprocess.run([sys.executable, "-c", program], env=environment, check=True)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_of_rows_that_lie_apart(shape: tuple[int, int, int], order: str) -> None:
    torch.manual_seed(0)
    a, b = operands(shape, order, padding=5)
    check(a @ b, a, b)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_sums_with_products(shape: tuple[int, int, int], order: str, dtype: torch.dtype) -> None:
    torch.manual_seed(0)
    a, b = (each.to(dtype) for each in operands(shape, order))
    bias, start = torch.randn(shape[2], dtype=dtype), torch.randn(shape[0], shape[2], dtype=dtype)
    check(torch.addmm(bias, a, b), a, b, bias)
    check(torch.addmm(start, a, b), a, b, start)


@pytest.mark.usefixtures("restored_threads")
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_bits_do_not_depend_on_threads(shape: tuple[int, int, int], order: str) -> None:
    torch.manual_seed(0)
    a, b = operands(shape, order)
    bias = torch.randn(shape[2])
    batch = torch.randn(5, *shape[:2]), torch.randn(5, *shape[1:])

    def products() -> list[torch.Tensor]:
        return [a @ b, torch.addmm(bias, a, b), torch.bmm(*batch)]

    torch.set_num_threads(1)
    expected = products()
    for count in (2, 3, 7, 16):
        torch.set_num_threads(count)
        for found, wanted in zip(products(), expected, strict=True):
            assert torch.equal(found, wanted), f"{count} threads"


@pytest.mark.parametrize("order", ORDERS)
def test_what_is_no_number_stays_in_its_row_and_column(order: str) -> None:
    torch.manual_seed(0)
    a, b = operands((97, 300, 161), order)
    a[96, 299], a[3, 0], b[150, 160] = float("nan"), float("inf"), float("nan")
    found = (a @ b).numpy()
    expected = np.isfinite(a.numpy() @ b.numpy())
    np.testing.assert_array_equal(np.isfinite(found), expected)
    assert expected[:96, :160].sum() == 95 * 160


def test_infinite_elements_beside_the_edges_of_tiles() -> None:
    # What pads a tile must not be multiplied into the result.
    for rows in (33, 47):
        a, b = torch.ones(rows, 300), torch.ones(300, rows)
        a[rows - 1, :], b[:, rows - 1] = float("inf"), float("inf")
        found = a @ b
        assert (found[: rows - 1, : rows - 1] == 300).all()
        assert found[rows - 1].isinf().all()
        assert found[:, rows - 1].isinf().all()


@pytest.mark.parametrize("shape", [(0, 300, 300), (300, 0, 300), (300, 300, 0), (0, 0, 0)])
def test_empty_products(shape: tuple[int, int, int]) -> None:
    m, k, n = shape
    found = torch.ones(m, k) @ torch.ones(k, n)
    assert found.shape == (m, n)
    assert (found == 0).all()
    bias = torch.randn(n)
    assert torch.equal(torch.addmm(bias, torch.ones(m, k), torch.ones(k, n)), bias.expand(m, n) + k)


def test_products_of_one_matrix_with_many() -> None:
    torch.manual_seed(0)
    a, b = torch.randn(6, 70, 90), torch.randn(90, 110)
    found = a @ b
    for i in range(6):
        check(found[i], a[i], b)
    wide = torch.randn(3, 5, 70, 90)
    check((wide @ b)[2, 4], wide[2, 4], b)
