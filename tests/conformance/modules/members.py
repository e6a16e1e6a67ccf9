"""Members of modules: how they come, are found, and go."""

from __future__ import annotations

from typing import Any

from tests.conformance.modules.registry import attempt, layer, network, program, warned


@program
def names_of_everything(t: Any) -> Any:
    net = network(t)
    return (
        [name for name, _ in net.named_parameters()],
        [name for name, _ in net.named_parameters(prefix="net")],
        [name for name, _ in net.named_parameters(recurse=False)],
        [name for name, _ in net.named_buffers()],
        [name for name, _ in net.named_buffers(prefix="net", recurse=False)],
        [name for name, _ in net.named_children()],
        [name for name, _ in net.named_modules()],
        [name for name, _ in net.named_modules(prefix="net")],
        [type(module).__name__ for module in net.modules()],
        [type(module).__name__ for module in net.children()],
        [tuple(p.shape) for p in net.parameters()],
        [tuple(p.shape) for p in net.parameters(recurse=False)],
        [tuple(b.shape) for b in net.buffers()],
    )


@program
def shared_members(t: Any) -> Any:
    shared = layer(t, 3, 3)
    net = t.nn.Sequential(shared, shared)
    net.own = shared.weight
    return (
        [name for name, _ in net.named_parameters()],
        [name for name, _ in net.named_parameters(remove_duplicate=False)],
        [name for name, _ in net.named_buffers(remove_duplicate=False)],
        [name for name, _ in net.named_modules()],
        [name for name, _ in net.named_modules(remove_duplicate=False)],
        [name for name, _ in net.named_children()],
        len(list(net.modules(remove_duplicate=False))),
        list(net.state_dict()),
    )


@program
def none_members(t: Any) -> Any:
    net = layer(t)
    net.register_parameter("bias", None)
    net.register_buffer("mean", None)
    net.add_module("child", None)
    net.weight = None
    return (
        list(net.named_parameters()),
        [name for name, _ in net.named_buffers()],
        list(net.named_children()),
        list(net.state_dict()),
        net.bias,
        net.child,
        net.weight,
        repr(net),
    )


@program
def bad_names(t: Any) -> Any:
    net = layer(t)
    parameter, buffer, module = t.nn.Parameter(t.zeros(1)), t.zeros(1), t.nn.Module()
    return [
        attempt(lambda: net.register_parameter("a.b", parameter)),
        attempt(lambda: net.register_parameter("", parameter)),
        attempt(lambda: net.register_parameter(3, parameter)),
        attempt(lambda: net.register_parameter("forward", parameter)),
        attempt(lambda: net.register_buffer("a.b", buffer)),
        attempt(lambda: net.register_buffer("", buffer)),
        attempt(lambda: net.register_buffer(None, buffer)),
        attempt(lambda: net.register_buffer("weight", buffer)),
        attempt(lambda: net.add_module("a.b", module)),
        attempt(lambda: net.add_module("", module)),
        attempt(lambda: net.add_module(2.5, module)),
        attempt(lambda: net.register_module("scale", module)),
    ]


@program
def bad_values(t: Any) -> Any:
    net = layer(t)
    net.child = t.nn.Module()
    weight = net.weight

    def assign(name: str, value: Any) -> Any:
        return attempt(lambda: setattr(net, name, value))

    return [
        attempt(lambda: net.register_parameter("other", t.zeros(1))),
        attempt(lambda: net.register_parameter("other", "text")),
        attempt(lambda: net.register_buffer("other", [1])),
        attempt(lambda: net.add_module("other", t.zeros(1))),
        attempt(lambda: net.add_module("other", 3)),
        assign("weight", t.zeros(1)),
        assign("weight", 1.5),
        assign("child", t.zeros(1)),
        assign("child", "text"),
        assign("scale", 3),
        assign("scale", None),
        net.weight is weight,
        net.scale,
    ]


