"""Singular values from random samples."""

from __future__ import annotations

import pytest

import flambeau as fb


def low_rank(*shape, rank):
    return fb.randn(*shape[:-1], rank) @ fb.randn(*shape[:-2], rank, shape[-1])


@pytest.mark.parametrize("shape", [(20, 8), (8, 20), (3, 12, 9)])
def test_a_matrix_of_low_rank_is_found_exactly(shape):
    fb.manual_seed(0)
    a = low_rank(*shape, rank=3).double()
    u, s, v = fb.svd_lowrank(a, q=4)
    fb.testing.assert_close((u * s[..., None, :]) @ v.mH, a)
    fb.testing.assert_close(s[..., :3], fb.linalg.svdvals(a)[..., :3])


def test_the_mean_is_taken_off():
    fb.manual_seed(0)
    a = low_rank(20, 6, rank=2) + 5.0
    _, s, v = fb.pca_lowrank(a, q=3)
    centred = a - a.mean(0)
    fb.testing.assert_close(s[:2], fb.linalg.svdvals(centred)[:2], rtol=1e-4, atol=1e-4)
    fb.testing.assert_close(centred @ v @ v.T, centred, rtol=1e-3, atol=1e-4)
    exact = fb.svd_lowrank(a, q=3, M=a.mean(0, keepdim=True))[1]
    fb.testing.assert_close(s, exact, rtol=1e-4, atol=1e-3)


def test_arguments():
    a = fb.randn(6, 4)
    assert [each.shape for each in fb.pca_lowrank(a)] == [(6, 4), (4,), (4, 4)]
    with pytest.raises(ValueError, match=r"q\(=5\) must be non-negative integer"):
        fb.pca_lowrank(a, q=5)
    with pytest.raises(ValueError, match=r"niter\(=-1\)"):
        fb.pca_lowrank(a, niter=-1)
