"""Networks whose shape is that of their data: variable lengths, trees, shared weights."""

import pytest

import flambeau as torch
from flambeau import nn


@pytest.fixture(autouse=True)
def _seed():
    torch.manual_seed(0)


def train(model, loss, steps, rate):
    """Plain gradient descent; returns the first and the last loss."""
    losses = []
    for _ in range(steps):
        model.zero_grad()
        value = loss()
        value.backward()
        losses.append(value.item())
        with torch.no_grad():
            for parameter in model.parameters():
                parameter -= rate * parameter.grad
    return losses[0], losses[-1]


class Counter(nn.Module):
    """Reads a sequence step by step, as long as it is, and says how many ones it had."""

    def __init__(self):
        super().__init__()
        self.cell = nn.LSTMCell(1, 16)
        self.out = nn.Linear(16, 1)

    def forward(self, sequence):
        state = None
        for x in sequence:
            state = self.cell(x, state)
        return self.out(state[0]).squeeze(-1)


def test_cells_over_sequences_of_any_length_and_batch():
    model = Counter()
    batches = []
    for length, batch in ((3, 5), (7, 2), (1, 4), (5, 3)):
        batches.append(torch.randint(0, 2, (length, batch, 1)).float())

    def loss():
        total = 0.0
        for x in batches:
            total = total + (model(x) - x.sum((0, 2))).square().mean()
        return total / len(batches)

    first, last = train(model, loss, 150, 0.02)
    assert last < first / 5


def test_samples_leave_the_batch_when_they_end():
    """Shrinking the batch by hand is the same as a packed sequence."""
    cell = nn.GRUCell(2, 3)
    network = nn.GRU(2, 3)
    for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
        getattr(network, f"{name}_l0").data = getattr(cell, name).data
    sequences = [torch.randn(n, 2) for n in (5, 3, 1)]
    packed = nn.utils.rnn.pack_sequence(sequences)
    _, last = network(packed)
    last.square().sum().backward()

    state, ended = torch.zeros(3, 3), []
    for step in range(5):
        inputs = torch.stack([s[step] for s in sequences if len(s) > step])
        ended[:0] = state[len(inputs) :].unbind(0)
        state = cell(inputs, state[: len(inputs)])
    by_hand = torch.stack([*state.unbind(0), *ended])
    torch.testing.assert_close(by_hand, last[0])
    by_hand.square().sum().backward()
    torch.testing.assert_close(cell.weight_hh.grad, network.weight_hh_l0.grad)
    torch.testing.assert_close(cell.bias_ih.grad, network.bias_ih_l0.grad)


class TreeLSTM(nn.Module):
    """A binary tree LSTM over nested tuples; leaves are numbers of words."""

    def __init__(self, words, size):
        super().__init__()
        self.size = size
        self.embedding = nn.Parameter(torch.randn(words, size) * 0.1)
        self.leaf = nn.Linear(size, 3 * size)
        self.join = nn.Linear(2 * size, 5 * size)
        self.out = nn.Linear(size, 1)

    def state(self, tree):
        if isinstance(tree, int):
            i, o, u = self.leaf(self.embedding[tree]).chunk(3)
            c = i.sigmoid() * u.tanh()
            return o.sigmoid() * c.tanh(), c
        (left, left_c), (right, right_c) = (self.state(child) for child in tree)
        i, f, g, o, u = self.join(torch.cat([left, right])).chunk(5)
        c = i.sigmoid() * u.tanh() + f.sigmoid() * left_c + g.sigmoid() * right_c
        return o.sigmoid() * c.tanh(), c

    def forward(self, tree):
        return self.out(self.state(tree)[0]).squeeze()


TREES = [
    ((0, 1), 1.0),
    ((1, 0), 1.0),
    (((0, 0), 2), -1.0),
    ((2, ((1, 0), 1)), 0.0),
    ((((2, 2), 2), (0, (1, 1))), 0.5),
    (0, 2.0),
]


def test_a_recursive_network_learns_its_trees():
    model = TreeLSTM(3, 8)

    def loss():
        errors = [(model(tree) - target).square() for tree, target in TREES]
        return torch.stack(errors).mean()

    first, last = train(model, loss, 200, 0.3)
    assert last < first / 20


def test_gradients_of_a_recursive_network():
    model = TreeLSTM(3, 4).double()
    tree = ((0, 1), ((2, 1), 0))
    model(tree).backward()
    weight, eps = model.join.weight, 1e-6
    for at in ((0, 0), (7, 3), (19, 7)):
        values = []
        with torch.no_grad():
            for sign in (1, -1):
                weight[at] += sign * eps
                values.append(model(tree).item())
                weight[at] -= sign * eps
        slope = (values[0] - values[1]) / (2 * eps)
        assert weight.grad[at].item() == pytest.approx(slope, rel=1e-5, abs=1e-10)


def test_deep_recursion_runs_backwards_without_it():
    model = TreeLSTM(2, 2)
    tree = 0
    for i in range(200):
        tree = (tree, i % 2)
    model(tree).backward()
    assert model.join.weight.grad.isfinite().all()


def test_one_weight_in_two_places():
    """A tied weight gets the sum of both gradients, and is one parameter."""
    encoder, decoder = nn.Linear(6, 4, bias=False), nn.Linear(4, 6, bias=False)
    decoder.weight = nn.Parameter(encoder.weight.detach().t().contiguous())
    x = torch.randn(5, 6)
    decoder(encoder(x)).square().sum().backward()
    apart = encoder.weight.grad + decoder.weight.grad.t()

    tied = nn.Linear(6, 4, bias=False)
    tied.weight.data = encoder.weight.data
    (nn.functional.linear(tied(x), tied.weight.t())).square().sum().backward()
    torch.testing.assert_close(tied.weight.grad, apart)


def test_a_layer_used_many_times():
    layer = nn.Linear(3, 3)
    model = nn.Sequential(layer, nn.Tanh(), layer, nn.Tanh(), layer)
    assert len(list(model.parameters())) == 2
    x = torch.randn(2, 3)
    model(x).sum().backward()
    shared = layer.weight.grad.clone()

    copies = [nn.Linear(3, 3) for _ in range(3)]
    for copy in copies:
        copy.load_state_dict(layer.state_dict())
    apart = nn.Sequential(copies[0], nn.Tanh(), copies[1], nn.Tanh(), copies[2])
    apart(x).sum().backward()
    torch.testing.assert_close(shared, sum(copy.weight.grad for copy in copies))


def test_layers_of_a_stack_may_share_their_weights():
    network = nn.LSTM(4, 4, 2)
    network.weight_ih_l1 = network.weight_ih_l0
    network.weight_hh_l1 = network.weight_hh_l0
    assert len(list(network.parameters())) == 6
    network(torch.randn(3, 2, 4))[0].sum().backward()
    assert network.weight_ih_l0.grad.abs().sum().item() > 0


def test_depth_decided_by_the_data():
    """The number of times a layer is applied is a random number, drawn anew for each sample."""
    layer = nn.Linear(4, 4)
    for depth in torch.randint(0, 5, (8,)).tolist():
        layer.zero_grad()
        x = torch.randn(1, 4, requires_grad=True)
        y = x
        for _ in range(depth):
            y = layer(y).tanh()
        y.sum().backward()
        assert (layer.weight.grad is None) == (depth == 0)
        assert x.grad.shape == x.shape
