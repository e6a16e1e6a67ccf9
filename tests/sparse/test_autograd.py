"""Sparse gradients: who makes them, how they add up, what goes through them."""

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn import functional


def table() -> torch.Tensor:
    return torch.arange(10.0).view(5, 2).requires_grad_()


def look_up(weight: torch.Tensor, *numbers: int, **options) -> torch.Tensor:
    return functional.embedding(torch.tensor(numbers), weight, sparse=True, **options)


def test_embedding_has_a_sparse_gradient() -> None:
    weight = table()
    numbers = torch.tensor([[1, 3], [1, 0]])
    out = functional.embedding(numbers, weight, sparse=True)
    out.backward(torch.arange(8.0).view(2, 2, 2))
    assert weight.grad.is_sparse
    assert not weight.grad.is_coalesced()
    assert weight.grad._indices().tolist() == [[1, 3, 1, 0]]
    assert weight.grad._values().tolist() == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_gradients_add_up() -> None:
    weight = table()
    look_up(weight, 1, 3).sum().backward()
    first = weight.grad
    look_up(weight, 4, 1).sum().backward()
    assert weight.grad._indices().tolist() == [[1, 3, 4, 1]]
    assert first._nnz() == 2
    (weight * 2).sum().backward()
    assert not weight.grad.is_sparse
    assert weight.grad.tolist() == [[2, 2], [4, 4], [2, 2], [3, 3], [3, 3]]
    look_up(weight, 0).sum().backward()
    assert weight.grad.tolist() == [[3, 3], [4, 4], [2, 2], [3, 3], [3, 3]]


@pytest.mark.parametrize("order", [0, 1])
def test_sparse_and_dense_gradients_of_one_run_add_up(order) -> None:
    weight = table()
    parts = [look_up(weight, 1, 1).sum(), (weight * 2).sum()]
    (parts[order] + parts[1 - order]).backward()
    assert weight.grad.tolist() == [[2, 2], [4, 4], [2, 2], [2, 2], [2, 2]]


def test_a_table_that_is_a_matrix_too() -> None:
    weight = table()
    rows = look_up(weight, 1, 4)
    functional.linear(rows, weight).sum().backward()
    dense = table()
    functional.linear(functional.embedding(torch.tensor([1, 4]), dense), dense).sum().backward()
    assert weight.grad.to_dense().tolist() == dense.grad.tolist()


def test_the_gradient_does_not_share_memory_with_the_callers() -> None:
    weight = table()
    given = torch.ones(2, 2)
    look_up(weight, 4, 1).backward(given)
    given.zero_()
    assert weight.grad._values().tolist() == [[1, 1], [1, 1]]


def test_padding_is_left_out() -> None:
    weight = table()
    look_up(weight, 4, 1, 4, 2, padding_idx=4).sum().backward()
    assert weight.grad._indices().tolist() == [[1, 2]]


def test_scaling_by_frequency_is_refused() -> None:
    with pytest.raises(RuntimeError, match="scale_grad_by_freq"):
        look_up(table(), 4, 4, scale_grad_by_freq=True).sum().backward()


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding_idx", [None, 4])
def test_bags(mode, padding_idx) -> None:
    numbers, offsets = torch.tensor([4, 1, 4, 2, 0]), torch.tensor([0, 2])
    weights = table(), table()
    for weight, sparse in zip(weights, (False, True), strict=True):
        out = functional.embedding_bag(
            numbers, weight, offsets, mode=mode, sparse=sparse, padding_idx=padding_idx
        )
        (out * torch.arange(4.0).view(2, 2)).sum().backward()
    assert weights[1].grad.is_sparse
    assert torch.allclose(weights[1].grad.to_dense(), weights[0].grad)
    rows = [4, 1, 4, 2, 0] if padding_idx is None else [1, 2, 0]
    assert weights[1].grad._indices().tolist() == [rows]


def test_bags_with_weights() -> None:
    weight = table()
    functional.embedding_bag(
        torch.tensor([4, 1, 4]),
        weight,
        torch.tensor([0, 2]),
        mode="sum",
        sparse=True,
        per_sample_weights=torch.tensor([1.0, 2.0, 3.0]),
    ).sum().backward()
    assert weight.grad._values().tolist() == [[1, 1], [2, 2], [3, 3]]
    with pytest.raises(ValueError, match="max"):
        functional.embedding_bag(
            torch.tensor([4]), weight, torch.tensor([0]), mode="max", sparse=True
        )


