"""Averaged models against torch: parameters, buffers and the statistics of batch norms."""

from typing import Any

import numpy as np
import pytest
import torch
import torch.optim.swa_utils

import flambeau
import flambeau.optim.swa_utils

# Averages as arguments of AveragedModel, with `u` for the module.
AVERAGES = (
    "",
    "use_buffers=True",
    "multi_avg_fn=u.get_ema_multi_avg_fn()",
    "multi_avg_fn=u.get_ema_multi_avg_fn(0.9)",
    "multi_avg_fn=u.get_ema_multi_avg_fn(0.3), use_buffers=True",
    "avg_fn=u.get_ema_avg_fn()",
    "avg_fn=u.get_ema_avg_fn(decay=0.7), use_buffers=True",
    "avg_fn=u.get_swa_avg_fn()",
    "avg_fn=u.get_swa_avg_fn(), use_buffers=True",
    "device='cpu', avg_fn=lambda average, value, n: average + n * value",
)


def model(t: Any) -> Any:
    t.manual_seed(0)
    return t.nn.Sequential(t.nn.Linear(4, 5), t.nn.BatchNorm1d(5), t.nn.Linear(5, 2).double())


def change(t: Any, net: Any, step: int) -> None:
    """New parameters and buffers, the same in both frameworks."""
    rng = np.random.default_rng(step)
    with t.no_grad():
        for tensor in (*net.parameters(), *net.buffers()):
            values = rng.standard_normal(tuple(tensor.shape)) * 4
            tensor.copy_(t.tensor(values))


def averaged(t: Any, arguments: str) -> Any:
    net = model(t)
    average = eval(f"u.AveragedModel(net, {arguments})", {"u": t.optim.swa_utils, "net": net})
    for step in range(6):
        change(t, net, step)
        average.update_parameters(net)
    return average


def equal(ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    assert list(ours) == list(theirs)
    for name, value in ours.items():
        expected = theirs[name].numpy()
        assert value.numpy().dtype == expected.dtype
        eps = np.finfo(expected.dtype).eps if expected.dtype.kind == "f" else 0
        np.testing.assert_allclose(value.numpy(), expected, rtol=4 * eps, atol=4 * eps)


@pytest.mark.parametrize("arguments", AVERAGES)
def test_average(arguments: str) -> None:
    ours, theirs = (averaged(t, arguments) for t in (flambeau, torch))
    equal(ours.state_dict(), theirs.state_dict())


def test_equal_average_of_lists() -> None:
    """PyTorch rounds the weight 1 / (n + 1) to float32, whatever the parameters are."""
    arguments = "multi_avg_fn=u.get_swa_multi_avg_fn()"
    ours, theirs = (averaged(t, arguments).state_dict() for t in (flambeau, torch))
    for name, value in ours.items():
        np.testing.assert_allclose(value.numpy(), theirs[name].numpy(), rtol=1e-6, atol=1e-6)


def test_state_dict_goes_both_ways() -> None:
    ours, theirs = (averaged(t, "") for t in (flambeau, torch))
    from_ours = {k: torch.from_numpy(v.numpy()) for k, v in ours.state_dict().items()}
    fresh = torch.optim.swa_utils.AveragedModel(model(torch))
    fresh.load_state_dict(from_ours)
    equal(ours.state_dict(), fresh.state_dict())
    from_theirs = {k: flambeau.from_numpy(v.numpy()) for k, v in theirs.state_dict().items()}
    ours.load_state_dict(from_theirs)
    assert ours.n_averaged == 6


def test_update_bn() -> None:
    results = []
    for t in (flambeau, torch):
        t.manual_seed(3)
        net = t.nn.Sequential(t.nn.Linear(4, 5), t.nn.BatchNorm1d(5, momentum=0.3)).eval()
        batches = [t.randn(n, 4) for n in (8, 3, 5)]
        t.optim.swa_utils.update_bn([(batches[0], 1), *batches[1:]], net, device="cpu")
        assert net[1].momentum == 0.3
        assert not net.training
        results.append({k: v.numpy() for k, v in net.state_dict().items()})
    for name, value in results[0].items():
        np.testing.assert_allclose(value, results[1][name], rtol=1e-5, atol=1e-6)


REFUSED = (
    "u.get_ema_avg_fn(1.5)",
    "u.get_ema_avg_fn(-0.5)",
    "u.get_ema_multi_avg_fn(1.5)",
    "u.get_ema_multi_avg_fn(-0.5)",
    "u.AveragedModel(t.nn.Linear(2, 2), avg_fn=min, multi_avg_fn=max)",
    "u.AveragedModel(3).update_parameters(3)",
)


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str) -> None:
    raised = []
    for t in (flambeau, torch):
        with pytest.raises(Exception) as error:  # noqa: PT011 (the class is compared below)
            eval(call, {"t": t, "u": t.optim.swa_utils})
        raised.append(error.type.__name__)
    assert raised[0] == raised[1]


def test_names() -> None:
    names = torch.optim.swa_utils.__all__
    assert sorted(names) == sorted(flambeau.optim.swa_utils.__all__)
