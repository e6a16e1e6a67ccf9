"""Sparse tensors: making them, their parts, what is computed with them."""

import pytest

import flambeau as torch


def vector() -> torch.Tensor:
    """Not coalesced: place 1 is there twice."""
    return torch.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0], (3,))


def matrix() -> torch.Tensor:
    return torch.sparse_coo_tensor([[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0], (2, 3))


def rows() -> torch.Tensor:
    """Two of three rows of a table."""
    return torch.sparse_coo_tensor([[2, 0]], [[1.0, 2.0], [3.0, 4.0]], (3, 2))


def test_it_has_the_sizes_of_what_it_stands_for() -> None:
    tensor = rows()
    assert tensor.shape == (3, 2)
    assert (tensor.dim(), tensor.numel(), len(tensor), tensor.size(1)) == (2, 6, 3, 2)
    assert (tensor.sparse_dim(), tensor.dense_dim(), tensor._nnz()) == (1, 1, 2)
    assert tensor.is_sparse
    assert tensor.layout is torch.sparse_coo
    assert not tensor.is_contiguous()
    assert torch.ones(2).layout is torch.strided
    assert tensor.to_dense().tolist() == [[3, 4], [0, 0], [1, 2]]


def test_the_size_follows_from_the_places() -> None:
    assert torch.sparse_coo_tensor([[0, 3], [1, 0]], [1.0, 2.0]).shape == (4, 2)
    assert torch.sparse_coo_tensor([[]], []).shape == (0,)
    assert torch.sparse_coo_tensor([[1]], 2.0, (3,)).to_dense().tolist() == [0, 2, 0]


def test_size_alone_makes_zeros() -> None:
    tensor = torch.sparse_coo_tensor(size=(2, 3))
    assert tensor._nnz() == 0
    assert tensor.is_coalesced()
    assert tensor.to_dense().tolist() == [[0, 0, 0], [0, 0, 0]]


def test_no_dimensions() -> None:
    tensor = torch.sparse_coo_tensor(torch.zeros(0, 2, dtype=torch.int64), [3.0, 4.0], ())
    assert tensor.to_dense().item() == 7
    assert tensor.item() == 7
    assert torch.tensor(2.0).to_sparse().to_dense().item() == 2


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([[5]], [1.0], (2,)), "found index 5"),
        (([[-1]], [1.0], (2,)), "negative index -1"),
        (([1], [1.0], (2,)), "sparse_dim x nnz"),
        (([[0, 1]], [1.0], (2,)), "same nnz"),
        (([[0, 1]], [1.0, 2.0], (2, 3)), "sparse_dim = 1, dense_dim = 0"),
        (([[0, 1]], torch.ones(2, 4), (2, 3)), "incorrect size"),
    ],
)
def test_parts_that_do_not_fit_are_refused(arguments, message) -> None:
    with pytest.raises(RuntimeError, match=message):
        torch.sparse_coo_tensor(*arguments)


def test_wrong_arguments_are_refused() -> None:
    with pytest.raises(TypeError, match="size must be a tuple"):
        torch.sparse_coo_tensor([[0]], [1.0], 2)
    with pytest.raises(TypeError, match="indices and values"):
        torch.sparse_coo_tensor([[0]])
    with pytest.raises(RuntimeError, match="uncoalesced"):
        torch.sparse_coo_tensor([[1, 0]], [1.0, 2.0], (2,), is_coalesced=True)


def test_coalesce_sorts_and_sums() -> None:
    tensor = vector()
    assert not tensor.is_coalesced()
    sorted_ = tensor.coalesce()
    assert sorted_.indices().tolist() == [[0, 1]]
    assert sorted_.values().tolist() == [2, 4]
    assert sorted_.coalesce() is sorted_
    with pytest.raises(RuntimeError, match="please call"):
        tensor.values()
    with pytest.raises(RuntimeError, match="please call"):
        tensor.indices()
    assert tensor._values().tolist() == [1, 2, 3]