@program
def a_parameter_with_history(t: Any) -> Any:
    class Odd(t.Tensor):
        pass

    value = (t.ones(2, requires_grad=True) * 2).as_subclass(Odd)
    value._is_param = True
    return attempt(lambda: t.nn.Module().register_parameter("w", value))


@program
def before_init(t: Any) -> Any:
    def make(value: Any) -> Any:
        class Early(t.nn.Module):
            def __init__(self) -> None:
                self.value = value()
                super().__init__()

        return attempt(Early)

    class Late(t.nn.Module):
        def __init__(self) -> None:
            pass

    late = Late()
    return [
        make(lambda: t.nn.Parameter(t.zeros(1))),
        make(lambda: t.nn.Module()),
        make(lambda: t.nn.Buffer(t.zeros(1))),
        type(make(lambda: 3)).__name__,
        attempt(lambda: late.register_parameter("w", t.nn.Parameter(t.zeros(1)))),
        attempt(lambda: late.register_buffer("w", t.zeros(1))),
        attempt(lambda: late.add_module("w", t.nn.Module())),
        attempt(lambda: late(1)),
        attempt(lambda: late.training),
        attempt(lambda: late.missing),
    ]


@program
def a_name_changes_its_kind(t: Any) -> Any:
    net = layer(t)
    log = []

    def note() -> None:
        log.append(
            (
                sorted(net._parameters),
                sorted(net._buffers),
                sorted(net._modules),
                "x" in net.__dict__,
                sorted(net._non_persistent_buffers_set),
            )
        )

    net.x = 3
    note()
    net.x = t.nn.Parameter(t.zeros(1))
    note()
    log.append(attempt(lambda: setattr(net, "x", t.nn.Module())))
    net.x = None
    note()
    del net.x
    net.x = t.nn.Module()
    note()
    net.x = t.nn.Parameter(t.zeros(1))
    note()
    net.register_buffer("y", t.zeros(1), persistent=False)
    note()
    net.y = t.nn.Parameter(t.zeros(1))
    note()
    net.scale = t.nn.Module()
    note()
    return log


@program
def deletion(t: Any) -> Any:
    net = network(t)
    net.register_buffer("b", t.zeros(1), persistent=False)
    net.plain = 1
    del net.offset, net.b, net.first, net.plain
    return [
        list(net.state_dict()),
        sorted(net._non_persistent_buffers_set),
        hasattr(net, "first"),
        attempt(lambda: delattr(net, "first")),
        attempt(lambda: delattr(net, "nothing")),
        attempt(lambda: net.nothing),
        repr(net),
    ]


@program
def by_path(t: Any) -> Any:
    net = network(t)
    return [
        net.get_submodule("") is net,
        repr(net.get_submodule("second.1")),
        tuple(net.get_parameter("second.0.weight").shape),
        net.get_buffer("first.scale"),
        attempt(lambda: net.get_submodule("second.7")),
        attempt(lambda: net.get_submodule("third.0")),
        attempt(lambda: net.get_submodule("first.weight")),
        attempt(lambda: net.get_parameter("first.scale")),
        attempt(lambda: net.get_parameter("first.bias")),
        attempt(lambda: net.get_buffer("first.weight")),
        attempt(lambda: net.get_buffer("first.mean")),
        attempt(lambda: net.get_buffer("nowhere.mean")),
    ]


@program
def set_by_path(t: Any) -> Any:
    net = network(t)
    net.set_submodule("second.1", t.nn.Sequential())
    net.set_submodule("second.new", layer(t))
    net.set_submodule("third", layer(t))
    return [
        repr(net),
        attempt(lambda: net.set_submodule("", layer(t))),
        attempt(lambda: net.set_submodule("second.9", layer(t), strict=True)),
        attempt(lambda: net.set_submodule("second.0.weight", layer(t))),
        attempt(lambda: net.set_submodule("first", 3)),
        attempt(lambda: net.set_submodule("nowhere.9", layer(t))),
    ]


