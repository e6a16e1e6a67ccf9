"""Recurrent networks as programs use them."""

import copy
import math
import pickle

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn.utils.rnn import pack_sequence

NETWORKS = ("RNN", "LSTM", "GRU")


def states_of(result):
    """The states among what a network returns, as a tuple."""
    return result[1] if isinstance(result[1], tuple) else (result[1],)


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def test_names_and_order_of_parameters():
    module = nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2)
    names = [name for name, _ in module.named_parameters()]
    parts = ("weight_ih", "weight_hh", "bias_ih", "bias_hh", "weight_hr")
    expected = [
        f"{part}_l{layer}{suffix}"
        for layer in (0, 1)
        for suffix in ("", "_reverse")
        for part in parts
    ]
    assert names == expected
    assert [len(direction) for direction in module.all_weights] == [5] * 4
    assert module.weight_ih_l1.shape == (16, 4)
    assert module.weight_hr_l0_reverse.shape == (2, 4)


def test_initial_values_lie_within_the_bound():
    module = nn.GRU(3, 16)
    bound = 1 / math.sqrt(16)
    for weight in module.parameters():
        assert -bound <= weight.min().item() < weight.max().item() <= bound


@pytest.mark.parametrize(
    ("module", "text"),
    [
        (lambda: nn.LSTM(3, 4), "LSTM(3, 4)"),
        (lambda: nn.GRU(3, 4, 1, True, True), "GRU(3, 4, batch_first=True)"),
        (
            lambda: nn.LSTM(3, 4, 2, False, True, 0.1, True, 2),
            (
                "LSTM(3, 4, proj_size=2, num_layers=2, bias=False, batch_first=True, dropout=0.1, "
                "bidirectional=True)"
            ),
        ),
        (lambda: nn.RNN(3, 4, 2, "relu"), "RNN(3, 4, num_layers=2)"),
        (lambda: nn.RNNCell(3, 4, False, "relu"), "RNNCell(3, 4, bias=False, nonlinearity=relu)"),
        (lambda: nn.LSTMCell(3, 4), "LSTMCell(3, 4)"),
    ],
)
def test_repr(module, text):
    assert repr(module()) == text


@pytest.mark.parametrize("kind", NETWORKS)
def test_batch_first_is_the_transpose(kind):
    module = getattr(nn, kind)(3, 4, 2, bidirectional=True)
    turned = getattr(nn, kind)(3, 4, 2, bidirectional=True, batch_first=True)
    turned.load_state_dict(module.state_dict())
    x = torch.randn(5, 2, 3)
    output, states = module(x)
    output_turned, states_turned = turned(x.transpose(0, 1))
    torch.testing.assert_close(output_turned.transpose(0, 1), output)
    torch.testing.assert_close(states_turned, states)


@pytest.mark.parametrize("kind", NETWORKS)
def test_a_single_sequence(kind):
    module = getattr(nn, kind)(3, 4)
    x = torch.randn(5, 3)
    output, _ = module(x)
    batched, _ = module(x.unsqueeze(1))
    assert output.shape == (5, 4)
    torch.testing.assert_close(output, batched.squeeze(1))
    for state in states_of(module(x)):
        assert state.shape == (1, 4)


@pytest.mark.parametrize("kind", NETWORKS)
def test_networks_agree_with_their_cells(kind):
    module = getattr(nn, kind)(3, 4)
    cell = getattr(nn, f"{kind}Cell")(3, 4)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(cell, name).data = getattr(module, f"{name}_l0").data
    x = torch.randn(6, 2, 3)
    output, _ = module(x)
    state = None
    for step, expected in zip(x, output, strict=True):
        state = cell(step, state)
        torch.testing.assert_close(state[0] if kind == "LSTM" else state, expected)


@pytest.mark.parametrize("kind", NETWORKS)
def test_the_state_carries_on(kind):
    module = getattr(nn, kind)(3, 4, 2)
    x = torch.randn(7, 2, 3)
    whole, last = module(x)
    first, state = module(x[:3])
    second, carried = module(x[3:], state)
    torch.testing.assert_close(torch.cat([first, second]), whole)
    torch.testing.assert_close(carried, last)


