"""Embedding layers as a user meets them."""

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.autograd import gradcheck, gradgradcheck
from flambeau.nn import functional as F


def test_rows_are_picked():
    layer = nn.Embedding(5, 3)
    numbers = torch.tensor([[0, 4], [2, 2]])
    assert torch.equal(layer(numbers), layer.weight.detach()[numbers])
    assert layer(numbers.int()).shape == (2, 2, 3)
    assert layer(torch.empty(0, dtype=torch.long)).shape == (0, 3)


def test_gradients_of_repeated_rows_add_up():
    layer = nn.Embedding(4, 2)
    layer(torch.tensor([1, 3, 1, 1])).sum().backward()
    assert layer.weight.grad.tolist() == [[0, 0], [3, 3], [0, 0], [1, 1]]


@pytest.mark.parametrize(("rows", "width", "count"), [(7, 1, 50), (3000, 33, 500), (5, 500, 900)])
def test_gradients_of_tables_of_any_shape(rows, width, count):
    numbers = torch.randint(0, rows, (count,))
    table = torch.randn(rows, width, requires_grad=True)
    gradient = torch.randn(count, width)
    F.embedding(numbers, table).backward(gradient)
    expected = torch.zeros(rows, width).index_add(0, numbers, gradient)
    torch.testing.assert_close(table.grad, expected, atol=1e-4, rtol=1e-5)


def test_padding_starts_at_zero_and_gets_no_gradient():
    layer = nn.Embedding(4, 2, padding_idx=-1)
    assert layer.padding_idx == 3
    assert layer.weight[3].tolist() == [0, 0]
    layer(torch.tensor([3, 0, 3])).sum().backward()
    assert layer.weight.grad.tolist() == [[1, 1], [0, 0], [0, 0], [0, 0]]


def test_gradients_scaled_by_frequency():
    layer = nn.Embedding(3, 1, scale_grad_by_freq=True)
    (layer(torch.tensor([0, 0, 1])) * torch.tensor([[2.0], [4.0], [5.0]])).sum().backward()
    assert layer.weight.grad.flatten().tolist() == [3, 5, 0]


def test_rows_longer_than_max_norm_are_scaled_in_the_table():
    table = torch.tensor([[3.0, 4.0], [0.3, 0.4], [6.0, 8.0]])
    layer = nn.Embedding.from_pretrained(table, max_norm=1.0)
    y = layer(torch.tensor([0, 1]))
    torch.testing.assert_close(y, torch.tensor([[0.6, 0.8], [0.3, 0.4]]))
    torch.testing.assert_close(layer.weight.detach()[2], torch.tensor([6.0, 8.0]))


def test_pretrained_tables_are_frozen_unless_asked():
    table = torch.randn(4, 2)
    assert not nn.Embedding.from_pretrained(table).weight.requires_grad
    assert nn.Embedding.from_pretrained(table, freeze=False).weight.requires_grad
    assert not nn.EmbeddingBag.from_pretrained(table).weight.requires_grad
    assert nn.Embedding.from_pretrained(table)(torch.tensor([1])).tolist() == [table[1].tolist()]


def test_embedding_has_two_derivatives():
    numbers = torch.tensor([[0, 2], [2, 3]])
    table = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
    for options in ({}, {"padding_idx": 2}, {"scale_grad_by_freq": True}):

        def run(table, options=options):
            return F.embedding(numbers, table, **options) ** 2

        if options:  # the gradient is another one by intent
            y = run(table)
            (grad,) = torch.autograd.grad(y.sum(), table, create_graph=True)
            grad.square().sum().backward()
        else:
            assert gradcheck(run, (table,))
            assert gradgradcheck(run, (table,))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_bags_have_two_derivatives(mode):
    numbers, offsets = torch.tensor([0, 2, 2, 3, 1]), torch.tensor([0, 2, 2, 4])
    table = torch.randn(4, 3, dtype=torch.double, requires_grad=True)

    def run(table):
        return F.embedding_bag(numbers, table, offsets, mode=mode) ** 2

    assert gradcheck(run, (table,))
    assert gradgradcheck(run, (table,))