def test_coalesce_of_few_places_among_many() -> None:
    tensor = torch.sparse_coo_tensor([[9, 0, 9], [999, 5, 999]], [1, 2, 3], (10, 1000))
    sorted_ = tensor.coalesce()
    assert sorted_.indices().tolist() == [[0, 9], [5, 999]]
    assert sorted_.values().tolist() == [2, 4]


@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 0), (4, 3, 2)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bool, torch.int16, torch.complex64])
def test_dense_and_back(shape, dtype) -> None:
    dense = torch.randint(0, 3, shape).to(dtype)
    assert torch.equal(dense.to_sparse().to_dense(), dense)
    assert torch.equal(dense.to_sparse_coo().to_dense(), dense)


def test_dense_dimensions_are_kept_whole() -> None:
    dense = torch.tensor([[0.0, 1.0], [0.0, 0.0]])
    assert dense.to_sparse(1)._values().tolist() == [[0, 1]]
    assert dense.to_sparse(dense_dim=1)._values().tolist() == [[0, 1]]
    with pytest.raises(RuntimeError, match="sparse_dim"):
        dense.to_sparse(3)
    with pytest.raises(NotImplementedError, match="sparse_csr"):
        dense.to_sparse(layout=torch.sparse_csr)


def test_sums_merge_places() -> None:
    other = torch.sparse_coo_tensor([[2, 1]], [1.0, 5.0], (3,))
    total = vector().add(other, alpha=2)
    assert total._indices().tolist() == [[1, 0, 1, 2, 1]]
    assert total._values().tolist() == [1, 2, 3, 2, 10]
    both = vector().coalesce() + other.coalesce()
    assert both.is_coalesced()
    assert both.to_dense().tolist() == [2, 9, 1]
    assert (vector() - vector()).to_dense().tolist() == [0, 0, 0]


def test_dense_tensors_take_sparse_summands() -> None:
    dense = torch.ones(3, 2)
    assert (dense + rows()).tolist() == [[4, 5], [1, 1], [2, 3]]
    dense.add_(rows(), alpha=-1)
    assert dense.tolist() == [[-2, -3], [1, 1], [0, -1]]
    columns = torch.zeros(2, 3).t()
    columns += rows()
    assert columns.tolist() == rows().to_dense().tolist()
    with pytest.raises(RuntimeError, match="can't be cast"):
        torch.ones(3, 2, dtype=torch.int64).add_(rows())
    with pytest.raises(RuntimeError, match="same size"):
        torch.ones(2) + rows()


def test_numbers_scale_values() -> None:
    tensor = vector()
    assert (tensor * 2)._values().tolist() == [2, 4, 6]
    assert (2 * tensor)._values().tolist() == [2, 4, 6]
    assert (tensor / 2)._values().tolist() == [0.5, 1, 1.5]
    assert (-tensor)._values().tolist() == [-1, -2, -3]
    assert (tensor * torch.tensor(3.0))._values().tolist() == [3, 6, 9]
    tensor.mul_(2).div_(4).neg_()
    assert tensor._values().tolist() == [-0.5, -1, -1.5]
    assert tensor._version == 3


def test_products() -> None:
    assert (vector() * vector()).to_dense().tolist() == [4, 16, 0]
    assert (vector() * torch.tensor([1.0, 2.0, 3.0])).to_dense().tolist() == [2, 8, 0]
    assert (matrix() @ torch.ones(3, 2)).tolist() == [[3, 3], [9, 9]]
    assert (torch.ones(2, 2) @ matrix()).tolist() == [[4, 0, 8], [4, 0, 8]]
    assert (matrix() @ torch.ones(3)).tolist() == [3, 9]
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch.mm(matrix(), torch.ones(2, 3))