@pytest.mark.parametrize(
    "layer", [nn.Embedding(5, 2, sparse=True), nn.EmbeddingBag(5, 2, sparse=True)]
)
def test_layers(layer) -> None:
    layer(torch.tensor([[1, 3]])).sum().backward()
    assert layer.weight.grad.is_sparse
    layer.zero_grad(set_to_none=False)
    assert layer.weight.grad._nnz() == 0
    layer.zero_grad()
    assert layer.weight.grad is None


def test_hooks_see_the_sparse_gradient() -> None:
    weight = table()
    seen = []
    weight.register_hook(lambda grad: seen.append(grad) or grad * 2)
    look_up(weight, 1).sum().backward()
    assert seen[0].is_sparse
    assert weight.grad._values().tolist() == [[2, 2]]


def test_through_other_operators() -> None:
    weight = table()
    look_up(-weight * 2, 1).sum().backward()
    assert weight.grad.is_sparse
    assert weight.grad.to_dense()[1].tolist() == [-2, -2]
    with pytest.raises(NotImplementedError, match="recorded by cumsum"):
        look_up(weight.cumsum(0), 1).sum().backward()


def test_grad_gives_it_and_retained_gradients_are_sparse() -> None:
    weight = table()
    doubled = weight * 2
    doubled.retain_grad()
    (grad,) = torch.autograd.grad(look_up(doubled, 3).sum(), weight, retain_graph=True)
    assert grad.is_sparse
    look_up(doubled, 3).sum().backward()
    assert doubled.grad.is_sparse


def test_second_derivatives() -> None:
    weight = table()
    scale = torch.tensor(2.0, requires_grad=True)
    (grad,) = torch.autograd.grad((look_up(weight, 3) * scale).sum(), weight, create_graph=True)
    grad.to_dense().sum().backward()
    assert scale.grad.item() == 2


def test_anomalies_are_seen() -> None:
    weight = table()
    with (
        pytest.warns(UserWarning, match="Anomaly"),
        torch.autograd.detect_anomaly(check_nan=True),
        pytest.raises(RuntimeError, match="nan values"),
    ):
        look_up(weight, 1).backward(torch.full((1, 2), torch.nan))


def test_to_dense_masks_its_gradient() -> None:
    tensor = torch.sparse_coo_tensor([[1, 0, 1]], [1.0, 2.0, 3.0], (3,), requires_grad=True)
    tensor.to_dense().backward(torch.tensor([1.0, 2.0, 3.0]))
    assert tensor.grad._indices().tolist() == [[0, 1]]
    assert tensor.grad._values().tolist() == [1, 2]
    tensor.grad = None
    tensor.to_dense(masked_grad=False).backward(torch.tensor([1.0, 2.0, 3.0]))
    assert tensor.grad.tolist() == [1, 2, 3]


def test_values_get_the_gradient_of_their_places() -> None:
    values = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    tensor = torch.sparse_coo_tensor([[1, 0, 1]], values, (3,))
    tensor.to_dense().backward(torch.tensor([1.0, 2.0, 3.0]))
    assert values.grad.tolist() == [2, 1, 2]
    values.grad = None
    tensor = torch.sparse_coo_tensor([[1, 0, 1]], values, (3,))
    (tensor * 2).coalesce().values().backward(torch.tensor([1.0, 10.0]))
    assert values.grad.tolist() == [20, 2, 20]


def test_dense_tensors_get_gradients_back() -> None:
    dense = torch.tensor([1.0, 0.0, 2.0], requires_grad=True)
    dense.to_sparse().to_dense().backward(torch.tensor([1.0, 2.0, 3.0]))
    assert dense.grad.tolist() == [1, 0, 3]
    dense.grad = None
    mask = torch.sparse_coo_tensor([[1, 0, 1]], [1.0, 1.0, 1.0], (3,))
    dense.sparse_mask(mask).to_dense().backward(torch.tensor([1.0, 2.0, 3.0]))
    assert dense.grad.tolist() == [1, 4, 0]


def test_products_of_matrices() -> None:
    left = torch.sparse_coo_tensor(
        [[0, 1, 1], [1, 0, 0]], [1.0, 2.0, 3.0], (3, 2), requires_grad=True
    )
    right = torch.ones(2, 2, requires_grad=True)
    torch.sparse.mm(left, right).sum().backward()
    assert left.grad._indices().tolist() == [[0, 1], [1, 0]]
    assert left.grad._values().tolist() == [2, 2]
    assert right.grad.tolist() == [[5, 5], [1, 1]]
    left.grad = None
    torch.mm(left, right).sum().backward()
    assert left.grad.tolist() == [[2, 2], [2, 2], [2, 2]]
