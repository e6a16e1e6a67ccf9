"""Products of groups with a matrix for each."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau.nn.functional import grouped_mm

OFFS = fb.tensor([2, 6], dtype=fb.int32)


def test_rows():
    a, b = fb.randn(7, 3), fb.randn(2, 3, 4)
    result = grouped_mm(a, b, offs=OFFS)
    fb.testing.assert_close(result[:2], a[:2] @ b[0])
    fb.testing.assert_close(result[2:6], a[2:6] @ b[1])
    assert result[6].tolist() == [0, 0, 0, 0]


def test_columns():
    a, b = fb.randn(2, 4, 3), fb.randn(3, 6)
    result = grouped_mm(a, b, offs=OFFS)
    fb.testing.assert_close(result, fb.cat([a[0] @ b[:, :2], a[1] @ b[:, 2:]], 1))


def test_what_is_summed_over():
    a, b = fb.randn(4, 6), fb.randn(6, 3)
    result = grouped_mm(a, b, offs=OFFS)
    fb.testing.assert_close(result, fb.stack([a[:, :2] @ b[:2], a[:, 2:] @ b[2:]]))


def test_batches_and_gradients():
    a, b = fb.randn(2, 4, 3), fb.randn(2, 3, 5)
    fb.testing.assert_close(grouped_mm(a, b), fb.bmm(a, b))
    rows, experts = fb.randn(6, 3, requires_grad=True), fb.randn(2, 3, 4, requires_grad=True)
    grouped_mm(rows, experts, offs=OFFS).sum().backward()
    fb.testing.assert_close(rows.grad[0], experts[0].sum(1).detach())
    fb.testing.assert_close(experts.grad[1, :, 0], rows[2:].sum(0).detach())


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((6, 3), (2, 3, 4)), {}, "offs has to be given"),
        (((2, 6, 3), (2, 3, 4)), {"offs": OFFS}, "offs has to be given"),
        (((6, 3), (3, 3, 4)), {"offs": OFFS}, "3 matrices for 2 groups"),
        (((6, 3), (2, 3, 4)), {"offs": OFFS.long()}, "offs has to be of torch.int32"),
        (((6,), (2, 3, 4)), {"offs": OFFS}, "mat_a has to be 2 or 3d, got 1d"),
        (((6, 3), (2, 3, 4)), {"offs": OFFS, "bias": OFFS}, "bias is not supported"),
        (((6, 3), (2, 3, 4)), {"offs": OFFS, "out_dtype": fb.float64}, "out_dtype has to be"),
    ],
)
def test_refusals(shapes, options, message):
    with pytest.raises(RuntimeError, match=f"grouped_mm: .*{message}"):
        grouped_mm(*map(fb.ones, shapes), **options)
