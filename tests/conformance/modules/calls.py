"""Calls: what is looked up when, and what may be overridden."""

from __future__ import annotations

import copy
from typing import Any

from tests.conformance.modules.registry import attempt, batch, layer, program


@program
def no_forward(t: Any) -> Any:
    class Empty(t.nn.Module):
        pass

    return [
        attempt(lambda: Empty()(1)),
        attempt(lambda: t.nn.Module()()),
        attempt(lambda: t.nn.ModuleList()(1)),
    ]


@program
def arguments(t: Any) -> Any:
    class Echo(t.nn.Module):
        def forward(self, *args: Any, **kwargs: Any) -> Any:
            return args, kwargs

    net = Echo()
    many = {f"k{i}": i for i in range(30)}
    return [net(), net(1), net(1, 2, 3), net(a=1), net(1, a=2), net(*range(40)), net(1, **many)]


@program
def wrong_arguments(t: Any) -> Any:
    class One(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return x

    net = One()
    return [
        attempt(lambda: net()).split("forward()")[-1],
        attempt(lambda: net(1, 2)).split("forward()")[-1],
        attempt(lambda: net(y=1)).split("forward()")[-1],
        attempt(lambda: net(1, x=1)).split("forward()")[-1],
    ]


@program
def forward_of_the_instance(t: Any) -> Any:
    net = layer(t)
    log = [net(batch(t))]
    net.forward = lambda x: x * 5
    log.append(net(batch(t)))
    del net.forward
    log.append(net(batch(t)))
    type(net).forward = lambda self, x: x * 7
    log.append(net(batch(t)))
    return log


@program
def forward_of_other_kinds(t: Any) -> Any:
    class Static(t.nn.Module):
        @staticmethod
        def forward(x: Any) -> Any:
            return ("static", x)

    class ClassMethod(t.nn.Module):
        @classmethod
        def forward(cls, x: Any) -> Any:
            return (cls.__name__, x)

    class Callable:
        def __call__(self, *args: Any) -> Any:
            return ("callable", args)

    class Attribute(t.nn.Module):
        forward = Callable()

    class Property(t.nn.Module):
        @property
        def forward(self) -> Any:
            return lambda x: ("property", x)

    class Module(t.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.forward = layer(t).forward

    return [
        Static()(1),
        ClassMethod()(2),
        Attribute()(3),
        Property()(4),
        Module()(batch(t)),
    ]


@program
def own_call(t: Any) -> Any:
    class Own(t.nn.Module):
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return "own", super().__call__(*args, **kwargs)

        def forward(self, x: Any) -> Any:
            return x + 1

    net = Own()
    log: list[Any] = []
    net.register_forward_hook(lambda m, a, o: log.append("hook"))
    log.append(net(1))
    log.append(t.nn.Sequential(net)(2))
    log.append(t.nn.Module.__call__(net, 3))
    log.append(net.__call__(4))
    log.append(net._call_impl(5))
    return log


@program
def call_put_on_a_class(t: Any) -> Any:
    class Later(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return x + 1

    class Sub(Later):
        pass

    net, sub = Later(), Sub()
    log = [net(1), sub(1)]
    Later.__call__ = lambda self, x: ("put", x)
    log += [net(1), sub(1)]
    del Later.__call__
    return [*log, net(1), sub(1)]


@program
def multiple_inheritance(t: Any) -> Any:
    class Mixin:
        def forward(self, x: Any) -> Any:
            return self.prepare(x) + 1

        def prepare(self, x: Any) -> Any:
            return x * 10

    class Base(t.nn.Module):
        def prepare(self, x: Any) -> Any:
            return x * 100

    class One(Mixin, Base):
        pass

    class Two(Base, Mixin):
        pass

    return One()(1), attempt(lambda: Two()(1)), isinstance(One(), t.nn.Module)


@program
def called_within(t: Any) -> Any:
    """Errors of a forward come out as they are, with their own class and cause."""

    class Own(Exception):
        pass

    class Failing(t.nn.Module):
        def forward(self, x: Any) -> Any:
            if x > 2:
                raise Own("too large")
            return self(x + 1)

    return attempt(lambda: t.nn.Sequential(Failing())(0))


@program
def functions_over_modules(t: Any) -> Any:
    def call(values: Any, **options: Any) -> Any:
        net = layer(t, 3, 3)
        return attempt(lambda: t.func.functional_call(net, values, (x,), **options)), net.weight

    x, net = batch(t), layer(t, 3, 3)
    weights = {"weight": t.eye(3, dtype=t.float64)}
    tied = t.nn.Sequential(net, layer(t, 3, 3))
    tied[1].weight = net.weight
    state = t.func.stack_module_state([net, copy.deepcopy(net)])
    return [
        call(weights),
        call((weights, {"scale": t.ones(1)})),
        call({"nothing": x}),
        call({"no.thing": x}),
        call(weights, strict=True),
        call({"nothing": x, **weights}, strict=True),
        t.func.functional_call(tied, {"0.weight": weights["weight"]}, x),
        t.func.functional_call(tied, {"0.weight": weights["weight"]}, x, tie_weights=False),
        {name: tuple(value.shape) for part in state for name, value in part.items()},
        t.func.grad(lambda w: t.func.functional_call(net, w, (x,)).sum())(weights),
    ]


@program
def compiled(t: Any) -> Any:
    net = layer(t)
    return net.compile(backend="eager"), net.training
