"""Matrix products beyond single calls: threads, forks, memory that overlaps, odd spellings."""

import os

import numpy as np
import pytest

import flambeau as fb

SHAPES = [
    # batch, m, n, k: small kernel, vectors, parts of a product, deep sums
    (1, 8, 8, 8),
    (1, 1, 300, 70000),
    (1, 70000, 3, 1),
    (1, 130, 260, 90),
    (1, 15, 16, 4096),
    (1, 7, 1030, 1030),
    (1, 600, 40, 2100),
    (20, 33, 65, 40),
    (3, 200, 120, 257),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("transposed", ["nn", "tn", "nt", "tt"])
def test_result_does_not_depend_on_threads(shape: tuple[int, ...], transposed: str) -> None:
    batch, m, n, k = shape
    a = fb.randn(batch, k, m).transpose(1, 2) if transposed[0] == "t" else fb.randn(batch, m, k)
    b = fb.randn(batch, n, k).transpose(1, 2) if transposed[1] == "t" else fb.randn(batch, k, n)
    before = fb.get_num_threads()
    try:
        results = []
        for threads in (1, 2, 3, 6):
            fb.set_num_threads(threads)
            results.append((a @ b).numpy())
    finally:
        fb.set_num_threads(before)
    expected = a.numpy().astype(np.float64) @ b.numpy().astype(np.float64)
    np.testing.assert_allclose(results[0], expected, rtol=1e-4, atol=2e-3)
    for other in results[1:]:
        np.testing.assert_array_equal(results[0], other)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_product_in_a_forked_child() -> None:
    a = fb.randn(300, 300)
    d = a.double()
    expected, expected_double = a @ a, d @ d
    child = os.fork()
    if child == 0:  # no assertion may leave the child: its exit status is the answer
        same = fb.equal(a @ a, expected) and fb.equal(d @ d, expected_double)
        fb.linalg.inv(d)
        os._exit(0 if same else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_out_may_be_an_operand() -> None:
    a = fb.arange(9.0).reshape(3, 3)
    expected = a.numpy() @ a.numpy()
    fb.mm(a, a, out=a)
    np.testing.assert_array_equal(a.numpy(), expected)


def test_matmul_operator_leaves_other_types_to_them() -> None:
    with pytest.raises(TypeError):
        fb.ones(2, 2) @ "no matrix"  # type: ignore[operator]


def test_einsum_with_lists_of_subscripts() -> None:
    a, b = fb.randn(2, 3), fb.randn(3, 4)
    expected = (a @ b).numpy()
    np.testing.assert_allclose(fb.einsum(a, [0, 1], b, [1, 2], [0, 2]).numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(fb.einsum(a, [0, 1], b, [1, 2]).numpy(), expected, rtol=1e-5)
    np.testing.assert_allclose(fb.einsum("ij,jk->ik", [a, b]).numpy(), expected, rtol=1e-5)
    np.testing.assert_array_equal(fb.einsum(a, [..., 1], [1, ...]).numpy(), a.numpy().T)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16"])
def test_sums_with_products_of_16_bits_are_rounded_once(dtype: str) -> None:
    kind = getattr(fb, dtype)
    fb.manual_seed(0)
    start, a, b = (fb.randn(*shape).to(kind) for shape in ((6, 7), (6, 5), (5, 7)))
    factors = {"beta": -4.775, "alpha": 2.0315}
    wide = [each.double() for each in (start, a, b)]
    expected = fb.addmm(*wide, **factors).to(kind)
    assert fb.equal(fb.addmm(start, a, b, **factors), expected)
    batch = (each.unsqueeze(0) for each in (start, a, b))
    assert fb.equal(fb.baddbmm(*batch, **factors)[0], expected)
    vector = fb.addmv(wide[0][:, 0], wide[1], wide[2][:, 0], **factors).to(kind)
    assert fb.equal(fb.addmv(start[:, 0], a, b[:, 0], **factors), vector)
    with pytest.raises(RuntimeError, match="type"):
        fb.addmv(start[:, 0], a, b[:, 0].float(), **factors)