@pytest.mark.parametrize("kind", NETWORKS)
def test_reverse_direction_reads_backwards(kind):
    both = getattr(nn, kind)(3, 4, bidirectional=True)
    one = getattr(nn, kind)(3, 4)
    for name, _ in one.named_parameters():
        getattr(one, name).data = getattr(both, f"{name}_reverse").data
    x = torch.randn(5, 2, 3)
    output, _ = both(x)
    backwards, _ = one(x.flip(0))
    torch.testing.assert_close(output[..., 4:], backwards.flip(0))


@pytest.mark.parametrize("kind", NETWORKS)
def test_copies_and_state_dicts(kind):
    module = getattr(nn, kind)(3, 4, 2)
    x = torch.randn(5, 2, 3)
    expected, _ = module(x)
    copied = copy.deepcopy(module)
    assert copied.weight_ih_l0 is not module.weight_ih_l0
    torch.testing.assert_close(copied(x)[0], expected)
    torch.testing.assert_close(pickle.loads(pickle.dumps(module))(x)[0], expected)
    other = getattr(nn, kind)(3, 4, 2)
    other.load_state_dict(module.state_dict())
    torch.testing.assert_close(other(x)[0], expected)


def test_a_weight_that_is_computed_from_others():
    module = nn.utils.parametrizations.weight_norm(nn.GRU(3, 4), "weight_hh_l0")
    module(torch.randn(5, 2, 3))[0].sum().backward()
    originals = module.parametrizations.weight_hh_l0
    assert originals.original0.grad is not None
    assert originals.original1.grad is not None


def test_a_parameter_may_be_replaced():
    module = nn.GRU(3, 4)
    module.weight_hh_l0 = nn.Parameter(torch.zeros(12, 4))
    assert module.all_weights[0][1] is module.weight_hh_l0
    module(torch.randn(5, 2, 3))[0].sum().backward()
    assert module.weight_hh_l0.grad is not None


def test_dropout_between_layers_only_in_training():
    module = nn.LSTM(3, 4, 2, dropout=0.5)
    x = torch.randn(5, 2, 3)
    assert not torch.equal(module(x)[0], module(x)[0])
    module.eval()
    assert torch.equal(module(x)[0], module(x)[0])


def test_dropout_of_one_layer_warns():
    with pytest.warns(UserWarning, match="num_layers greater than 1"):
        nn.LSTM(3, 4, dropout=0.5)


@pytest.mark.parametrize("kind", NETWORKS)
def test_double_and_half_precision(kind):
    module = getattr(nn, kind)(3, 4).double()
    x = torch.randn(5, 2, 3, dtype=torch.float64, requires_grad=True)
    output, _ = module(x)
    assert output.dtype == torch.float64
    rough, _ = module.bfloat16()(x.bfloat16())
    assert rough.dtype == torch.bfloat16
    # Inputs and weights are rounded too, by as much as 2^-9.
    torch.testing.assert_close(rough.double(), output, rtol=2e-2, atol=2e-2)
    rough.sum().backward()
    assert x.grad.dtype == torch.float64
    assert module.weight_ih_l0.grad.dtype == torch.bfloat16


@pytest.mark.parametrize("kind", NETWORKS)
def test_nothing_is_kept_without_gradients(kind):
    module = getattr(nn, kind)(3, 4)
    x = torch.randn(5, 2, 3)
    expected, _ = module(x)
    with torch.no_grad():
        output, _ = module(x)
    assert output.grad_fn is None
    assert torch.equal(output, expected)


@pytest.mark.parametrize("kind", NETWORKS)
def test_frozen_weights_pass_gradients_to_the_input(kind):
    module = getattr(nn, kind)(3, 4).requires_grad_(False)
    x = torch.randn(5, 2, 3, requires_grad=True)
    module(x)[0].sum().backward()
    assert x.grad.shape == x.shape
    assert module.weight_ih_l0.grad is None


