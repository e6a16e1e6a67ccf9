"""``Module.summary``: what a table of a network says, and that asking for it changes nothing."""

import pytest

import flambeau as fb
from flambeau import nn


class Shared(nn.Module):
    """Calls one layer twice and another never."""

    def __init__(self) -> None:
        super().__init__()
        self.used = nn.Linear(4, 4)
        self.unused = nn.Linear(4, 9)

    def forward(self, x: fb.Tensor) -> fb.Tensor:
        return self.used(self.used(x))


def layer(summary, name):
    (found,) = [each for each in summary.layers if each.name == name]
    return found


def test_digits_network() -> None:
    net = nn.Sequential(
        nn.Conv2d(1, 6, 5), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(864, 10)
    )
    summary = net.summary(fb.zeros(4, 1, 28, 28))
    assert [each.output_shapes[0] for each in summary.layers] == [
        (4, 10),
        (4, 6, 24, 24),
        (4, 6, 24, 24),
        (4, 6, 12, 12),
        (4, 864),
        (4, 10),
    ]
    assert summary.total_parameters == summary.trainable_parameters == 156 + 8650
    assert summary.parameter_bytes == 4 * (156 + 8650)
    assert layer(summary, "0").multiply_adds == 4 * 6 * 24 * 24 * 25
    assert layer(summary, "4").multiply_adds == 4 * 864 * 10
    # The activation is in place and the flattened one a view: neither takes memory of its own.
    assert summary.activation_bytes == 4 * (4 * 6 * 24 * 24 + 4 * 6 * 12 * 12 + 4 * 10)
    assert "4×6×12×12" in repr(summary)
    assert "8,806 (35.2 kB)" in repr(summary)


@pytest.mark.parametrize(
    ("module", "shapes", "expected"),
    [
        (nn.Conv1d(4, 6, 3, groups=2), [(2, 4, 10)], 2 * 6 * 8 * 2 * 3),
        (nn.ConvTranspose2d(4, 6, 3), [(2, 4, 5, 5)], 2 * 4 * 25 * 6 * 9),
        (nn.Bilinear(3, 4, 5), [(2, 3), (2, 4)], 2 * 5 * (3 * 4 + 4)),
        (nn.LSTM(3, 4), [(7, 2, 3)], 14 * (16 * 3 + 16 * 4)),
        (nn.GRUCell(3, 4), [(2, 3)], 2 * (12 * 3 + 12 * 4)),
        (nn.MultiheadAttention(8, 2), [(5, 2, 8)] * 3, 4 * 10 * 64 + 2 * 10 * 5 * 8),
        (nn.BatchNorm2d(3), [(2, 3, 4, 4)], 0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_multiply_adds(module, shapes, expected) -> None:
    assert module.summary(*(fb.zeros(shape) for shape in shapes)).multiply_adds == expected


def test_packed_sequences_count_their_steps() -> None:
    packed = nn.utils.rnn.pack_sequence([fb.zeros(5, 3), fb.zeros(2, 3)])
    assert nn.RNN(3, 4).summary(packed).multiply_adds == 7 * (12 + 16)


def test_calls_and_shared_parameters() -> None:
    net = Shared()
    net.unused.bias.requires_grad_(False)
    summary = net.summary(fb.zeros(2, 4))
    assert layer(summary, "used").calls == 2
    assert layer(summary, "used").multiply_adds == 2 * 2 * 4 * 4
    assert layer(summary, "unused").calls == 0
    assert summary.total_parameters == 20 + 45
    assert summary.trainable_parameters == 20 + 36
    text = repr(summary)
    assert "(2 calls)" in text
    assert "(not called)" in text
    assert "9 of them frozen" in text
    tied = nn.Sequential(net.used, nn.Sequential(net.used))
    assert tied.summary(fb.zeros(2, 4)).total_parameters == 20
    assert "(see above)" in repr(tied.summary(fb.zeros(2, 4)))


def test_without_arguments_lists_parameters_only() -> None:
    text = repr(Shared().summary())
    assert "65" in text
    assert "Multiply-adds" not in text


def test_asking_changes_nothing() -> None:
    net = nn.Sequential(nn.BatchNorm1d(3), nn.Dropout(), Shared())[:2]
    net[1].eval()
    fb.manual_seed(1)
    expected = fb.rand(1)
    fb.manual_seed(1)
    before = {name: value.clone() for name, value in net.state_dict().items()}
    net.summary(fb.randn(4, 3, generator=fb.Generator()))
    assert fb.rand(1) == expected
    assert [each.training for each in net] == [True, False]
    assert all(fb.equal(value, before[name]) for name, value in net.state_dict().items())
    assert not net._forward_hooks
    assert not net[0]._forward_hooks


def test_an_error_of_the_network_is_the_callers_and_leaves_no_hooks() -> None:
    net = nn.Sequential(nn.Linear(3, 4))
    with pytest.raises(RuntimeError, match="linear"):
        net.summary(fb.zeros(2, 5))
    assert not net[0]._forward_hooks
    assert net.training
