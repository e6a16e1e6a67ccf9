"""Tensors of more than 2**31 elements: no kernel counts them in 32 bits."""

import os
from collections.abc import Callable

import pytest

import flambeau as fb
from flambeau import cuda
from flambeau.nn import functional as F

N = 2**31 + 40
NEEDED = 50 * 2**30

pytestmark = pytest.mark.skipif("FB_EMULATOR_ROOT" in os.environ, reason="needs a GPU")


def marked(dtype: fb.dtype = fb.int8) -> fb.Tensor:
    """Zeros that end in 1, 2, 3."""
    x = fb.zeros(N, dtype=dtype, device="cuda")
    x[-3:] = fb.tensor([1, 2, 3], dtype=dtype)
    return x


def pointwise() -> None:
    x = marked()
    assert (x + x * 2)[-3:].tolist() == [3, 6, 9]
    assert (x.view(2, -1) + x[: N // 2])[1, -3:].tolist() == [1, 2, 3]
    assert x.view(-1, 2).t().contiguous()[1, -1] == 3
    assert x.to(fb.float16)[-1] == 3
    assert fb.where(x > 1, x, 7)[-3:].tolist() == [7, 2, 3]


def reductions() -> None:
    x = marked()
    assert x.sum() == 6
    assert x.argmax() == N - 1
    assert x.view(2, -1).sum(0)[-1] == 3
    assert x.view(-1, 8).amax(1)[-1] == 3
    assert x.view(-1, 8).any(1)[-1]
    assert fb.count_nonzero(x) == 3
    assert x.cumsum(0, dtype=fb.int32)[-3:].tolist() == [1, 3, 6]


def positions() -> None:
    x = marked()
    far = fb.tensor([N - 2, 0, N - 1], device="cuda")
    assert x[far].tolist() == [2, 0, 3]
    assert x.gather(0, far).tolist() == [2, 0, 3]
    assert x.nonzero().flatten().tolist() == [N - 3, N - 2, N - 1]
    assert x[x > 1].tolist() == [2, 3]
    x.index_add_(0, far, fb.ones(3, dtype=fb.int8, device="cuda"))
    assert (x[0], x[-2], x[-1]) == (1, 3, 4)
    x.scatter_(0, far, 9)
    assert (x[0], x[-2], x[-1]) == (9, 9, 9)


def joins() -> None:
    x = marked()
    both = fb.cat([x[: N // 2], x[N // 2 :]])
    assert fb.equal(both, x)
    assert x.flip(0)[:3].tolist() == [3, 2, 1]
    assert x.roll(1)[:1].tolist() == [3]
    assert fb.stack([x, x])[1, -1] == 3


def sorting() -> None:
    x = marked()
    values, indices = x.topk(3)
    assert values.tolist() == [3, 2, 1]
    assert indices.tolist() == [N - 1, N - 2, N - 3]
    x[0] = -5
    values, indices = x.sort()
    assert values[[0, -3, -2, -1]].tolist() == [-5, 1, 2, 3]
    assert indices[[0, 1, -1]].tolist() == [0, 1, N - 1]


def random_numbers() -> None:
    x = fb.rand(N, device="cuda", dtype=fb.float16)
    assert abs(x[-(2**20) :].mean().item() - 0.5) < 0.01
    assert abs(x.mean(dtype=fb.float32).item() - 0.5) < 0.001
    kept = F.dropout(fb.ones(N, device="cuda", dtype=fb.float16), 0.25)[-(2**20) :] != 0
    assert abs(kept.float().mean().item() - 0.75) < 0.01


def layers() -> None:
    x = fb.zeros(N // 8, 8, device="cuda", dtype=fb.bfloat16)
    x[-1, 3] = 100
    assert x.softmax(1)[-1].tolist() == [0, 0, 0, 1, 0, 0, 0, 0]
    assert F.layer_norm(x, (8,))[-1].argmax() == 3
    weight = x.requires_grad_()
    rows = F.embedding(fb.tensor([N // 8 - 1], device="cuda"), weight)
    assert rows[0, 3] == 100
    rows.sum().backward()
    assert weight.grad is not None
    assert weight.grad[-1].tolist() == [1.0] * 8
    assert weight.grad[:-1].count_nonzero() == 0


@pytest.mark.parametrize(
    "check", [pointwise, reductions, positions, joins, sorting, random_numbers, layers]
)
def test_more_than_32_bits_count(check: Callable[[], None]) -> None:
    if cuda.mem_get_info()[0] < NEEDED:
        pytest.skip(f"{NEEDED >> 30} GiB of a GPU are not free")
    check()
    cuda.empty_cache()
