"""The Transformer and its parts."""

import copy
import math

import pytest

import flambeau as fb
import flambeau.nn.functional as F
from flambeau import Tensor, nn


def causal(size: int) -> Tensor:
    return nn.Transformer.generate_square_subsequent_mask(size)


def test_mask_of_later_positions() -> None:
    assert causal(2).tolist() == [[0.0, -math.inf], [0.0, 0.0]]
    assert causal(3).dtype == fb.float32
    assert nn.Transformer.generate_square_subsequent_mask(2, dtype=fb.float64).dtype == fb.float64


def test_a_layer_is_attention_and_two_linear_maps() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, batch_first=True)
    x = fb.randn(3, 5, 8)
    y = layer.norm1(x + layer.self_attn(x, x, x)[0])
    expected = layer.norm2(y + layer.linear2(F.relu(layer.linear1(y))))
    fb.testing.assert_close(layer(x), expected)


def test_normalising_first() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0, norm_first=True, activation="gelu")
    x = fb.randn(5, 3, 8)
    n = layer.norm1(x)
    y = x + layer.self_attn(n, n, n)[0]
    expected = y + layer.linear2(F.gelu(layer.linear1(layer.norm2(y))))
    fb.testing.assert_close(layer(x), expected)


def test_an_encoder_has_copies_of_its_layer() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16)
    encoder = nn.TransformerEncoder(layer, 3, norm=nn.LayerNorm(8))
    assert len(encoder.layers) == 3
    first, second = encoder.layers[0], encoder.layers[1]
    assert fb.equal(first.linear1.weight, second.linear1.weight)
    assert first.linear1.weight is not second.linear1.weight
    assert next(iter(encoder.state_dict())) == "layers.0.self_attn.in_proj_weight"


def test_a_causal_encoder_does_not_look_ahead() -> None:
    layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = nn.TransformerEncoder(layer, 2).eval()
    x = fb.randn(1, 6, 8)
    other = x.clone()
    other[:, 4:] = 0
    one, two = encoder(x, mask=causal(6)), encoder(other, mask=causal(6))
    fb.testing.assert_close(one[:, :4], two[:, :4])
    assert not fb.allclose(one[:, 4:], two[:, 4:])
    fb.testing.assert_close(encoder(x, mask=causal(6), is_causal=True), one)


def test_padding_changes_nothing_before_it() -> None:
    encoder = nn.TransformerEncoder(
        nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2, enable_nested_tensor=False
    ).eval()
    x = fb.randn(2, 6, 8)
    padding = fb.tensor([[False] * 6, [False] * 4 + [True] * 2])
    padded = encoder(x, src_key_padding_mask=padding)
    fb.testing.assert_close(padded[1:, :4], encoder(x[1:, :4]))


def test_padding_is_zero_in_inference() -> None:
    encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2)
    padding = fb.tensor([[False] * 4 + [True] * 2])
    with fb.no_grad():
        result = encoder.eval()(fb.randn(1, 6, 8), src_key_padding_mask=padding)
    assert result[:, 4:].abs().sum() == 0
    assert result[:, :4].abs().min() > 0


def test_decoding_step_by_step() -> None:
    model = nn.Transformer(8, 2, 1, 2, 16, batch_first=True).eval()
    src, tgt = fb.randn(2, 5, 8), fb.randn(2, 4, 8)
    whole = model(src, tgt, tgt_mask=causal(4))
    memory = model.encoder(src)
    for length in range(1, 5):
        part = model.decoder(tgt[:, :length], memory, tgt_mask=causal(length))
        fb.testing.assert_close(part[:, -1], whole[:, length - 1])


def test_a_transformer_learns_to_copy() -> None:
    fb.manual_seed(0)
    model = nn.Transformer(16, 2, 1, 1, 32, dropout=0.0, batch_first=True)
    table, out = nn.Embedding(6, 16), nn.Linear(16, 6)
    parameters = [*model.parameters(), *table.parameters(), *out.parameters()]
    tokens = fb.randint(1, 6, (16, 4))
    shifted = fb.cat([fb.zeros(16, 1, dtype=fb.int64), tokens[:, :-1]], 1)
    place = fb.randn(4, 16)
    losses = []
    for _ in range(40):
        hidden = model(table(tokens) + place, table(shifted) + place, tgt_mask=causal(4))
        loss = -out(hidden).log_softmax(-1).gather(-1, tokens[..., None]).mean()
        losses.append(loss.item())
        grads = fb.autograd.grad(loss, parameters)
        with fb.no_grad():
            for p, g in zip(parameters, grads, strict=True):
                p -= 0.3 * g / (1 + g.norm())
    assert losses[-1] < 0.5 * losses[0]


def test_copies_and_state() -> None:
    model = nn.Transformer(8, 2, 1, 1, 16).eval()
    other = copy.deepcopy(model)
    fresh = nn.Transformer(8, 2, 1, 1, 16).eval()
    fresh.load_state_dict(model.state_dict())
    src, tgt = fb.randn(5, 2, 8), fb.randn(3, 2, 8)
    assert fb.equal(model(src, tgt), other(src, tgt))
    assert fb.equal(model(src, tgt), fresh(src, tgt))


def test_dropout_in_training_only() -> None:
    layer = nn.TransformerDecoderLayer(8, 2, 16, dropout=0.5)
    x, memory = fb.randn(5, 2, 8), fb.randn(6, 2, 8)
    assert not fb.equal(layer(x, memory), layer(x, memory))
    fb.manual_seed(1)
    first = layer(x, memory)
    fb.manual_seed(1)
    assert fb.equal(layer(x, memory), first)
    layer.eval()
    assert fb.equal(layer(x, memory), layer(x, memory))


def test_bad_input() -> None:
    with pytest.raises(RuntimeError, match="activation should be relu/gelu, not tanh"):
        nn.TransformerEncoderLayer(8, 2, activation="tanh")
    model = nn.Transformer(8, 2, 1, 1, 16)
    with pytest.raises(RuntimeError, match="batch number of src and tgt must be equal"):
        model(fb.zeros(5, 2, 8), fb.zeros(5, 3, 8))
    with pytest.raises(RuntimeError, match=r"must be equal to d_model \(8\), got 6 and 8"):
        model(fb.zeros(5, 2, 6), fb.zeros(5, 2, 8))
