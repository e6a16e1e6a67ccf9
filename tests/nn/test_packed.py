"""Packed and padded sequences."""

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.nn.utils.rnn import (
    PackedSequence,
    invert_permutation,
    pack_padded_sequence,
    pack_sequence,
    pad_packed_sequence,
    pad_sequence,
    unpack_sequence,
    unpad_sequence,
)

LENGTHS = [2, 5, 3]


def ragged(*features):
    """Sequences of different lengths, in no order."""
    torch.manual_seed(0)
    return [torch.randn(length, *features) for length in LENGTHS]


def test_packing_goes_step_by_step():
    x = torch.arange(8.0).view(4, 2)
    packed = pack_padded_sequence(x, [4, 2])
    assert packed.data.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 6.0]
    assert packed.batch_sizes.tolist() == [2, 2, 1, 1]
    assert packed.sorted_indices is None
    assert packed.unsorted_indices is None


def test_fields_and_equality_of_a_tuple():
    packed = pack_sequence(ragged(2), enforce_sorted=False)
    data, batch_sizes, sorted_indices, unsorted_indices = packed
    assert packed._fields == ("data", "batch_sizes", "sorted_indices", "unsorted_indices")
    assert data is packed.data
    assert batch_sizes.tolist() == [3, 3, 2, 1, 1]
    assert sorted_indices.tolist() == [1, 2, 0]
    assert unsorted_indices.tolist() == [2, 0, 1]
    assert repr(packed).startswith("PackedSequence(data=tensor(")


@pytest.mark.parametrize("batch_first", [False, True])
def test_there_and_back(batch_first):
    sequences = ragged(2)
    padded = pad_sequence(sequences, batch_first=batch_first, padding_value=9.0)
    assert padded.shape == ((3, 5, 2) if batch_first else (5, 3, 2))
    packed = pack_padded_sequence(
        padded, torch.tensor(LENGTHS), batch_first=batch_first, enforce_sorted=False
    )
    again, lengths = pad_packed_sequence(packed, batch_first=batch_first, padding_value=9.0)
    assert torch.equal(again, padded)
    assert lengths.tolist() == LENGTHS
    for mine, given in zip(unpack_sequence(packed), sequences, strict=True):
        assert torch.equal(mine, given)
    for mine, given in zip(unpad_sequence(padded, lengths, batch_first), sequences, strict=True):
        assert torch.equal(mine, given)


def test_padding_on_the_left():
    padded = pad_sequence([torch.ones(1), torch.ones(3)], True, -1.0, padding_side="left")
    assert padded.tolist() == [[-1.0, -1.0, 1.0], [1.0, 1.0, 1.0]]


def test_total_length():
    packed = pack_sequence(ragged(2), enforce_sorted=False)
    padded, lengths = pad_packed_sequence(packed, total_length=7)
    assert padded.shape == (7, 3, 2)
    assert padded[5:].abs().sum().item() == 0
    assert lengths.tolist() == LENGTHS


def test_gradients_pass_through():
    sequences = [s.double().requires_grad_() for s in ragged(2)]

    def round_trip(*sequences):
        packed = pack_sequence(sequences, enforce_sorted=False)
        return pad_packed_sequence(packed._replace(data=packed.data.tanh()))[0]

    assert torch.autograd.gradcheck(round_trip, sequences)
    assert torch.autograd.gradgradcheck(round_trip, sequences)


def test_integer_sequences():
    padded = pad_sequence([torch.tensor([1, 2]), torch.tensor([3])])
    assert padded.dtype == torch.int64
    assert padded.tolist() == [[1, 3], [2, 0]]


def test_conversions():
    packed = pack_sequence(ragged(2), enforce_sorted=False)
    assert packed.to("cpu") is packed
    assert packed.cpu() is packed
    assert not packed.is_cuda
    for name, dtype in (
        ("double", torch.float64),
        ("half", torch.float16),
        ("long", torch.int64),
        ("int", torch.int32),
        ("short", torch.int16),
        ("char", torch.int8),
        ("byte", torch.uint8),
    ):
        converted = getattr(packed, name)()
        assert isinstance(converted, PackedSequence)
        assert converted.data.dtype == dtype
        assert converted.sorted_indices.tolist() == [1, 2, 0]
    assert packed.float() is packed


