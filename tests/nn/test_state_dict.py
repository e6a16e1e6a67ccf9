"""State dicts: saved, loaded, and what loading complains of."""

from __future__ import annotations

import copy
from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from tests.nn.nets import Affine, Net


def test_keys_and_metadata() -> None:
    state = Net().state_dict()
    assert list(state) == [
        "scale",
        "first.weight",
        "first.bias",
        "first.calls",
        "rest.0.weight",
        "rest.0.bias",
        "rest.0.calls",
        "rest.1.weight",
        "rest.1.bias",
        "rest.1.calls",
    ]
    assert state._metadata["rest.1"] == {"version": 1}
    assert list(state._metadata) == ["", "first", "rest", "rest.0", "rest.1"]


def test_values_share_memory_without_history() -> None:
    net = Net()
    state = net.state_dict()
    assert not state["scale"].requires_grad
    assert state["scale"].data_ptr() == net.scale.data_ptr()
    assert net.state_dict(keep_vars=True)["scale"] is net.scale
    own: dict[str, Any] = {}
    assert net.state_dict(destination=own, prefix="net.") is own
    assert next(iter(own)) == "net.scale"


def test_loading_copies() -> None:
    net, other = Net(), Net()
    with torch.no_grad():
        other.scale.fill_(7)
    scale = net.scale
    assert str(net.load_state_dict(other.state_dict())) == "<All keys matched successfully>"
    assert net.scale is scale
    assert net.scale.item() == 7
    assert net.scale.data_ptr() != other.scale.data_ptr()


def test_what_does_not_fit_is_listed() -> None:
    net = Net()
    state = net.state_dict()
    del state["first.weight"], state["scale"]
    state["more"] = torch.ones(1)
    state["rest.7.weight"] = torch.ones(1)
    state["rest.1.bias"] = torch.ones(3)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    assert str(caught.value) == (
        "Error(s) in loading state_dict for Net:\n"
        '\tMissing key(s) in state_dict: "scale", "first.weight". \n'
        '\tUnexpected key(s) in state_dict: "more", "rest.7.weight". \n'
        "\tsize mismatch for rest.1.bias: copying a param with shape torch.Size([3]) from "
        "checkpoint, the shape in current model is torch.Size([2])."
    )


def test_not_strict() -> None:
    net = Net()
    result = net.load_state_dict({"more": torch.ones(1)}, strict=False)
    assert result.unexpected_keys == ["more"]
    assert result.missing_keys == list(net.state_dict())
    with pytest.raises(RuntimeError, match="size mismatch for scale"):
        net.load_state_dict({"scale": torch.ones(2)}, strict=False)
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class 'list'>"):
        net.load_state_dict([])


def test_assigned_tensors_take_the_place() -> None:
    net = Affine(2, 1)
    net.bias.requires_grad_(False)
    state = {name: value.double() for name, value in net.state_dict().items()}
    net.load_state_dict(state, assign=True)
    assert net.weight.data_ptr() == state["weight"].data_ptr()
    assert isinstance(net.weight, nn.Parameter)
    assert (net.weight.requires_grad, net.bias.requires_grad) == (True, False)
    assert net.weight.dtype == torch.float64
    assert net.calls is state["calls"]


def test_extra_state() -> None:
    class Counting(nn.Module):
        count = 0

        def get_extra_state(self) -> Any:
            return self.count

        def set_extra_state(self, state: Any) -> None:
            self.count = state

    net, other = nn.Sequential(Counting()), nn.Sequential(Counting())
    net[0].count = 5
    assert net.state_dict() == {"0._extra_state": 5}
    other.load_state_dict(net.state_dict())
    assert other[0].count == 5
    with pytest.raises(RuntimeError, match=r'Missing key.*"0\._extra_state"'):
        other.load_state_dict({})


def test_older_versions_are_understood() -> None:
    class Renamed(nn.Module):
        _version = 2

        def __init__(self) -> None:
            super().__init__()
            self.new = nn.Parameter(torch.zeros(1))

        def _load_from_state_dict(
            self, state_dict: Any, prefix: str, local_metadata: Any, *args: Any
        ) -> None:
            if local_metadata.get("version", 1) < 2:
                state_dict[prefix + "new"] = state_dict.pop(prefix + "old")
            super()._load_from_state_dict(state_dict, prefix, local_metadata, *args)

    net = nn.Sequential(Renamed())
    given = {"0.old": torch.ones(1)}
    net.load_state_dict(given)
    assert net[0].new.item() == 1
    assert list(given) == ["0.old"]  # what the user gave is not changed
    net.load_state_dict(copy.deepcopy(net.state_dict()))


def test_hooks() -> None:
    net, log = Net(), []
    net.register_state_dict_pre_hook(lambda m, prefix, keep: log.append("saving"))
    net.first.register_state_dict_post_hook(
        lambda m, state, prefix, metadata: state.update({prefix + "note": 1})
    )
    state = net.state_dict()
    assert state["first.note"] == 1
    net.first.register_load_state_dict_pre_hook(
        lambda m, state, prefix, *args: state.pop(prefix + "note")
    )
    net.register_load_state_dict_post_hook(lambda m, keys: log.append(keys.unexpected_keys.copy()))
    net.load_state_dict(state, strict=False)
    assert log == ["saving", []]
    net.register_state_dict_post_hook(lambda *args: {})
    with pytest.raises(RuntimeError, match="post-hook must return None"):
        net.state_dict()


def test_post_hooks_may_forgive() -> None:
    net = Net()
    net.register_load_state_dict_post_hook(lambda m, keys: keys.missing_keys.clear())
    net.load_state_dict({})
    net.register_load_state_dict_post_hook(lambda m, keys: keys)
    with pytest.raises(AssertionError, match="not expected to return new values"):
        net.load_state_dict({})


def test_buffers_that_are_not_saved() -> None:
    net = nn.Module()
    net.kept = nn.Buffer(torch.ones(1))
    net.temporary = nn.Buffer(torch.ones(1), persistent=False)
    assert list(net.state_dict()) == ["kept"]
    assert [name for name, _ in net.named_buffers()] == ["kept", "temporary"]
    net.temporary = torch.zeros(2)  # still one, and still not saved
    assert list(net.state_dict()) == ["kept"]
