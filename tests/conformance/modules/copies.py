"""Copies and pickles of modules."""

from __future__ import annotations

import copy
import io
import pickle
from typing import Any

from tests.conformance.modules.registry import batch, program

# Pickles find classes by their names in a module: one per framework.
_CLASSES: dict[tuple[str, str], type] = {}


def named(t: Any, name: str) -> Any:
    """A class of one framework that pickles can name."""
    key = (t.__name__, name)
    if key not in _CLASSES:
        _CLASSES[key] = _make(t, name)
    return _CLASSES[key]


def _make(t: Any, name: str) -> type:
    def init(self: Any) -> None:
        t.nn.Module.__init__(self)
        self.weight = t.nn.Parameter(t.ones(2, 3, dtype=t.float64))
        self.same = self.weight
        self.register_buffer("scale", t.full((1,), 2.0, dtype=t.float64))
        self.register_buffer("temporary", t.ones(1), persistent=False)
        self.options = {"a": [1, 2]}

    def forward(self: Any, x: Any) -> Any:
        return x @ self.weight.t() * self.scale

    made = type(f"{name}_{t.__name__}", (t.nn.Module,), {"__init__": init, "forward": forward})
    made.__module__ = __name__
    globals()[made.__name__] = made
    return made


def log_to_nowhere(module: Any, args: Any) -> None:
    """A hook that a pickle can name."""


def described(net: Any, original: Any) -> Any:
    return [
        list(net.state_dict()),
        net.weight is original.weight,
        net.weight is net.same,
        net.options == original.options,
        net.options is original.options,
        sorted(net._non_persistent_buffers_set),
        net.training,
        len(net._forward_pre_hooks),
        net.weight.requires_grad,
        net.scale,
    ]


@program
def three_ways(t: Any) -> Any:
    net = named(t, "Net")().eval()
    net.register_forward_pre_hook(log_to_nowhere)
    made = [copy.copy(net), copy.deepcopy(net), pickle.loads(pickle.dumps(net))]
    return [(described(each, net), each(batch(t))) for each in made]


@program
def copies_stand_alone(t: Any) -> Any:
    net = t.nn.Sequential(named(t, "Net")(), named(t, "Net")())
    made = copy.deepcopy(net)
    with t.no_grad():
        made[0].weight.zero_()
    made.register_buffer("new", t.ones(1))
    return net[0].weight, list(net.state_dict()), list(made.state_dict())


@program
def shallow_copies_share(t: Any) -> Any:
    net = named(t, "Net")()
    made = copy.copy(net)
    made.other = t.nn.Parameter(t.ones(1))
    made.training = False
    return hasattr(net, "other"), net.training


@program
def hooks_of_a_deep_copy(t: Any) -> Any:
    net = named(t, "Net")()
    log: list[str] = []
    net.register_forward_hook(lambda m, a, o: log.append(str(m is net)))
    made = copy.deepcopy(net)
    made(batch(t))
    net(batch(t))
    return log


@program
def a_pickle_without_some_hooks(t: Any) -> Any:
    net = named(t, "Net")()
    state = net.__getstate__()
    for name in ("_forward_pre_hooks", "_state_dict_hooks", "_non_persistent_buffers_set"):
        del state[name]
    new = type(net).__new__(type(net))
    new.__setstate__(state)
    return new(batch(t)), sorted(new.__dict__) == sorted(net.__dict__), list(new.state_dict())


@program
def state_of_own_making(t: Any) -> Any:
    class Counting(named(t, "Net")):
        def __getstate__(self) -> Any:
            return {**super().__getstate__(), "count": 1}

        def __setstate__(self, state: Any) -> None:
            self.loaded = state.pop("count")
            super().__setstate__(state)

    net = copy.deepcopy(Counting())
    return net.loaded, list(net.state_dict())


@program
def state_dicts_in_pickles(t: Any) -> Any:
    net = named(t, "Net")()
    file = io.BytesIO()
    pickle.dump(net.state_dict(), file)
    file.seek(0)
    loaded = pickle.load(file)
    return str(net.load_state_dict(loaded)), loaded._metadata, type(loaded).__name__