def test_functions_that_are_zero_at_zero_act_on_values() -> None:
    tensor = vector()
    assert torch.sqrt(tensor).to_dense().tolist() == torch.sqrt(tensor.to_dense()).tolist()
    assert torch.isnan(tensor).dtype is torch.bool
    tensor.abs_()
    assert tensor.is_coalesced()
    assert tensor._values().tolist() == [2, 4]


def test_sums_over_dimensions() -> None:
    assert matrix().sum().item() == 12
    assert torch.sparse.sum(matrix(), 0).to_dense().tolist() == [4, 0, 8]
    assert torch.sparse.sum(matrix(), (0, 1)).item() == 12
    assert rows().sum(0).tolist() == [4, 6]
    assert rows().sum(1).to_dense().tolist() == [7, 0, 3]
    assert rows().sum(0, keepdim=True).tolist() == [[4, 6]]
    assert rows().to(torch.int8).sum(0).dtype is torch.int64
    assert matrix().to(torch.int8).sum(0).dtype is torch.int64
    assert torch.tensor(2.0).to_sparse().sum(0).item() == 2


def test_places() -> None:
    tensor = matrix()
    assert tensor[0].to_dense().tolist() == [0, 0, 3]
    assert tensor[1, 2].item() == 5
    assert [row.to_dense().tolist() for row in tensor] == [[0, 0, 3], [4, 0, 5]]
    assert tensor.t().to_dense().tolist() == [[0, 4], [0, 0], [3, 5]]
    assert tensor.T.shape == (3, 2)
    assert rows()[2].tolist() == [1, 2]
    assert rows().select(1, 1).to_dense().tolist() == [4, 0, 2]


def test_types_and_copies() -> None:
    tensor = vector()
    assert tensor.double().dtype is torch.float64
    assert tensor.to(torch.int64)._values().tolist() == [1, 2, 3]
    assert tensor.to(torch.float32) is tensor
    assert tensor.cpu() is tensor
    assert tensor.detach()._values().data_ptr() == tensor._values().data_ptr()
    zeros = tensor.clone().zero_()
    assert zeros._nnz() == 0
    assert zeros.copy_(tensor).to_dense().tolist() == [2, 4, 0]
    assert torch.zeros_like(rows())._values().shape == (0, 2)


def test_names_and_comparison() -> None:
    assert vector().type() == "torch.sparse.FloatTensor"
    torch.testing.assert_close(vector(), vector().coalesce())
    with pytest.raises(AssertionError, match="not close"):
        torch.testing.assert_close(vector(), vector() * 2)
    with pytest.raises(AssertionError, match="layout"):
        torch.testing.assert_close(vector(), vector().to_dense())


def test_mask() -> None:
    dense = torch.arange(6.0).view(2, 3)
    assert dense.sparse_mask(matrix())._values().tolist() == [2, 3, 5]
    with pytest.raises(RuntimeError, match="incompatible sizes"):
        dense.sparse_mask(vector())
    with pytest.raises(RuntimeError, match="mask"):
        dense.sparse_mask(dense)


def test_methods_of_sparse_tensors_refuse_strided_ones() -> None:
    dense = torch.ones(2)
    assert (dense.sparse_dim(), dense.dense_dim()) == (0, 1)
    assert dense.to_dense() is dense
    for name in ("coalesce", "is_coalesced", "indices", "values", "_nnz"):
        with pytest.raises(RuntimeError, match="expected sparse coordinate tensor layout"):
            getattr(dense, name)()


def test_repr() -> None:
    assert repr(rows().double()) == (
        "tensor(indices=tensor([[2, 0]]),\n"
        "       values=tensor([[1., 2.],\n"
        "                      [3., 4.]]),\n"
        "       size=(3, 2), nnz=2, dtype=torch.float64, layout=torch.sparse_coo)"
    )
    assert repr(torch.sparse_coo_tensor(size=(2, 3))) == (
        "tensor(indices=tensor([], size=(2, 0)),\n"
        "       values=tensor([], size=(0,)),\n"
        "       size=(2, 3), nnz=0, layout=torch.sparse_coo)"
    )