def test_gradient_penalty():
    module = nn.LSTM(3, 4, 2, bidirectional=True, proj_size=2).double()
    x = torch.randn(4, 2, 3, dtype=torch.float64, requires_grad=True)
    (grad,) = torch.autograd.grad(module(x)[0].sum(), x, create_graph=True)
    grad.square().sum().backward()
    eps = 1e-6
    with torch.no_grad():
        direction = torch.randn_like(x)

    def penalty(at):
        at = at.detach().requires_grad_()
        (g,) = torch.autograd.grad(module(at)[0].sum(), at)
        return g.square().sum().item()

    slope = (penalty(x + eps * direction) - penalty(x - eps * direction)) / (2 * eps)
    assert (x.grad * direction).sum().item() == pytest.approx(slope, rel=1e-5)


@pytest.mark.parametrize("kind", NETWORKS)
def test_gradients_per_sample(kind):
    module = getattr(nn, kind)(3, 4).double()
    parameters = dict(module.named_parameters())
    batch = torch.randn(3, 5, 2, 3, dtype=torch.float64)

    def loss(parameters, x):
        return torch.func.functional_call(module, parameters, (x,))[0].square().sum()

    gradient = torch.func.grad(loss)
    together = torch.func.vmap(gradient, in_dims=(None, 0))(parameters, batch)
    for i, x in enumerate(batch):
        for name, alone in gradient(parameters, x).items():
            torch.testing.assert_close(together[name][i], alone)


@pytest.mark.parametrize("kind", NETWORKS)
def test_tangents(kind):
    module = getattr(nn, kind)(3, 4, bidirectional=True).double()
    x, direction = torch.randn(2, 5, 2, 3, dtype=torch.float64)
    _, tangent = torch.func.jvp(lambda x: module(x)[0], (x,), (direction,))
    eps = 1e-6
    slope = (module(x + eps * direction)[0] - module(x - eps * direction)[0]) / (2 * eps)
    torch.testing.assert_close(tangent, slope, rtol=1e-6, atol=1e-8)


