"""Modules with other element types and devices."""

from __future__ import annotations

import warnings
from typing import Any

from tests.conformance.modules.registry import attempt, batch, network, program, warned


def mixed(t: Any) -> Any:
    net = network(t)
    net.register_buffer("count", t.arange(3))
    net.register_buffer("flag", t.tensor([True]))
    return net


def types(net: Any) -> Any:
    return [str(value.dtype) for value in net.state_dict().values()]


@program
def element_types(t: Any) -> Any:
    return [
        types(mixed(t).float()),
        types(mixed(t).half()),
        types(mixed(t).bfloat16()),
        types(mixed(t).float().double()),
        types(mixed(t).to(t.float32)),
        types(mixed(t).to(dtype=t.float16)),
        types(mixed(t).to("cpu", t.float32)),
        types(mixed(t).to(t.ones(1))),
        types(mixed(t).to(tensor=t.ones(1, dtype=t.float16))),
        types(mixed(t).to("cpu")),
        types(mixed(t).to(device=t.device("cpu"), dtype=t.float32, non_blocking=True)),
        types(mixed(t).cpu()),
        types(mixed(t).type(t.float32)),
        types(mixed(t).type("torch.DoubleTensor")),
        types(mixed(t).to(None)),
    ]


@program
def refused(t: Any) -> Any:
    net = mixed(t)
    return [
        attempt(lambda: net.to(t.int64)),
        attempt(lambda: net.to(t.bool)),
        attempt(lambda: net.to(t.float32, t.float64)).split(":")[0],
        attempt(lambda: net.to(1, 2, 3, 4, 5, 6)).split(":")[0],
        attempt(lambda: net.to(nothing=3)).split(":")[0],
        attempt(lambda: net.to("nowhere")).split(":")[0],
        types(net),
    ]


@program
def complex_numbers(t: Any) -> Any:
    net = mixed(t)
    said = warned(lambda: net.to(t.complex128))
    return [text.split(".")[0] for text in said], types(net)


@program
def objects_stay(t: Any) -> Any:
    net = network(t)
    net(batch(t)).sum().backward()
    before = list(net.parameters())
    grads = [p.grad for p in before]
    buffers = list(net.buffers())
    result = net.float()
    return [
        result is net,
        all(a is b for a, b in zip(before, net.parameters(), strict=True)),
        all(p.grad is g for p, g in zip(before, grads, strict=True)),
        [str(p.grad.dtype) for p in before],
        [p.is_leaf for p in before],
        [a is b for a, b in zip(buffers, net.buffers(), strict=True)],
        net(batch(t).float()),
    ]


@program
def memory_formats(t: Any) -> Any:
    net = t.nn.Module()
    net.four = t.nn.Parameter(t.ones(2, 3, 4, 5))
    net.two = t.nn.Parameter(t.ones(2, 3))
    net.to(memory_format=t.channels_last)
    return [p.stride() for p in net.parameters()]


@program
def without_elements(t: Any) -> Any:
    net = mixed(t)
    weight = net.first.weight
    net.to_empty(device="cpu")
    return types(net), weight is net.first.weight, [tuple(p.shape) for p in net.parameters()]


@program
def own_function(t: Any) -> Any:
    net = network(t)
    net._apply(lambda x: x * 2)
    log = [list(net.parameters()), list(net.buffers())]
    net._apply(lambda x: x * 0, recurse=False)
    return [*log, list(net.parameters())]


@program
def shared_after_conversion(t: Any) -> Any:
    net = t.nn.Module()
    net.a = t.nn.Linear(2, 2) if hasattr(t.nn, "Linear") else t.nn.Module()
    net.w = t.nn.Parameter(t.ones(1, dtype=t.float64))
    net.v = net.w
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        net.float()
    return net.w is net.v, str(net.w.dtype)