@program
def buffers(t: Any) -> Any:
    net = t.nn.Module()
    net.a = t.nn.Buffer(t.ones(2))
    net.b = t.nn.Buffer(t.ones(2), persistent=False)
    net.register_buffer("c", t.ones(1))
    net.c = t.zeros(3)
    net.b = t.zeros(4)
    net.d = t.ones(1)  # an ordinary attribute
    return [
        [(name, tuple(b.shape)) for name, b in net.named_buffers()],
        list(net.state_dict()),
        sorted(net._non_persistent_buffers_set),
        "d" in net.__dict__,
        isinstance(net.a, t.nn.Buffer),
        isinstance(net.c, t.nn.Buffer),
        type(net.a).__name__,
        isinstance(net.a, t.nn.Parameter),
    ]


@program
def buffers_of_an_old_class(t: Any) -> Any:
    class Old(t.nn.Module):
        def register_buffer(self, name: str, tensor: Any) -> None:
            super().register_buffer(name, tensor)

    net = Old()
    net.a = t.nn.Buffer(t.ones(2))
    return [
        list(net.state_dict()),
        attempt(lambda: setattr(net, "b", t.nn.Buffer(t.ones(2), persistent=False))),
    ]


@program
def attributes_listed(t: Any) -> Any:
    net = network(t)
    net.plain = 3
    wanted = ("first", "second", "offset", "plain", "forward", "training", "_modules", "state_dict")
    return [name in dir(net) for name in wanted], [n for n in dir(net.second) if n[0].isdigit()]


@program
def training_mode(t: Any) -> Any:
    net = network(t)
    log = [[m.training for m in net.modules()]]
    log.append([net.eval() is net, [m.training for m in net.modules()]])
    net.first.train()
    log.append([m.training for m in net.modules()])
    log.append([m.training for m in net.train().modules()])
    log.append(attempt(lambda: net.train("yes")))
    log.append(attempt(lambda: net.train(1)))
    return log


@program
def gradients_on_and_off(t: Any) -> Any:
    net = network(t)
    log = [[p.requires_grad for p in net.first.requires_grad_(False).parameters()]]
    log.append([p.requires_grad for p in net.parameters()])
    log.append(net.requires_grad_() is net)
    log.append([p.requires_grad for p in net.parameters()])
    return log


@program
def gradients_zeroed(t: Any) -> Any:
    net = network(t)
    x = t.ones(1, 3, dtype=t.float64)
    net(x).sum().backward()
    net.zero_grad(set_to_none=False)
    log = [p.grad for p in net.parameters()]
    warned(lambda: net(x).sum().backward(create_graph=True))
    net.zero_grad(set_to_none=False)
    log += [(p.grad, p.grad.requires_grad) for p in net.parameters()]
    net.zero_grad()
    return [*log, [p.grad for p in net.parameters()]]


@program
def applied_in_order(t: Any) -> Any:
    net = network(t)
    names = {module: name for name, module in net.named_modules()}
    order: list[str] = []
    return net.apply(lambda module: order.append(names[module])) is net, order


@program
def registration_hooks(t: Any) -> Any:
    module = t.nn.modules.module
    log: list[Any] = []
    handles = [
        module.register_module_parameter_registration_hook(
            lambda m, name, p: log.append(("parameter", name, tuple(p.shape)))
        ),
        module.register_module_buffer_registration_hook(
            lambda m, name, b: log.append(("buffer", name, tuple(b.shape)))
        ),
        module.register_module_module_registration_hook(
            lambda m, name, c: log.append(("module", name, type(c).__name__))
        ),
        module.register_module_buffer_registration_hook(lambda m, name, b: b * 10),
    ]
    net = network(t)
    for handle in handles:
        handle.remove()
    layer(t)
    return log, net.first.scale
