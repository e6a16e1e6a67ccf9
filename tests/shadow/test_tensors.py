"""Tensors that live on the device `shadow`: moving, looking, storing, learning."""

import copy
import io
from pathlib import Path
from typing import Any

import pytest

import flambeau as fb
from flambeau import nn
from flambeau.nn import functional
from tests.shadow.moving import SHADOW, check_no_access


@pytest.fixture(autouse=True)
def _no_access() -> Any:
    yield
    check_no_access("the test")


def test_tensors_move_there_and_back() -> None:
    x = fb.arange(6.0).reshape(2, 3)
    there = x.to(SHADOW)
    assert there.device == SHADOW
    assert there.to("shadow") is there
    assert fb.equal(there.cpu(), x)
    assert fb.equal(there.t().to("cpu"), x.t())
    assert there.to("cpu", fb.float64).dtype == fb.float64
    assert x.to(there).device == SHADOW


def test_factories_make_tensors_there() -> None:
    for made in (
        fb.zeros(2, 3, device="shadow"),
        fb.ones(2, device=SHADOW),
        fb.arange(5, device=SHADOW),
        fb.tensor([1.0, 2.0], device=SHADOW),
        fb.as_tensor([1, 2], device=SHADOW),
        fb.full((2,), 3.0, device=SHADOW),
        fb.eye(3, device=SHADOW),
        fb.linspace(0, 1, 5, device=SHADOW),
        fb.rand(3, device=SHADOW),
        fb.randn(3, device=SHADOW),
        fb.randperm(5, device=SHADOW),
        fb.empty_like(fb.ones(2, device=SHADOW)),
        fb.ones(2, device=SHADOW).new_tensor([1.0]),
    ):
        assert made.device == SHADOW


def test_single_elements_are_read() -> None:
    x = fb.tensor([1.5, 2.5], device=SHADOW)
    assert x[1].item() == 2.5
    assert float(x[0]) == 1.5
    assert bool(x[0] < x[1])
    assert x.tolist() == [1.5, 2.5]
    assert int(fb.tensor(3, device=SHADOW)) == 3


def test_a_tensor_is_printed() -> None:
    assert repr(fb.tensor([1.0, 2.0], device=SHADOW)) == "tensor([1., 2.], device='shadow:0')"


def test_a_file_keeps_the_elements() -> None:
    x = fb.arange(4.0, device=SHADOW)
    file = io.BytesIO()
    fb.save({"x": x}, file)
    file.seek(0)
    loaded = fb.load(file, map_location="cpu")["x"]
    assert fb.equal(loaded, fb.arange(4.0))


def test_a_copy_stays_there() -> None:
    x = fb.arange(4.0, device=SHADOW)
    assert copy.deepcopy(x).device == SHADOW
    assert fb.equal(copy.deepcopy(x).cpu(), x.cpu())


def test_elements_are_assigned() -> None:
    x = fb.zeros(3, 4, device=SHADOW)
    x[1] = 2
    x[0, 1:3] = fb.ones(2, device=SHADOW)
    x[fb.tensor([2, 2], device=SHADOW), fb.tensor([0, 3], device=SHADOW)] = 5.0
    x[x == 2] = 7
    expected = fb.tensor([[0, 1, 1, 0], [7, 7, 7, 7], [5, 0, 0, 5]]).float()
    assert fb.equal(x.cpu(), expected)


def test_gradients_return_to_where_their_input_is() -> None:
    x = fb.arange(3.0, requires_grad=True)
    (x.to(SHADOW) * 2).sum().backward()
    assert x.grad is not None
    assert x.grad.device.type == "cpu"
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


class Net(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.out = nn.Linear(8 * 4 * 4, 5)

    def forward(self, x: Any) -> Any:
        x = functional.max_pool2d(functional.relu(self.norm(self.conv(x))), 2)
        return self.out(functional.dropout(x.flatten(1), 0.2, self.training))


OPTIMISERS = ("SGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "RMSprop", "Adagrad", "Adadelta")


@pytest.mark.parametrize("name", [*OPTIMISERS, "Rprop", "ASGD"])
def test_a_network_learns_as_on_the_host(name: str) -> None:
    def losses(device: Any) -> list[float]:
        fb.manual_seed(0)
        net = Net()
        images, classes = fb.randn(4, 3, 8, 8), fb.randint(0, 5, (4,))
        net, images, classes = net.to(device), images.to(device), classes.to(device)
        optimizer = getattr(fb.optim, name)(net.parameters(), lr=0.01)
        found = []
        for _ in range(3):
            fb.manual_seed(1)
            optimizer.zero_grad()
            loss = functional.cross_entropy(net(images), classes)
            loss.backward()
            nn.utils.clip_grad_norm_(net.parameters(), 1.0)
            optimizer.step()
            found.append(loss.item())
        return found

    assert losses(SHADOW) == losses("cpu")


@pytest.mark.parametrize("kind", ["LSTM", "GRU", "RNN"])
def test_recurrent_layers_compute_there(kind: str) -> None:
    fb.manual_seed(0)
    layer = getattr(nn, kind)(4, 6, num_layers=2, batch_first=True, bidirectional=True)
    x = fb.randn(3, 5, 4)
    layer(x)[0].sum().backward()
    expected = [p.grad.clone() for p in layer.parameters()]
    layer.zero_grad()
    layer.to(SHADOW)
    out = layer(x.to(SHADOW))[0]
    out.sum().backward()
    assert out.device == SHADOW
    for parameter, gradient in zip(layer.parameters(), expected, strict=True):
        assert fb.equal(parameter.grad.cpu(), gradient)


def test_a_state_dict_is_stored_and_loaded(tmp_path: Path) -> None:
    net = Net().to(SHADOW)
    fb.save(net.state_dict(), tmp_path / "net.pt")
    other = Net()
    other.load_state_dict(fb.load(tmp_path / "net.pt", map_location="cpu"))
    for a, b in zip(net.parameters(), other.parameters(), strict=True):
        assert fb.equal(a.cpu(), b)


@pytest.mark.parametrize("finite", [True, False])
def test_a_scaler_scales_there(finite: bool) -> None:
    """Also beside a parameter of the host, whose gradient may not be finite."""
    here = fb.ones(1, requires_grad=True)
    net = nn.Linear(3, 2).to(SHADOW)
    optimizer = fb.optim.SGD([*net.parameters(), here], lr=0.1)
    scaler = fb.amp.GradScaler("shadow", init_scale=8.0)
    loss = net(fb.ones(4, 3, device=SHADOW)).sum()
    scaler.scale(loss).backward()
    here.grad = fb.tensor([8.0 if finite else float("inf")])
    before = net.weight.detach().clone()
    scaler.step(optimizer)
    scaler.update()
    assert fb.equal(net.weight, before) != finite
    assert scaler.get_scale() == (8.0 if finite else 4.0)
    assert here.tolist() == pytest.approx([0.9 if finite else 1.0])
