"""Initial values: their spread, and what is refused. tests/conformance has their numbers."""

import math

import pytest

import flambeau as torch
from flambeau.nn import init


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


def big() -> torch.Tensor:
    return torch.empty(200, 300)


def test_uniform_and_normal() -> None:
    even = init.uniform_(big(), -2, 3)
    assert -2 <= even.min() < -1.99
    assert 2.99 < even.max() < 3
    bell = init.normal_(big(), 1, 2)
    assert bell.mean().item() == pytest.approx(1, abs=0.05)
    assert bell.std().item() == pytest.approx(2, abs=0.05)


@pytest.mark.parametrize(
    ("mean", "std", "a", "b"), [(0.0, 1.0, -2.0, 2.0), (0.0, 1.0, 1.5, 3.0), (1.0, 0.02, -2.0, 2.0)]
)
def test_truncated_normal(mean: float, std: float, a: float, b: float) -> None:
    """Both ways to draw: the second interval holds little of the distribution."""
    drawn = init.trunc_normal_(big(), mean, std, a, b).double()
    assert drawn.min() >= a
    assert drawn.max() <= b

    def density(x: float) -> float:
        return math.exp(-0.5 * x * x) / math.sqrt(2 * math.pi)

    low, high = (a - mean) / std, (b - mean) / std
    share = 0.5 * (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2)))
    expected = mean + std * (density(low) - density(high)) / share
    assert drawn.mean().item() == pytest.approx(expected, abs=0.02 * std)


def test_truncated_normal_warns_of_a_mean_far_outside() -> None:
    with pytest.warns(UserWarning, match="more than 2 std from"):
        init.trunc_normal_(torch.empty(2, 2), mean=5.0)


def test_constants() -> None:
    assert init.constant_(torch.empty(3), 0.3).tolist() == pytest.approx([0.3] * 3)
    assert init.ones_(torch.empty(2, dtype=torch.int64)).tolist() == [1, 1]
    assert init.zeros_(torch.ones(2)).tolist() == [0, 0]
    assert init.eye_(torch.empty(2, 3)).tolist() == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.parametrize("groups", [1, 2])
def test_dirac_passes_channels_on(groups: int) -> None:
    weight = init.dirac_(torch.empty(4, 4 // groups, 3, 3), groups)
    for out_channel in range(4):
        kernel = weight[out_channel]
        assert kernel.sum() == 1
        assert kernel[out_channel % (4 // groups), 1, 1] == 1


def test_fans() -> None:
    assert init._calculate_fan_in_and_fan_out(torch.empty(5, 3)) == (3, 5)
    assert init._calculate_fan_in_and_fan_out(torch.empty(5, 3, 2, 4)) == (24, 40)
    with pytest.raises(ValueError, match="fewer than 2 dimensions"):
        init.xavier_uniform_(torch.empty(3))


def test_xavier_and_kaiming_have_their_variance() -> None:
    for fill in (init.xavier_uniform_, init.xavier_normal_):
        assert fill(big(), gain=2.0).var().item() == pytest.approx(4 * 2 / 500, rel=0.05)
    for kaiming in (init.kaiming_uniform_, init.kaiming_normal_):
        assert kaiming(big(), nonlinearity="relu").var().item() == pytest.approx(2 / 300, rel=0.05)
        assert kaiming(big(), 0.5, "fan_out").var().item() == pytest.approx(1.6 / 200, rel=0.05)


def test_gains() -> None:
    assert init.calculate_gain("relu") == math.sqrt(2)
    assert init.calculate_gain("tanh") == 5 / 3
    assert init.calculate_gain("leaky_relu", 0.5) == pytest.approx(math.sqrt(1.6))
    with pytest.raises(ValueError, match="Unsupported nonlinearity gelu"):
        init.calculate_gain("gelu")
    with pytest.raises(ValueError, match="not a valid number"):
        init.calculate_gain("leaky_relu", True)
    with pytest.raises(ValueError, match="Mode fan not supported"):
        init.kaiming_normal_(torch.empty(2, 2), mode="fan")


def test_no_elements() -> None:
    with pytest.warns(UserWarning, match="no-op"):
        assert init.kaiming_uniform_(torch.empty(0, 3)).shape == (0, 3)
    assert init.orthogonal_(torch.empty(0, 3)).shape == (0, 3)


@pytest.mark.parametrize("shape", [(4, 4), (6, 3), (3, 6), (4, 2, 3)])
def test_orthogonal(shape: tuple[int, ...]) -> None:
    flat = init.orthogonal_(torch.empty(*shape), gain=2.0).flatten(1)
    product = flat.t() @ flat if flat.shape[0] > flat.shape[1] else flat @ flat.t()
    torch.testing.assert_close(product, 4 * torch.eye(min(flat.shape)), rtol=1e-4, atol=1e-4)


def test_sparse() -> None:
    filled = init.sparse_(torch.empty(10, 20), sparsity=0.33, std=1.0)
    assert (filled == 0).sum(0).tolist() == [4] * 20


def test_parameters_stay_leaves() -> None:
    weight = torch.nn.Parameter(torch.empty(3, 3))
    for fill in (init.xavier_normal_, init.orthogonal_, init.ones_, init.eye_):
        assert fill(weight) is weight
    assert weight.is_leaf
    assert weight.requires_grad


def test_a_generator_of_ones_own() -> None:
    def drawn() -> torch.Tensor:
        return init.kaiming_uniform_(torch.empty(2, 3), generator=torch.Generator().manual_seed(7))

    first = drawn()
    torch.rand(5)
    assert torch.equal(first, drawn())


def test_old_names() -> None:
    with pytest.warns(FutureWarning, match=r"nn.init.normal` is now deprecated"):
        assert init.normal(torch.empty(3)).shape == (3,)
    assert init.xavier_uniform.__name__ == "xavier_uniform"
