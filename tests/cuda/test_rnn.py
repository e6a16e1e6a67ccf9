"""Recurrent layers and cells on the device: results and gradients are those of the CPU."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau import nn
from tests.cuda.moving import CUDA, to_host

LAYERS: list[tuple[str, dict[str, Any]]] = [
    ("LSTM", {}),
    ("LSTM", {"num_layers": 2, "bidirectional": True}),
    ("LSTM", {"proj_size": 3, "bidirectional": True, "batch_first": True}),
    ("LSTM", {"bias": False}),
    ("GRU", {"bidirectional": True}),
    ("GRU", {"num_layers": 2, "batch_first": True}),
    ("GRU", {"bias": False}),
    ("RNN", {"bidirectional": True, "batch_first": True}),
    ("RNN", {"nonlinearity": "relu"}),
]
BATCH_SIZES = [4, 3, 2, 2, 1]  # of the steps of packed sequences
LENGTHS = [4, 2, 5, 1]


def flat(value: Any) -> list[fb.Tensor]:
    if isinstance(value, fb.Tensor):
        return [value]
    if isinstance(value, nn.utils.rnn.PackedSequence):
        return [value.data]
    return [t for each in value for t in flat(each)]


def gradients(module: Any, x: fb.Tensor, call: Any, device: Any) -> list[fb.Tensor]:
    module = module.to(device)
    module.zero_grad()
    leaf = x.detach().to(device).requires_grad_()
    out = flat(call(module, leaf))
    fb.manual_seed(1)
    sum((t * fb.randn(t.shape, dtype=t.dtype).to(device)).sum() for t in out).backward()
    parameters = [p.grad for p in module.parameters()]
    return list(to_host([*out, leaf.grad, *parameters]))


def compare(module: Any, x: fb.Tensor, call: Any, rtol: float) -> None:
    expected = gradients(module, x, call, "cpu")
    for a, b in zip(gradients(module, x, call, CUDA), expected, strict=True):
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol, rtol)


@pytest.mark.parametrize("dtype", [fb.float32, fb.float64], ids=str)
@pytest.mark.parametrize("hidden", [5, 33])
@pytest.mark.parametrize(("name", "options"), LAYERS)
def test_a_layer(name: str, options: dict[str, Any], hidden: int, dtype: fb.dtype) -> None:
    fb.manual_seed(0)
    layer = getattr(nn, name)(7, hidden, dtype=dtype, **options)
    rtol = 1e-4 if dtype == fb.float32 else 1e-9
    compare(layer, fb.randn(4, 9, 7, dtype=dtype), lambda m, x: m(x), rtol)


@pytest.mark.parametrize(("name", "options"), LAYERS)
def test_packed_sequences(name: str, options: dict[str, Any]) -> None:
    fb.manual_seed(0)
    layer = getattr(nn, name)(7, 5, **options)
    compare(
        layer,
        fb.randn(sum(BATCH_SIZES), 7),
        lambda m, x: m(nn.utils.rnn.PackedSequence(x, fb.tensor(BATCH_SIZES))),
        1e-4,
    )


def test_sequences_are_packed_in_order_of_their_lengths() -> None:
    fb.manual_seed(0)
    x = fb.randn(4, 5, 7)
    packed = nn.utils.rnn.pack_padded_sequence(x.to(CUDA), LENGTHS, True, enforce_sorted=False)
    assert packed.sorted_indices is not None
    assert packed.sorted_indices.device.type == "cuda"
    padded, lengths = nn.utils.rnn.pad_packed_sequence(packed, True)
    assert lengths.tolist() == LENGTHS
    for row, length, expected in zip(padded.cpu(), LENGTHS, x, strict=True):
        assert bool((row[:length] == expected[:length]).all())


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("name", ["LSTMCell", "GRUCell", "RNNCell"])
def test_a_cell(name: str, bias: bool) -> None:
    fb.manual_seed(0)
    cell = getattr(nn, name)(7, 33, bias=bias)

    def call(module: Any, x: fb.Tensor) -> Any:
        state, states = None, []
        for step in x:
            state = module(step, state)
            states.append(state)
        return states

    compare(cell, fb.randn(3, 17, 7), call, 1e-4)


def test_autocast() -> None:
    fb.manual_seed(0)
    layer = nn.LSTM(7, 5)

    def call(module: Any, x: fb.Tensor) -> Any:
        with fb.autocast(x.device.type, dtype=fb.bfloat16):
            return [t.float() for t in flat(module(x))]

    compare(layer, fb.randn(4, 9, 7), call, 5e-2)