# One sequence or two take matrices in another order than many; units fill panels of it, or do not.
@pytest.mark.parametrize("few", [1, 2])
@pytest.mark.parametrize("hidden", [4, 40, 130])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("projected", [False, True])
def test_few_sequences_agree_with_many(few, hidden, dtype, projected):
    kinds = ("LSTM",) if projected else NETWORKS
    options = {"proj_size": hidden // 2} if projected else {}
    for kind in kinds:
        module = getattr(nn, kind)(6, hidden, dtype=dtype, **options)
        x = torch.randn(7, 5, 6, dtype=dtype, requires_grad=True)
        own = x[:, :few].detach().requires_grad_()
        together, alone = module(x)[0][:, :few], module(own)[0]
        torch.testing.assert_close(alone, together)
        weights = (module.weight_hh_l0,)
        gradients = torch.autograd.grad(alone.sum(), (own, *weights))
        expected = torch.autograd.grad(together.sum(), (x, *weights))
        torch.testing.assert_close(gradients[0], expected[0][:, :few])
        torch.testing.assert_close(gradients[1], expected[1])


def test_empty_batches():
    module = nn.LSTM(3, 4)
    x = torch.randn(5, 0, 3, requires_grad=True)
    output, (h, c) = module(x)
    assert output.shape == (5, 0, 4)
    assert h.shape == c.shape == (1, 0, 4)
    output.sum().backward()
    assert module.weight_ih_l0.grad.abs().sum().item() == 0
    assert nn.LSTMCell(3, 4)(torch.randn(0, 3))[0].shape == (0, 4)


def packed(lengths, features):
    sequences = [torch.randn(length, features) for length in lengths]
    return nn.utils.rnn.pack_sequence(sequences, enforce_sorted=False)


# Threads share the sequences of some and the hidden units of others: where a matrix is large.
@pytest.mark.usefixtures("restored_threads")
@pytest.mark.parametrize(
    ("make", "batch"),
    [
        (lambda: nn.LSTM(16, 32, bidirectional=True), lambda: torch.randn(20, 24, 16)),
        (lambda: nn.LSTM(16, 520), lambda: torch.randn(6, 3, 16)),
        (lambda: nn.LSTM(16, 520, bidirectional=True), lambda: packed([2, 7, 1, 4], 16)),
        (lambda: nn.GRU(16, 600), lambda: packed([3, 1, 6], 16)),
        (lambda: nn.RNN(16, 1040), lambda: torch.randn(5, 2, 16)),
        (lambda: nn.LSTM(16, 520, proj_size=130), lambda: torch.randn(5, 2, 16)),
    ],
)
def test_number_of_threads_does_not_matter(make, batch):
    module, x = make(), batch()
    results = []
    for count in (1, 2, 3, 8):
        torch.set_num_threads(count)
        module.zero_grad()
        output, state = module(x)
        output = output if isinstance(output, torch.Tensor) else output.data
        states = state if isinstance(state, tuple) else (state,)
        (output.sum() + sum((s * s).sum() for s in states)).backward()
        results.append([output, *states, *(p.grad.clone() for p in module.parameters())])
        with torch.no_grad():
            again, _ = module(x)
        again = again if isinstance(again, torch.Tensor) else again.data
        torch.testing.assert_close(again, output, rtol=1e-5, atol=1e-6)
    for other in results[1:]:
        for one, two in zip(results[0], other, strict=True):
            assert torch.equal(one, two)


MISTAKES = [
    (lambda: nn.LSTM(3, 4)(torch.ones(5, 2, 4)), RuntimeError, "Expected 3, got 4"),
    (lambda: nn.LSTM(3, 4)(torch.ones(5, 2, 4, 3)), ValueError, "2D or 3D, got 4D"),
    (lambda: nn.GRU(3, 4)(torch.ones(3)), ValueError, "GRU: Expected input to be 2D or 3D"),
    (
        lambda: nn.GRU(3, 4)(torch.ones(5, 2, 3), torch.ones(2, 2, 4)),
        RuntimeError,
        r"Expected hidden size \(1, 2, 4\), got \[2, 2, 4\]",
    ),
    (
        lambda: nn.LSTM(3, 4)(torch.ones(5, 2, 3), (torch.ones(1, 2, 4), torch.ones(1, 3, 4))),
        RuntimeError,
        r"Expected hidden\[1\] size \(1, 2, 4\), got \[1, 3, 4\]",
    ),
    (
        lambda: nn.RNN(3, 4)(torch.ones(5, 3), torch.ones(1, 2, 4)),
        RuntimeError,
        "For unbatched 2-D input, hx should also be 2-D but got 3-D",
    ),
    (lambda: nn.LSTM(3, 4)(torch.ones(5, 2, 3).double()), ValueError, "does not match weight"),
    (lambda: nn.LSTM(3, 4)(torch.ones(0, 2, 3)), RuntimeError, "larger than 0"),
    (lambda: nn.LSTM(3, 4, dropout=2), ValueError, "dropout should be a number in range"),
    (lambda: nn.LSTM(3, 4, proj_size=4), ValueError, "proj_size has to be smaller"),
    (lambda: nn.GRU(3, 4, proj_size=2), ValueError, "only supported for LSTM"),
    (lambda: nn.RNN(3, 4, nonlinearity="sin"), ValueError, "Unknown nonlinearity 'sin'"),
    (lambda: nn.LSTM(3, 4.0), TypeError, "hidden_size should be of type int, got: float"),
    (lambda: nn.LSTM(3, 0), ValueError, "hidden_size must be greater than zero"),
    (lambda: nn.RNNBase("X", 3, 4), ValueError, "Unrecognized RNN mode: X"),
    (lambda: nn.LSTMCell(3, 4)(torch.ones(2, 5)), RuntimeError, "5 features"),
    (lambda: nn.LSTMCell(3, 4)(torch.ones(1, 2, 3)), ValueError, "1D or 2D, got 3D"),
    (
        lambda: nn.GRUCell(3, 4)(torch.ones(2, 3), torch.ones(3, 4)),
        RuntimeError,
        "batch size 2",
    ),
    (lambda: nn.RNNCell(3, 4, nonlinearity="x")(torch.ones(2, 3)), RuntimeError, "Unknown"),
    (
        lambda: nn.LSTM(3, 4)(pack_sequence([torch.ones(2, 5)])),
        RuntimeError,
        "Expected 3, got 5",
    ),
]


@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_mistakes(mistake, error, text):
    with pytest.raises(error, match=text):
        mistake()
