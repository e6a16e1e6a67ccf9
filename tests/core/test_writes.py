"""Where results are written: views as `out=`, numbers, overlapping elements, positions."""

from typing import Any

import pytest

import flambeau as torch

SEQUENCES: dict[str, Any] = {
    "arange": lambda out: torch.arange(4, out=out),
    "arange of steps": lambda out: torch.arange(0, 2, 0.5, out=out),
    "linspace": lambda out: torch.linspace(0, 3, 4, out=out),
    "logspace": lambda out: torch.logspace(0, 3, 4, out=out),
}


@pytest.mark.parametrize("call", SEQUENCES.values(), ids=SEQUENCES)
def test_numbers_in_a_row_fill_a_window(call: Any) -> None:
    """`out` keeps its shape if it has as many elements, and its neighbours are left alone."""
    around = torch.full((4, 4), -1.0)
    window = around[1:3, 1:3]
    expected = call(torch.empty(0)).reshape(2, 2)
    assert call(window) is window
    assert window.shape == (2, 2)
    assert torch.equal(window, expected)
    assert (around == -1).sum() == 12


def test_out_of_another_size_is_resized_with_a_warning() -> None:
    out = torch.zeros(2)
    with pytest.warns(UserWarning, match="was resized"):
        torch.add(torch.ones(3), 1, out=out)
    assert out.tolist() == [2.0, 2.0, 2.0]
    torch.add(torch.ones(3), 1, out=torch.empty(0))  # nothing lost, nothing said


def test_what_makes_tensors_resizes_without_a_warning(recwarn: pytest.WarningsRecorder) -> None:
    for call in (
        lambda out: torch.zeros(3, out=out),
        lambda out: torch.eye(2, out=out),
        lambda out: torch.arange(5, out=out),
        lambda out: torch.multinomial(torch.ones(4), 2, out=out.long()),
    ):
        call(torch.zeros(7))
    assert not recwarn.list


def test_out_of_another_shape_lies_as_the_result_does() -> None:
    columns = torch.rand(3, 4).t()
    assert torch.exp(columns, out=torch.empty(0)).stride() == (1, 4)
    assert torch.linalg.inv(torch.eye(3), out=torch.empty(0)).stride() == (1, 3)
    assert torch.fft.fft(columns, out=torch.empty(0, dtype=torch.complex64)).stride() == (3, 1)
    assert torch.exp(columns, out=torch.empty(4, 3)).stride() == (3, 1)  # it had that shape


EXACT: dict[str, Any] = {
    "abs": lambda out: torch.abs(torch.ones(2), out=out),
    "mm": lambda out: torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=out),
    "sort": lambda out: torch.sort(torch.ones(2), out=(out, torch.empty(0, dtype=torch.int64))),
    "tensordot": lambda out: torch.tensordot(torch.ones(2), torch.ones(2), 1, out),
    "linalg.norm": lambda out: torch.linalg.norm(torch.ones(2), out=out),
    "zeros of a type": lambda out: torch.zeros(2, dtype=torch.float32, out=out),
    "sum of a type": lambda out: torch.sum(torch.ones(2), 0, dtype=torch.float32, out=out),
}


@pytest.mark.parametrize("call", EXACT.values(), ids=EXACT)
def test_types_of_out_that_must_be_the_result_s(call: Any) -> None:
    call(torch.empty(0))
    with pytest.raises(RuntimeError, match="type"):
        call(torch.empty(0, dtype=torch.float64))


def test_other_types_of_out() -> None:
    x = torch.tensor([0.5, 2.0])
    assert torch.exp(x, out=torch.empty(0, dtype=torch.float64)).dtype == torch.float64
    assert torch.any(x, out=torch.empty(0, dtype=torch.uint8)).item() == 1
    with pytest.raises(RuntimeError, match="bool or uint8"):
        torch.any(x, out=torch.empty(0, dtype=torch.int64))
    with pytest.raises(TypeError, match="can't be cast"):
        torch.hstack([x, x], out=torch.empty(0, dtype=torch.int64))
    assert torch.bernoulli(torch.ones(2), out=torch.empty(0, dtype=torch.bool)).all()
    with pytest.raises(TypeError, match="'out' must be Tensor, not int"):
        torch.fft.fft(x, out=3)


def test_out_that_shares_memory_with_an_input() -> None:
    x = torch.arange(6.0)
    places = torch.tensor([0, 1, 2, 3, 4])
    for out in (x, x[1:], x[:5]):
        with pytest.raises(RuntimeError, match="single memory location"):
            torch.index_select(x, 0, places, out=out)
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.cumsum(x[:5], 0, out=x[1:])
    assert torch.cumsum(x, 0, out=x).tolist() == [0.0, 1.0, 3.0, 6.0, 10.0, 15.0]
    added = torch.zeros(3)
    index = torch.tensor([0, 0])
    torch.index_add(added, 0, index, torch.ones(2), out=added)
    assert added.tolist() == [2.0, 0.0, 0.0]
    with pytest.raises(RuntimeError, match="single memory location"):
        torch.index_add(torch.zeros(2), 0, index, added[:2], out=added[1:])


def test_norms_of_complex_numbers_into_real_ones() -> None:
    x = torch.tensor([3j, 4j])
    assert torch.linalg.vector_norm(x, out=torch.empty(0)).item() == 5.0
    assert torch.linalg.norm(x, out=torch.empty(0)).item() == 5.0
    assert torch.norm(x, out=torch.empty(0)).item() == 5.0


def test_whole_steps_of_whole_numbers() -> None:
    assert torch.arange(3.1, dtype=torch.int64).tolist() == [0, 1, 2]
    assert torch.arange(0.5, 3.5, 1, dtype=torch.int64).tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="step must be nonzero"):
        torch.arange(0, 64, 0.5, out=torch.empty(0, dtype=torch.int64))


