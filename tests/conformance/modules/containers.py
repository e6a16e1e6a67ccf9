"""Containers: every way to build and edit them."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from tests.conformance.modules.registry import attempt, batch, layer, network, program


def sizes(modules: Any) -> Any:
    return [tuple(module.weight.shape) for module in modules]


def sequence(t: Any) -> Any:
    return t.nn.Sequential(*(layer(t, n, n + 1) for n in range(1, 6)))


@program
def sequential_runs(t: Any) -> Any:
    net = t.nn.Sequential(OrderedDict(a=layer(t, 3, 4), b=layer(t, 4, 2)))
    return net(batch(t)), t.nn.Sequential()(batch(t)), list(net.state_dict()), repr(net)


@program
def sequential_items(t: Any) -> Any:
    net = sequence(t)
    return [
        len(net),
        sizes(net),
        sizes([net[0], net[-1], net[2]]),
        sizes(net[1:3]),
        repr(net[1:4:2]),
        repr(net[::-1]),
        type(net[:2]).__name__,
        attempt(lambda: net[5]),
        attempt(lambda: net[-6]),
        attempt(lambda: net["0"]),
        attempt(lambda: net[1.5]),
        net[1] in list(net),
    ]


@program
def sequential_edited(t: Any) -> Any:
    net = sequence(t)
    log = []
    net[1] = layer(t, 9, 9)
    log.append(repr(net))
    del net[0]
    log.append(repr(net))
    del net[1:3]
    log.append(repr(net))
    log.append(net.append(layer(t, 7, 7)) is net)
    log.append(net.extend([layer(t, 8, 8), layer(t, 8, 9)]) is net)
    log.append(net.insert(1, layer(t, 5, 5)) is net)
    net.insert(-1, layer(t, 6, 6))
    net.insert(len(net), layer(t, 4, 4))
    log.append(repr(net))
    log.append(sizes([net.pop(0), net.pop(-1)]))
    log.append(sizes(net.pop(slice(0, 2))))
    log.append(repr(net))
    log.append(list(net.state_dict()))
    return log


@program
def sequential_of_names_edited(t: Any) -> Any:
    net = t.nn.Sequential(OrderedDict(a=layer(t, 1, 2), b=layer(t, 2, 3), c=layer(t, 3, 4)))
    net[1] = layer(t, 7, 7)
    log = [repr(net), repr(net[1:])]
    net.append(layer(t, 4, 5))
    log.append(repr(net))
    del net[0]
    return [*log, repr(net), attempt(lambda: net.insert(1, layer(t, 6, 6))), repr(net)]


@program
def sequential_arithmetic(t: Any) -> Any:
    one, two = sequence(t)[:2], sequence(t)[3:]
    log = [sizes(one + two), sizes(one * 3), sizes(2 * one), len(one)]
    one += two
    log.append(repr(one))
    one *= 2
    log.append(repr(one))
    return [
        *log,
        attempt(lambda: one.__add__([layer(t)])),
        attempt(lambda: one.__iadd__(3)),
        attempt(lambda: one * 0),
        attempt(lambda: one * -1).split(" for ")[0],
        attempt(lambda: one * 1.5).split(" and ")[-1],
        attempt(lambda: one.__imul__(0)).split(" for ")[0],
        attempt(lambda: one.insert(100, layer(t))),
        attempt(lambda: one.insert(0, 3)).split(":")[0],
        attempt(lambda: one.append(3)),
        attempt(lambda: t.nn.Sequential(layer(t), 3)),
        attempt(lambda: t.nn.Sequential(layer(t), None)(batch(t))),
    ]


@program
def module_list(t: Any) -> Any:
    net = t.nn.ModuleList(layer(t, n, n) for n in range(1, 6))
    log = [len(net), sizes(net), sizes(net[1:3]), type(net[:2]).__name__, sizes([net[-1]])]
    net[0] = layer(t, 9, 9)
    del net[1]
    log.append(repr(net))
    del net[::2]
    log.append(repr(net))
    log.append(net.append(layer(t)) is net)
    log.append(net.extend([layer(t, 2, 2)]) is net)
    log.append(net.insert(1, layer(t, 7, 7)))
    net += [layer(t, 6, 6)]
    log.append(repr(net))
    log.append(sizes(net + t.nn.ModuleList([layer(t, 3, 3)])))
    log.append(sizes([net.pop(1)]))
    log.append(list(net.state_dict()))
    return [
        *log,
        attempt(lambda: net[10]),
        attempt(lambda: net["a"]),
        attempt(lambda: net.extend(3)),
        attempt(lambda: net.append(None)),
        attempt(lambda: net.append(3)),
        attempt(lambda: net(batch(t))),
    ]


@program
def module_dict(t: Any) -> Any:
    net = t.nn.ModuleDict({"b": layer(t, 1, 1), "a": layer(t, 2, 2)})
    net["c"] = layer(t, 3, 3)
    log = [len(net), list(net), list(net.keys()), sizes(net.values()), "a" in net, "z" in net]
    log.append([(key, tuple(m.weight.shape)) for key, m in net.items()])
    net.update([("d", layer(t, 4, 4)), ("a", layer(t, 5, 5))])
    net.update(t.nn.ModuleDict({"e": layer(t, 1, 1)}))
    log.append(repr(net))
    log.append(sizes([net.pop("b"), net["a"]]))
    del net["c"]
    log.append(list(net.state_dict()))
    net.clear()
    return [
        *log,
        len(net),
        attempt(lambda: net["q"]),
        attempt(lambda: net.pop("q")),
        attempt(lambda: net.update(3)),
        attempt(lambda: net.update([3])),
        attempt(lambda: net.update([(1, 2, 3)])),
        attempt(lambda: net.__setitem__("keys", layer(t))),
        attempt(lambda: net.__setitem__("a.b", layer(t))),
        attempt(lambda: net.__setitem__(1, layer(t))),
        attempt(lambda: net(batch(t))),
    ]


@program
def parameter_list(t: Any) -> Any:
    values = t.nn.ParameterList([t.ones(1), t.nn.Parameter(t.ones(2)), 3])
    log = [len(values), values[0], values[-1], [type(v).__name__ for v in values]]
    values[1] = t.zeros(4)
    log.append(values.append(t.ones(5)) is values)
    values += [t.ones(6)]
    log.append(values.extend((t.ones(7), "text")) is values)
    log.append(repr(values))
    log.append(repr(values[1:4]))
    log.append(type(values[:1]).__name__)
    log.append([name for name, _ in values.named_parameters()])
    log.append(list(values.state_dict()))
    log.append([n for n in dir(values) if n.isdigit()])
    return [
        *log,
        attempt(lambda: values[10]),
        attempt(lambda: values["a"]),
        attempt(lambda: values.extend(3)),
        attempt(lambda: values.extend(t.ones(2))),
        attempt(lambda: values()),
    ]


@program
def parameter_dict(t: Any) -> Any:
    values = t.nn.ParameterDict({"b": t.ones(1), "a": t.nn.Parameter(t.ones(2)), "n": 3})
    log = [len(values), list(values), list(reversed(values)), "a" in values, values["n"]]
    values["c"] = t.zeros(3)
    log.append([(key, type(value).__name__) for key, value in values.items()])
    log.append(values.get("z"))
    log.append(values.get("z", 4))
    log.append(values.setdefault("d", t.ones(1)))
    log.append(values.setdefault("b", t.zeros(9)))
    log.append(repr(values.copy()))
    log.append(values.popitem())
    log.append(values.pop("n"))
    log.append(repr(values | t.nn.ParameterDict({"e": t.ones(1)})))
    values |= t.nn.ParameterDict({"f": t.ones(1)})
    values.update(OrderedDict(z=t.ones(1), y=t.ones(1)))
    values.update([("x", t.ones(1))])
    log.append(repr(values))
    log.append(list(values.state_dict()))
    log.append([tuple(v.shape) for v in values.values()])
    log.append(repr(values.fromkeys(["p", "q"], 1)))
    del values["a"]
    log.append(list(values.keys()))
    values.clear()
    return [
        *log,
        len(values),
        attempt(lambda: values["q"]),
        attempt(lambda: values.pop("q")),
        attempt(lambda: values.popitem()),
        attempt(lambda: values.__setitem__(3, t.ones(1))),
        attempt(lambda: values.update([(1, 2, 3)])),
        attempt(lambda: values.update([5])),
        attempt(lambda: values(1)),
    ]


@program
def subclasses_of_sequential(t: Any) -> Any:
    class Backwards(t.nn.Sequential):
        def __iter__(self) -> Any:
            return reversed(list(self._modules.values()))

    class Residual(t.nn.Sequential):
        def forward(self, x: Any) -> Any:
            return x + super().forward(x)

    return (
        Backwards(layer(t, 4, 2), layer(t, 3, 4))(batch(t)),
        Residual(layer(t, 3, 3))(batch(t)),
        repr(Residual(layer(t, 3, 3))[:1]),
        attempt(lambda: t.nn.Sequential(layer(t))(batch(t), batch(t))).split("(")[0],
        t.nn.Sequential(layer(t))(input=batch(t)),
    )


@program
def old_container(t: Any) -> Any:
    from tests.conformance.modules.registry import warned

    log: list[Any] = []
    log.append(warned(lambda: log.append(repr(t.nn.Container(a=network(t))))))
    return log
