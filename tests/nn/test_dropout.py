"""Dropout layers as a user meets them."""

import pytest

import flambeau as torch
from flambeau import nn
from flambeau.autograd import gradcheck, gradgradcheck
from flambeau.nn import functional as F

ELEMENTS = [nn.Dropout, nn.AlphaDropout]
CHANNELS = [nn.Dropout2d, nn.FeatureAlphaDropout]


def test_elements_are_dropped_or_scaled():
    torch.manual_seed(0)
    y = nn.Dropout(0.25)(torch.ones(10000))
    assert set(y.tolist()) == {0.0, torch.tensor(1 / 0.75).item()}
    assert abs((y == 0).double().mean().item() - 0.25) < 0.02


@pytest.mark.parametrize("kind", ELEMENTS + CHANNELS)
def test_evaluation_gives_back_the_input_itself(kind):
    x = torch.randn(2, 3, 4, 4)
    assert kind(0.5).eval()(x) is x


@pytest.mark.parametrize("kind", ELEMENTS + CHANNELS)
def test_the_same_seed_drops_the_same(kind):
    layer, x = kind(0.5), torch.randn(4, 6, 3, 3)
    torch.manual_seed(3)
    first = layer(x)
    torch.manual_seed(3)
    assert torch.equal(layer(x), first)
    assert not torch.equal(layer(x), first)


@pytest.mark.parametrize("kind", ELEMENTS + CHANNELS)
def test_in_place_writes_into_the_input(kind):
    x = torch.randn(4, 6, 3, 3)
    torch.manual_seed(3)
    expected = kind(0.5)(x)
    torch.manual_seed(3)
    y = kind(0.5, inplace=True)(x)
    assert y is x
    torch.testing.assert_close(x, expected)


def test_gradients_pass_where_elements_were_kept():
    x = torch.randn(100, requires_grad=True)
    y = F.dropout(x, 0.4)
    y.sum().backward()
    torch.testing.assert_close(x.grad, (y != 0).float() / 0.6)


def test_gradients_through_the_form_in_place():
    x = torch.randn(100, requires_grad=True)
    h = x * 2
    y = F.dropout(h, 0.4, inplace=True)
    y.sum().backward()
    torch.testing.assert_close(x.grad, (y != 0).float() / 0.6 * 2)


@pytest.mark.parametrize("function", [F.dropout, F.alpha_dropout, F.dropout2d])
def test_two_derivatives(function):
    x = torch.randn(2, 3, 2, 2, dtype=torch.double, requires_grad=True)

    def run(x):
        torch.manual_seed(1)
        return function(x, 0.5, True) ** 2

    assert gradcheck(run, (x,))
    assert gradgradcheck(run, (x,))


def test_whole_channels_are_dropped():
    y = F.dropout2d(torch.ones(8, 16, 3, 3), 0.5)
    per_channel = y.flatten(2)
    assert bool((per_channel == per_channel[..., :1]).all())
    assert 0 < (per_channel[..., 0] == 0).sum().item() < 128


def test_channels_of_an_image_without_a_batch():
    y = F.dropout1d(torch.ones(64, 5), 0.5)
    assert bool((y == y[:, :1]).all())
    y = F.dropout3d(torch.ones(64, 2, 2, 2), 0.5)
    assert bool((y.flatten(1) == y[:, 0, 0, :1]).all())


def test_everything_is_dropped_at_one():
    x = torch.tensor([1.0, float("inf")], requires_grad=True)
    y = F.dropout(x, 1.0)
    assert y[0].item() == 0
    assert y[1].isnan()


def test_alpha_dropout_keeps_mean_and_variance():
    torch.manual_seed(0)
    y = F.alpha_dropout(torch.randn(200000), 0.3, training=True)
    assert abs(y.mean().item()) < 0.02
    assert abs(y.std().item() - 1) < 0.02


def test_native_dropout_returns_the_mask():
    x = torch.randn(50)
    y, mask = torch.native_dropout(x, 0.5, True)
    assert mask.dtype == torch.bool
    torch.testing.assert_close(y, x * mask * 2)


@pytest.mark.parametrize("kind", ELEMENTS + CHANNELS)
@pytest.mark.parametrize("p", [-0.1, 1.1])
def test_no_probability_is_refused(kind, p):
    with pytest.raises(ValueError, match="between 0 and 1"):
        kind(p)


def test_wrong_dimensions_are_refused():
    with pytest.raises(RuntimeError, match=r"dropout1d: expected .* \(2, 3, 4, 4\)"):
        F.dropout1d(torch.randn(2, 3, 4, 4))
