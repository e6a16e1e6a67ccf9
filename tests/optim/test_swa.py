"""Averaged models: what the averages are, buffers, batch norms and mistakes."""

import copy
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau.optim import swa_utils


def filled(net: fb.nn.Module, value: float) -> fb.nn.Module:
    with fb.no_grad():
        for p in net.parameters():
            p.fill_(value)
        for buffer in net.buffers():
            buffer.fill_(value)
    return net


def network() -> fb.nn.Sequential:
    return fb.nn.Sequential(fb.nn.Linear(3, 4), fb.nn.BatchNorm1d(4), fb.nn.Linear(4, 2))


def values(net: Any) -> set[float]:
    return {round(float(p.detach().mean()), 5) for p in net.parameters()}


EQUAL = [1.0, 2.0, 3.0]  # after 1, 3 and 5
EXPONENTIAL = [1.0, 1.5, 2.375]  # three quarters of the old one, a quarter of the new one


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ({}, EQUAL),
        ({"avg_fn": swa_utils.get_swa_avg_fn()}, EQUAL),
        ({"multi_avg_fn": swa_utils.get_swa_multi_avg_fn()}, EQUAL),
        ({"avg_fn": swa_utils.get_ema_avg_fn(0.75)}, EXPONENTIAL),
        ({"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.75)}, EXPONENTIAL),
        ({"avg_fn": lambda average, value, n: average + n * value}, [1.0, 4.0, 14.0]),
    ],
    ids=["swa", "swa of one", "swa of lists", "ema of one", "ema of lists", "own"],
)
def test_averages(options: dict[str, Any], expected: list[float]) -> None:
    net = network()
    average = swa_utils.AveragedModel(net, **options)
    for count, (value, result) in enumerate(zip((1.0, 3.0, 5.0), expected, strict=True)):
        assert average.n_averaged == count
        average.update_parameters(filled(net, value))
        assert values(average.module) == {result}
        assert values(net) == {value}
        assert average.module[1].running_mean.tolist() == [value] * 4  # a buffer is copied
        assert average.module[1].num_batches_tracked == int(value)
    assert all(p.requires_grad for p in average.parameters())


def test_buffers_can_be_averaged() -> None:
    net = network()
    average = swa_utils.AveragedModel(net, use_buffers=True)
    for value in (1.0, 4.0):
        average.update_parameters(filled(net, value))
    assert average.module[1].running_var.tolist() == [2.5] * 4
    assert average.module[1].num_batches_tracked == 2  # an integer, rounded towards 0


def test_parameters_of_several_types() -> None:
    net = fb.nn.Sequential(fb.nn.Linear(2, 2), fb.nn.Linear(2, 2).double())
    average = swa_utils.AveragedModel(net)
    for value in (1.0, 2.0, 6.0):
        average.update_parameters(filled(net, value))
    assert values(average) == {3.0}
    assert [p.dtype for p in average.parameters()] == [p.dtype for p in net.parameters()]


def test_average_in_a_wider_type_than_the_model() -> None:
    net = fb.nn.Linear(2, 2).bfloat16()
    for options in ({}, {"multi_avg_fn": swa_utils.get_ema_multi_avg_fn(0.5)}):
        average = swa_utils.AveragedModel(net, **options)
        average.module.float()
        for value in (1.0, 1.015625):
            average.update_parameters(filled(net, value))
        assert values(average) == {round(1.0078125, 5)}  # which bfloat16 does not have


def test_average_is_a_module_of_its_own() -> None:
    net = network().eval()
    average = swa_utils.AveragedModel(net, device="cpu")
    x = fb.randn(5, 3)
    np.testing.assert_array_equal(average(x).detach().numpy(), net(x).detach().numpy())
    filled(net, 0.0)
    assert values(average) != {0.0}
    state = average.state_dict()
    assert next(iter(state)) == "n_averaged"
    assert list(state)[1:] == [f"module.{name}" for name in net.state_dict()]
    other = swa_utils.AveragedModel(net)
    other.load_state_dict(state)
    np.testing.assert_array_equal(other(x).detach().numpy(), average(x).detach().numpy())
    assert copy.deepcopy(average).n_averaged == 0


def test_average_during_training() -> None:
    """The average is the one computed by hand from the weights on the way."""
    fb.manual_seed(0)
    net = fb.nn.Linear(3, 1)
    average = swa_utils.AveragedModel(net, multi_avg_fn=swa_utils.get_ema_multi_avg_fn(0.9))
    optimizer = fb.optim.SGD(net.parameters(), lr=0.1)
    expected = None
    for _ in range(20):
        optimizer.zero_grad()
        net(fb.randn(8, 3)).square().mean().backward()
        optimizer.step()
        average.update_parameters(net)
        weight = net.weight.detach().numpy().copy()
        expected = weight if expected is None else 0.9 * expected + 0.1 * weight
    np.testing.assert_allclose(average.module.weight.detach().numpy(), expected, rtol=1e-5)


def test_update_bn() -> None:
    fb.manual_seed(0)
    net = fb.nn.Sequential(fb.nn.BatchNorm1d(3, momentum=0.2), fb.nn.Dropout())
    net[1].eval()
    batches = [fb.randn(4, 3) + i for i in range(5)]
    swa_utils.update_bn([[batch, "label"] for batch in batches], net, device="cpu")
    means = np.mean([batch.numpy().mean(0) for batch in batches], axis=0)
    variances = np.mean([batch.numpy().var(0, ddof=1) for batch in batches], axis=0)
    np.testing.assert_allclose(net[0].running_mean.numpy(), means, rtol=1e-5)
    np.testing.assert_allclose(net[0].running_var.numpy(), variances, rtol=1e-5)
    assert net[0].momentum == 0.2
    assert net.training


def test_update_bn_leaves_other_networks_alone() -> None:
    net = fb.nn.Linear(2, 2).eval()

    def unread() -> Any:
        raise AssertionError("nobody needs the data")
        yield

    swa_utils.update_bn(unread(), net)
    assert not net.training


def test_mistakes() -> None:
    with pytest.raises(ValueError, match=r"Invalid decay value 1.5: expected one in \[0, 1\]"):
        swa_utils.get_ema_avg_fn(1.5)
    with pytest.raises(ValueError, match="Invalid decay value -1"):
        swa_utils.get_ema_multi_avg_fn(-1)
    with pytest.raises(AssertionError, match="Only one of avg_fn and multi_avg_fn"):
        swa_utils.AveragedModel(network(), avg_fn=min, multi_avg_fn=max)
    update = swa_utils.get_ema_multi_avg_fn()
    with pytest.raises(RuntimeError, match="expected one end for each tensor, 1, but got 2"):
        update([fb.zeros(1)], [fb.zeros(1), fb.zeros(1)], fb.tensor(1))
