"""Lazy modules: those whose sizes the first input tells."""

from __future__ import annotations

import copy
from typing import Any

from tests.conformance.modules.registry import attempt, program


def lazy(t: Any) -> Any:
    class Layer(t.nn.Module):
        def __init__(self, width: int) -> None:
            super().__init__()
            self.weight = t.nn.Parameter(t.ones(width))

        def forward(self, x: Any) -> Any:
            return x * self.weight

    class LazyLayer(t.nn.modules.lazy.LazyModuleMixin, Layer):
        cls_to_become = Layer

        def __init__(self) -> None:
            super().__init__(0)
            self.weight = t.nn.UninitializedParameter()
            self.register_buffer("seen", t.nn.UninitializedBuffer())

        def initialize_parameters(self, x: Any) -> None:
            if self.has_uninitialized_params():
                with t.no_grad():
                    self.weight.materialize(x.shape[-1:])
                    self.weight.fill_(3)
                    self.seen.materialize((1,))
                    self.seen.zero_()

    return LazyLayer()


@program
def first_input(t: Any) -> Any:
    net = lazy(t)
    log = [type(net).__name__, net.has_uninitialized_params(), repr(net)]
    log.append(net(t.ones(2, 4)))
    return [
        *log,
        type(net).__name__,
        type(net.weight).__name__,
        type(net.seen).__name__,
        len(net._forward_pre_hooks),
        len(net._load_state_dict_pre_hooks),
        hasattr(net, "_initialize_hook"),
        net(t.ones(1, 4)),
    ]


@program
def state_dicts(t: Any) -> Any:
    net, other = lazy(t), lazy(t)
    log = [[type(value).__name__ for value in net.state_dict().values()]]
    log.append(str(other.load_state_dict(net.state_dict())))
    net(t.ones(1, 5))
    log.append(str(other.load_state_dict(net.state_dict())))
    log.append((type(other).__name__, tuple(other.weight.shape), type(other.weight).__name__))
    log.append(attempt(lambda: net.load_state_dict(lazy(t).state_dict())).split(":")[0])
    return log


@program
def conversions(t: Any) -> Any:
    net = lazy(t).double()
    made = lazy(t)
    del made.seen  # torch cannot copy a buffer without size
    made.initialize_parameters = lambda x: made.weight.materialize(x.shape[-1:])
    made = copy.deepcopy(made).double()
    log = [net.has_uninitialized_params(), type(made).__name__]
    net(t.ones(1, 2, dtype=t.float64))
    log.append((str(net.weight.dtype), tuple(net.weight.shape)))
    log.append(made.has_uninitialized_params())
    made(t.ones(1, 3, dtype=t.float64))
    log.append((tuple(made.weight.shape), len(made._forward_pre_hooks), type(made).__name__))
    return log


@program
def unfinished(t: Any) -> Any:
    class Careless(t.nn.modules.lazy.LazyModuleMixin, t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = t.nn.UninitializedParameter()

    class Forgetful(Careless):
        def initialize_parameters(self, x: Any) -> None:
            pass

    return [
        attempt(lambda: Careless()(t.ones(1))),
        attempt(lambda: Forgetful()(t.ones(1))),
        attempt(lambda: Careless()._replicate_for_data_parallel()),
        attempt(lambda: lazy(t).share_memory()),
    ]
