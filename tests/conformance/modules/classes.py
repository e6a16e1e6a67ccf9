"""Classes of modules: other bases, attributes and constructors of their own."""

from __future__ import annotations

import abc
import dataclasses
import gc
import weakref
from typing import Any, Generic, TypeVar

from tests.conformance.modules.registry import attempt, layer, program


@program
def constructor_arguments(t: Any) -> Any:
    class Plain(t.nn.Module):
        pass

    class Other:
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            self.given = (args, kwargs)

    class Both(t.nn.Module, Other):
        call_super_init = True

    class Neither(t.nn.Module, Other):
        pass

    return [
        attempt(lambda: Plain(1)),
        attempt(lambda: Plain(1, 2)),
        attempt(lambda: Plain(a=1)),
        Both(1, a=2).given,
        attempt(lambda: Neither().given),
    ]


@program
def dynamic_attributes(t: Any) -> Any:
    class Wrapper(t.nn.Module):
        def __init__(self, inner: Any) -> None:
            super().__init__()
            self.inner = inner

        def __getattr__(self, name: str) -> Any:
            try:
                return super().__getattr__(name)
            except AttributeError:
                return getattr(self.inner, name)

    net = Wrapper(layer(t))
    return [
        tuple(net.weight.shape),
        repr(net.inner),
        attempt(lambda: net.nothing),
        hasattr(net, "scale"),
    ]


@program
def a_property_that_fails(t: Any) -> Any:
    class Broken(t.nn.Module):
        @property
        def value(self) -> Any:
            return self.missing

        @property
        def checked(self) -> Any:
            raise ValueError("no value")

    net = Broken()
    return [
        attempt(lambda: net.value),
        attempt(lambda: net.checked),
        attempt(lambda: setattr(net, "checked", 3)),
    ]


@program
def slots_and_weak_references(t: Any) -> Any:
    class Slotted(t.nn.Module):
        __slots__ = ("fast",)

        def __init__(self) -> None:
            super().__init__()
            self.fast = 3
            self.me = [self]  # a cycle, which the collector has to find

    net = Slotted()
    reference = weakref.ref(net)
    log = ["fast" in net.__dict__, net.fast, reference() is net]
    del net
    gc.collect()
    return [*log, reference() is None]


@program
def setattr_of_other_classes(t: Any) -> Any:
    log: list[Any] = []

    class Noting:
        def __setattr__(self, name: str, value: Any) -> None:
            log.append(name)
            super().__setattr__(name, value)

    class After(t.nn.Module, Noting):
        pass

    class Before(Noting, t.nn.Module):
        pass

    class Own(t.nn.Module):
        def __setattr__(self, name: str, value: Any) -> None:
            log.append(("own", name))
            super().__setattr__(name, value)

    nets = (After(), Before(), Own())
    log.clear()  # of what setting them up has set
    for net in nets:
        net.x = 3
        net.layer = layer(t)
        net.weight = t.nn.Parameter(t.ones(1))
        net.h = t.ones(2)
        net.weight = None
        log.append(sorted(net.state_dict()))
    object.__setattr__(net, "around", layer(t))
    return log, "around" in net._modules, "h" in net.__dict__


@program
def classes_of_every_kind(t: Any) -> Any:
    T = TypeVar("T")
    registry: list[Any] = []

    class Registered:
        def __init_subclass__(cls, key: str = "", **kwargs: Any) -> None:
            super().__init_subclass__(**kwargs)
            registry.append((cls.__name__, key))

    class Abstract(t.nn.Module, abc.ABC):
        @abc.abstractmethod
        def forward(self, x: Any) -> Any: ...

    class Concrete(Abstract):
        def forward(self, x: Any) -> Any:
            return x + 1

    class Typed(t.nn.Module, Generic[T]):
        def forward(self, x: T) -> T:
            return x

    class Keyed(t.nn.Module, Registered, key="after"):
        pass

    class KeyedFirst(Registered, t.nn.Module, key="before"):
        pass

    @dataclasses.dataclass(eq=False)
    class Data(t.nn.Module):
        width: int
        depth: int = 2

        def __post_init__(self) -> None:
            super().__init__()
            self.layer = layer(t, self.width, self.depth)

        def forward(self, x: Any) -> Any:
            return self.layer(x)

    return [
        attempt(Abstract).split(" '")[0].split(" method")[0],
        Concrete()(1),
        Typed[int]()(2),
        registry,
        list(Keyed().state_dict()),
        Data(3).layer(t.ones(1, 3, dtype=t.float64)),
        list(Data(width=3).state_dict()),
        [hasattr(t.nn.Module, name) for name in ("__call__", "__getattr__", "__setattr__")],
        attempt(lambda: t.nn.Module.__getattr__(layer(t), "weight")),
        attempt(lambda: t.nn.Module.__setattr__(layer(t), "weight", 3)),
        attempt(lambda: getattr(layer(t), "no such name", "default")),
        isinstance(Typed(), t.nn.Module),
        issubclass(Keyed, Registered),
    ]


@program
def annotated_members(t: Any) -> Any:
    class Annotated(t.nn.Module):
        weight: t.Tensor
        count: int = 3

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", t.ones(1))

    net = Annotated()
    net.count += 1
    net.weight += 1  # changed in place, and set to itself
    return net.weight, net.count, Annotated.count, list(net.state_dict())
