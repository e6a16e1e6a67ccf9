"""Random sparse tensors: whatever is computed with them is what the dense ones give."""

import random
from collections.abc import Callable

import pytest

import flambeau as torch

Tensor = torch.Tensor
Program = Callable[[Tensor, Tensor, int], Tensor]

PROGRAMS: dict[str, Program] = {
    "add": lambda x, y, d: x.add(y, alpha=2),
    "add_": lambda x, y, d: x.clone().add_(y),
    "sub": lambda x, y, d: x - y,
    "mul": lambda x, y, d: x * y,
    "number": lambda x, y, d: x * 2.5 / 2,
    "neg": lambda x, y, d: -x,
    "abs": lambda x, y, d: x.abs(),
    "sqrt": lambda x, y, d: x.sqrt(),
    "sum": lambda x, y, d: x.sum(),
    "sum over one": lambda x, y, d: x.sum(d),
    "sum over two": lambda x, y, d: x.sum((0, d)) if d else x.sum(0),
    "select": lambda x, y, d: x.select(d, -1),
    "unbind": lambda x, y, d: x.unbind(d)[0],
    "transpose": lambda x, y, d: x.transpose(0, d),
    "convert": lambda x, y, d: x.to(torch.float64),
    "copy": lambda x, y, d: x.clone().copy_(y),
    "zeros": lambda x, y, d: x.clone().zero_(),
    "product": lambda x, y, d: x.mm(torch.ones(x.shape[-1], 2, dtype=x.dtype)),
}
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.complex64)


def sparse(shape: list[int], sparse_dim: int, dtype: torch.dtype) -> Tensor:
    """Some values at random places, perhaps at one place several times."""
    count = 0 if 0 in shape else random.choice((0, 1, 2, 5, 20))
    indices = torch.zeros(sparse_dim, count, dtype=torch.int64)
    for row, size in zip(indices, shape, strict=False):
        row.copy_(torch.randint(0, max(size, 1), (count,)))
    values = torch.randint(-3, 4, (count, *shape[sparse_dim:])).to(dtype)
    if random.random() < 0.3 and values.dim() > 1:
        values = values.transpose(0, -1).contiguous().transpose(0, -1)
    tensor = torch.sparse_coo_tensor(indices, values, shape)
    return tensor.coalesce() if random.random() < 0.3 else tensor


@pytest.mark.parametrize("seed", range(60))
def test_same_as_dense(seed) -> None:
    random.seed(seed)
    torch.manual_seed(seed)
    shape = [random.choice((0, 1, 2, 3, 5)) for _ in range(random.randint(0, 4))]
    sparse_dim = random.randint(1, len(shape)) if shape else 0
    dtype = random.choice(DTYPES)
    x = sparse(shape, sparse_dim, dtype)
    y = sparse(shape, sparse_dim, random.choice((dtype, torch.float32)))
    dim = random.randrange(len(shape)) if shape else 0
    for name, program in PROGRAMS.items():
        try:
            result = program(x, y, dim)
        except (RuntimeError, IndexError):
            continue  # refused
        expected = program(x.to_dense(), y.to_dense(), dim)
        assert result.shape == expected.shape, name
        assert result.dtype == expected.dtype, name
        assert torch.allclose(result.to_dense(), expected, equal_nan=True), name
    dense = x.to_dense()
    assert torch.equal(dense.to_sparse(sparse_dim).to_dense(), dense)
    assert torch.equal(dense + y, dense + y.to_dense())