def test_bags_with_weights_have_two_derivatives():
    numbers = torch.tensor([[0, 2], [2, 3]])
    table = torch.randn(4, 3, dtype=torch.double, requires_grad=True)
    weights = torch.randn(2, 2, dtype=torch.double, requires_grad=True)

    def run(table, weights):
        return F.embedding_bag(numbers, table, mode="sum", per_sample_weights=weights)

    assert gradcheck(run, (table, weights))
    assert gradgradcheck(run, (table, weights))


def test_bags_are_means_sums_and_maxima_of_rows():
    table = torch.randn(6, 4)
    numbers = torch.tensor([[0, 1, 5], [2, 2, 3]])
    rows = table[numbers]
    for mode, expected in (("mean", rows.mean(1)), ("sum", rows.sum(1)), ("max", rows.amax(1))):
        torch.testing.assert_close(F.embedding_bag(numbers, table, mode=mode), expected)


def test_gradients_of_bags_scaled_by_frequency():
    layer = nn.EmbeddingBag(3, 1, mode="sum", scale_grad_by_freq=True)
    layer(torch.tensor([[0, 0], [0, 1]])).sum().backward()
    torch.testing.assert_close(layer.weight.grad.flatten(), torch.tensor([1.0, 1.0, 0.0]))


def test_empty_bags_are_zero():
    table = torch.randn(6, 4)
    y = nn.EmbeddingBag.from_pretrained(table, mode="sum")(
        torch.tensor([1, 2]), torch.tensor([0, 0, 2])
    )
    torch.testing.assert_close(
        y, torch.stack([torch.zeros(4), table[1] + table[2], torch.zeros(4)])
    )


def test_padding_is_left_out_of_bags():
    table = torch.randn(6, 4)
    y = F.embedding_bag(torch.tensor([[1, 3, 3]]), table, padding_idx=3)
    torch.testing.assert_close(y, table[1:2])


@pytest.mark.parametrize("number", [5, -1, 2**40])
def test_a_number_without_a_row_is_named(number):
    with pytest.raises(IndexError, match=rf"got {number} for a table of 5 rows"):
        nn.Embedding(5, 2)(torch.tensor([1, number]))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.Embedding(4, 2, padding_idx=4), AssertionError, "padding_idx"),
        (lambda: nn.Embedding.from_pretrained(torch.randn(3)), AssertionError, r"\(3,\)"),
        (lambda: nn.Embedding(3, 2, _weight=torch.randn(3, 3)), AssertionError, r"\(3, 2\)"),
        (lambda: nn.Embedding(3, 2)(torch.randn(2)), RuntimeError, "int64 or int32, got"),
        (lambda: nn.EmbeddingBag(3, 2)(torch.tensor([1])), ValueError, "offsets"),
        (lambda: nn.EmbeddingBag(3, 2, mode="x")(torch.tensor([[1]])), ValueError, "'x'"),
        (lambda: nn.EmbeddingBag(3, 2)(torch.tensor([[3]])), RuntimeError, "table of 3 rows"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, [10, 5]), ValueError, "cutoffs"),
        (lambda: nn.AdaptiveLogSoftmaxWithLoss(8, 20, []), ValueError, "cutoffs"),
    ],
)
def test_refusals_say_what_was_expected(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_adaptive_log_softmax_agrees_with_all_its_probabilities():
    torch.manual_seed(0)
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10], div_value=2.0)
    x, target = torch.randn(9, 16), torch.randint(0, 20, (9,))
    everything = layer.log_prob(x)
    torch.testing.assert_close(everything.exp().sum(1), torch.ones(9))
    output, loss = layer(x, target)
    torch.testing.assert_close(output, everything.gather(1, target.unsqueeze(1)).squeeze(1))
    torch.testing.assert_close(loss, -output.mean())
    assert torch.equal(layer.predict(x), everything.argmax(1))
    single = layer(x[0], target[0])
    torch.testing.assert_close(single.output, output[0])


def test_adaptive_log_softmax_refuses_classes_it_does_not_have():
    layer = nn.AdaptiveLogSoftmaxWithLoss(16, 20, [4, 10])
    with pytest.raises(RuntimeError, match=r"in \[0, 19\], but values in range \[1, 20\]"):
        layer(torch.randn(2, 16), torch.tensor([1, 20]))
