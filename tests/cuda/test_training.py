"""Small networks learn on the device as on the CPU."""

from typing import Any

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional
from tests.cuda.moving import CUDA


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.01}),
        ("SGD", {}),
        ("Adam", {"amsgrad": True}),
        ("AdamW", {}),
    ],
)
def test_a_network_learns(name: str, options: dict[str, Any]) -> None:
    def losses(device: Any) -> list[float]:
        fb.manual_seed(0)
        net = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 5))
        x, classes = fb.randn(8, 12), fb.randint(0, 5, (8,))
        net, x, classes = net.to(device), x.to(device), classes.to(device)
        optimizer = getattr(fb.optim, name)(net.parameters(), lr=0.01, **options)
        found = []
        for _ in range(4):
            optimizer.zero_grad()
            loss = functional.cross_entropy(net(x), classes, label_smoothing=0.1)
            loss.backward()
            optimizer.step()
            found.append(loss.item())
        return found

    assert losses(CUDA) == pytest.approx(losses("cpu"), rel=1e-4)


def test_a_bad_class_is_an_error_and_training_goes_on() -> None:
    scores = fb.zeros(2, 3, device=CUDA, requires_grad=True)
    loss = functional.cross_entropy(scores, fb.tensor([1, 7]).to(CUDA))
    with pytest.raises(IndexError, match="the index 7"):
        loss.item()
    loss = functional.cross_entropy(scores, fb.tensor([1, 2]).to(CUDA))
    loss.backward()
    assert loss.item() == pytest.approx(1.0986, rel=1e-3)