def test_copy_of_a_number() -> None:
    x = torch.zeros(3)
    assert x.copy_(3.0) is x
    assert x.tolist() == [3.0, 3.0, 3.0]
    assert torch.zeros(2, dtype=torch.int64).copy_(3.7).tolist() == [3, 3]
    assert torch.zeros(2).copy_(True).tolist() == [1.0, 1.0]
    with pytest.raises(RuntimeError, match="leaf"):
        torch.zeros(2, requires_grad=True).copy_(2.0)
    leaf = torch.ones(2, requires_grad=True)
    changed = leaf * 2
    changed[:1].copy_(5.0)
    changed.sum().backward()
    assert leaf.grad is not None
    assert leaf.grad.tolist() == [0.0, 2.0]


def test_copies_of_what_overlaps() -> None:
    x = torch.arange(6.0)
    for call in (lambda: x[1:].copy_(x[:-1]), lambda: x.__setitem__(slice(1, None), x[:-1])):
        with pytest.raises(RuntimeError, match="single memory location"):
            call()
    square = torch.arange(9.0).view(3, 3)
    with pytest.raises(RuntimeError, match="single memory location"):
        square.copy_(square.t())
    x[::2].copy_(x[1::2])  # apart
    assert x.tolist() == [1.0, 1.0, 3.0, 3.0, 5.0, 5.0]


@pytest.mark.parametrize("alias", ["max", "min"])
def test_other_names_of_reductions(alias: str) -> None:
    x, index, src = torch.zeros(3), torch.tensor([0, 1]), torch.tensor([-1.0, 2.0])
    expected = x.scatter_reduce(0, index, src, f"a{alias}")
    assert torch.equal(x.scatter_reduce(0, index, src, alias), expected)
    assert torch.equal(x.clone().scatter_reduce_(0, index, src, reduce=alias), expected)


def test_einsum_of_mixed_types() -> None:
    a, b = torch.ones(3), torch.ones(3, dtype=torch.float64)
    assert torch.einsum("i,i->i", a, b).dtype == torch.float64
    assert torch.einsum("i,j->ij", a, b).dtype == torch.float64
    with pytest.raises(RuntimeError, match="same dtype"):
        torch.einsum("ij,jk->ik", torch.ones(2, 3), torch.ones(3, 2, dtype=torch.float64))


X = torch.arange(4.0)
LAST = torch.tensor([-1])
COUNT_FROM_THE_END: dict[str, Any] = {
    "take": lambda: X.take(LAST),
    "take_along_dim": lambda: X.take_along_dim(LAST, 0),
    "indexing": lambda: X[LAST],
    "put": lambda: X.put(LAST, torch.tensor([9.0]))[3:] - 6,
    "index_fill": lambda: X.index_fill(0, LAST, 3.0)[3:],
}
REFUSE: dict[str, Any] = {
    "index_select": lambda: X.index_select(0, LAST),
    "index_select of a number": lambda: torch.tensor(5.0).index_select(0, LAST),
    "index_copy": lambda: X.index_copy(0, LAST, torch.ones(1)),
    "index_add": lambda: X.index_add(0, LAST, torch.ones(1)),
    "gather": lambda: X.gather(0, LAST),
    "scatter": lambda: X.scatter(0, LAST, 9.0),
    "scatter_add": lambda: X.scatter_add(0, LAST, torch.ones(1)),
    "embedding": lambda: torch.nn.functional.embedding(LAST, torch.ones(3, 2)),
    "index_copy by int32": lambda: X.index_copy(0, torch.tensor([0]).int(), torch.ones(1)),
    "index_fill by int32": lambda: X.index_fill(0, torch.tensor([0]).int(), 9.0),
}


@pytest.mark.parametrize("call", COUNT_FROM_THE_END.values(), ids=COUNT_FROM_THE_END)
def test_positions_from_the_end(call: Any) -> None:
    assert call().tolist() == [3.0]


@pytest.mark.parametrize("call", REFUSE.values(), ids=REFUSE)
def test_refused_positions(call: Any) -> None:
    with pytest.raises((IndexError, RuntimeError), match=r"index|out of (range|bounds)"):
        call()


def test_triangles_of_far_diagonals() -> None:
    ones = torch.ones(3, 3)
    assert torch.triu(ones, 2**63 - 1).sum() == 0
    assert torch.triu(ones, -(2**63)).sum() == 9
    assert torch.tril(ones, 2**63 - 1).sum() == 9
    assert torch.tril(ones, -(2**63)).sum() == 0


@pytest.mark.parametrize(
    "index",
    [0, slice(1), ..., torch.tensor([0, 1]), torch.ones(4, 3) > 0, torch.ones(4) > 0],
    ids=["int", "slice", "ellipsis", "positions", "mask", "mask of rows"],
)
@pytest.mark.parametrize("value", [1.0, torch.tensor(1.0)], ids=["number", "tensor"])
def test_an_assignment_is_one_change(index: Any, value: Any) -> None:
    x = torch.zeros(4, 3)
    x[index] = value
    assert x._version == 1


@pytest.mark.parametrize("indices", [(), (torch.tensor(True),)], ids=["none", "a truth"])
@pytest.mark.parametrize("accumulate", [False, True])
def test_positions_of_no_dimension_are_refused(indices: Any, accumulate: bool) -> None:
    x = torch.zeros(2, 3)
    for put in (x.index_put, x.index_put_):
        with pytest.raises(IndexError, match="expected positions or a mask for some dimension"):
            put(indices, torch.ones(3), accumulate)
    assert x.tolist() == [[0.0] * 3] * 2