def test_made_by_hand():
    data, sizes = torch.ones(3), torch.tensor([2, 1])
    assert PackedSequence((data, sizes)).batch_sizes is sizes
    assert PackedSequence(data, sizes, torch.tensor([1, 0])).unsorted_indices.tolist() == [1, 0]
    with pytest.raises(AssertionError, match="list or tuple of length 2"):
        PackedSequence(data)


def test_invert_permutation():
    assert invert_permutation(None) is None
    assert invert_permutation(torch.tensor([2, 0, 1])).tolist() == [1, 2, 0]


@pytest.mark.parametrize("kind", ["RNN", "LSTM", "GRU"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_networks_over_packed_sequences(kind, bidirectional):
    """Each sequence is treated as if it were alone, forwards and backwards."""
    torch.manual_seed(0)
    module = getattr(nn, kind)(2, 4, 2, bidirectional=bidirectional).double()
    sequences = [s.double().requires_grad_() for s in ragged(2)]
    output, last = module(pack_sequence(sequences, enforce_sorted=False))
    padded, lengths = pad_packed_sequence(output)
    assert lengths.tolist() == LENGTHS
    padded.square().sum().backward()
    together = [s.grad for s in sequences]
    states = last if isinstance(last, tuple) else (last,)
    for i, sequence in enumerate(sequences):
        alone_input = sequence.detach().requires_grad_()
        alone, state = module(alone_input)
        torch.testing.assert_close(padded[: len(sequence), i], alone)
        for mine, other in zip(
            states, state if isinstance(state, tuple) else (state,), strict=True
        ):
            torch.testing.assert_close(mine[:, i], other)
        alone.square().sum().backward()
        torch.testing.assert_close(together[i], alone_input.grad)


def test_states_follow_the_samples():
    torch.manual_seed(0)
    module = nn.GRU(2, 3)
    sequences = ragged(2)
    first = torch.randn(1, 3, 3)
    _, last = module(pack_sequence(sequences, enforce_sorted=False), first)
    for i, sequence in enumerate(sequences):
        _, alone = module(sequence, first[:, i])
        torch.testing.assert_close(last[:, i], alone)


MISTAKES = [
    (lambda: pack_padded_sequence(torch.ones(4, 3, 2), [4, 2, 3]), RuntimeError, "sorted"),
    (lambda: pack_padded_sequence(torch.ones(4, 3, 2), [4, 3, 0]), RuntimeError, "greater than 0"),
    (lambda: pack_padded_sequence(torch.ones(4, 3, 2), [4, 3]), RuntimeError, "batch_size=3"),
    (lambda: pack_padded_sequence(torch.ones(4, 3, 2), [5, 3, 2]), RuntimeError, "does not fit"),
    (lambda: pack_padded_sequence(torch.ones(4, 0, 2), []), RuntimeError, "empty"),
    (lambda: pack_padded_sequence([1], [1]), TypeError, "must be Tensor, not list"),
    (
        lambda: pad_packed_sequence(pack_sequence(ragged(2), False), total_length=3),
        ValueError,
        "total_length=3 and max sequence length being 5",
    ),
    (lambda: pad_sequence([]), RuntimeError, "empty list"),
    (lambda: pad_sequence([torch.ones(1)], padding_side="up"), RuntimeError, "padding_side"),
    (lambda: pad_sequence(3), RuntimeError, "Expected iterable"),
    (lambda: pad_sequence([torch.ones(2, 3), torch.ones(2, 4)]), RuntimeError, "differ"),
]


@pytest.mark.parametrize(("mistake", "error", "text"), MISTAKES)
def test_mistakes(mistake, error, text):
    with pytest.raises(error, match=text):
        mistake()
