"""Hooks: which are called, in which order, with what, and what becomes of what they return."""

from __future__ import annotations

from typing import Any

from tests.conformance.modules.registry import attempt, batch, layer, network, program, warned


def summary(value: Any) -> Any:
    """Sizes in the place of tensors."""
    if isinstance(value, (tuple, list)):
        return [summary(each) for each in value]
    return list(value.shape) if hasattr(value, "shape") else value


class Log(list):
    """Hooks that note that they were called, with what."""

    def __call__(self, label: str, result: Any = None) -> Any:
        def hook(module: Any, *args: Any) -> Any:
            self.append((label, type(module).__name__, summary(list(args))))
            return result

        return hook


@program
def every_kind_in_order(t: Any) -> Any:
    net, log = network(t), Log()
    for name, module in net.named_modules():
        module.register_forward_pre_hook(log(f"{name} pre"))
        module.register_forward_hook(log(f"{name} forward"))
        module.register_full_backward_pre_hook(log(f"{name} backward pre"))
        module.register_full_backward_hook(log(f"{name} backward"))
    x = batch(t, requires_grad=True)
    y = net(x)
    log.append("forward done")
    y.sum().backward()
    return log, x.grad, [p.grad for p in net.parameters()]


@program
def order_of_the_same_kind(t: Any) -> Any:
    net, log = layer(t), Log()
    net.register_forward_hook(log("1"))
    net.register_forward_hook(log("2"))
    net.register_forward_hook(log("0"), prepend=True)
    net.register_forward_pre_hook(log("pre 1"))
    net.register_forward_pre_hook(log("pre 0"), prepend=True)
    net.register_full_backward_hook(log("back 1"))
    net.register_full_backward_hook(log("back 0"), prepend=True)
    net.register_full_backward_pre_hook(log("back pre 1"))
    net.register_full_backward_pre_hook(log("back pre 0"), prepend=True)
    net(batch(t, requires_grad=True)).sum().backward()
    return log


@program
def global_hooks(t: Any) -> Any:
    module, log, net = t.nn.modules.module, Log(), network(t)
    net.first.register_forward_pre_hook(log("own pre"))
    net.first.register_forward_hook(log("own forward"))
    net.first.register_full_backward_pre_hook(log("own backward pre"))
    net.first.register_full_backward_hook(log("own backward"))
    handles = [
        module.register_module_forward_pre_hook(log("pre")),
        module.register_module_forward_hook(log("forward")),
        module.register_module_forward_hook(log("forward kwargs"), with_kwargs=True),
        module.register_module_full_backward_pre_hook(log("backward pre")),
        module.register_module_full_backward_hook(log("backward")),
    ]
    try:
        net(batch(t, requires_grad=True)).sum().backward()
        refused = attempt(lambda: module.register_module_backward_hook(log("old")))
    finally:
        for handle in handles:
            handle.remove()
    count = len(log)
    net.second(t.ones(1, 4, dtype=t.float64))
    return log, refused, len(log) - count


@program
def changed_arguments(t: Any) -> Any:
    log = []
    for result in (lambda x: x * 2, lambda x: (x * 3,), lambda x: None):
        net = layer(t)
        net.register_forward_pre_hook(lambda m, args, result=result: result(args[0]))
        log.append(net(batch(t)))
    net = layer(t)
    net.register_forward_pre_hook(lambda m, args: (args[0] + 1,))
    net.register_forward_pre_hook(lambda m, args: (args[0] * 2,))
    net.register_forward_hook(lambda m, args, out: out + args[0].sum())
    net.register_forward_hook(lambda m, args, out: (out, args[0]))
    return [*log, net(batch(t))]


@program
def keyword_arguments(t: Any) -> Any:
    class Scaled(t.nn.Module):
        def forward(self, x: Any, *, by: float = 1.0) -> Any:
            return x * by

    net, log = Scaled(), Log()
    net.register_forward_pre_hook(log("plain pre"))
    net.register_forward_pre_hook(log("pre"), with_kwargs=True)
    net.register_forward_pre_hook(
        lambda m, args, kwargs: (args, {"by": kwargs["by"] + 1}), with_kwargs=True
    )
    net.register_forward_hook(log("plain"))
    net.register_forward_hook(log("forward"), with_kwargs=True)
    net.register_forward_hook(lambda m, args, kwargs, out: out + kwargs["by"], with_kwargs=True)
    result = net(batch(t), by=2.0)
    net.register_forward_pre_hook(lambda m, args, kwargs: args, with_kwargs=True)
    return log, result, attempt(lambda: net(3.0, by=1.0))


@program
def failing_forward(t: Any) -> Any:
    class Failing(t.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no forward")

    net, log = Failing(), Log()
    net.register_forward_hook(log("never"))
    net.register_forward_hook(log("always"), always_call=True)
    net.register_forward_hook(log("with kwargs"), always_call=True, with_kwargs=True)
    return attempt(lambda: net(3)), log


@program
def failing_hooks(t: Any) -> Any:
    net, log = layer(t), Log()

    def fail(module: Any, args: Any, out: Any) -> None:
        log.append("failing")
        raise ValueError("a hook failed")

    net.register_forward_hook(log("first"), always_call=True)
    net.register_forward_hook(fail)
    net.register_forward_hook(log("last"), always_call=True)
    first = attempt(lambda: net(batch(t)))

    class Failing(t.nn.Module):
        def forward(self, x: Any) -> Any:
            raise KeyError("no forward")

    broken = Failing()
    broken.register_forward_hook(fail, always_call=True)
    said = warned(lambda: log.append(attempt(lambda: broken(1))))
    return first, log, said


@program
def global_hooks_always_called(t: Any) -> Any:
    class Failing(t.nn.Module):
        def forward(self, x: Any) -> Any:
            raise ValueError("no forward")

    module, log = t.nn.modules.module, Log()
    with module.register_module_forward_hook(log("global"), always_call=True):
        first = attempt(lambda: Failing()(3))
    return first, log, attempt(lambda: Failing()(3)), len(log)


@program
def changed_gradients(t: Any) -> Any:
    net = network(t)
    net.first.register_full_backward_hook(lambda m, gi, go: (gi[0] * 10,))
    net.second.register_full_backward_pre_hook(lambda m, go: (go[0] * 3,))
    net.second[1].register_full_backward_hook(lambda m, gi, go: (gi[0] + go[0].sum(),))
    x = batch(t, requires_grad=True)
    net(x).sum().backward()
    return x.grad, [p.grad for p in net.parameters()]


@program
def wrong_number_of_gradients(t: Any) -> Any:
    one, two = layer(t), layer(t)
    one.register_full_backward_hook(lambda m, gi, go: (gi[0], gi[0]))
    two.register_full_backward_pre_hook(lambda m, go: ())
    return [
        attempt(lambda net=net: net(batch(t, requires_grad=True)).sum().backward())
        for net in (one, two)
    ]


@program
def no_input_needs_a_gradient(t: Any) -> Any:
    net, log = layer(t), Log()
    net.register_full_backward_hook(log("backward"))
    net.register_full_backward_pre_hook(log("pre"))
    said = warned(lambda: net(batch(t)).sum().backward())
    other = layer(t)
    other.register_full_backward_hook(lambda m, gi, go: (go[0],))
    refused: list[Any] = []
    warned(lambda: refused.append(attempt(lambda: other(batch(t)).sum().backward())))
    return log, [text[:60] for text in said], refused, net.weight.grad


@program
def several_inputs_and_outputs(t: Any) -> Any:
    class Mixed(t.nn.Module):
        def forward(self, x: Any, text: str, y: Any) -> Any:
            return x * 2, text, y * x, x.detach()

    net, log = Mixed(), Log()
    net.register_full_backward_hook(log("backward"))
    net.register_full_backward_pre_hook(log("pre"))
    x, y = batch(t, requires_grad=True), batch(t)
    outputs = net(x, "text", y)
    outputs[2].sum().backward(retain_graph=True)
    (outputs[0] + outputs[2]).sum().backward()
    return log, x.grad, summary(list(outputs)), [o.requires_grad for o in (outputs[0], outputs[3])]


@program
def no_gradients_at_all(t: Any) -> Any:
    net, log = layer(t), Log()
    net.register_full_backward_hook(log("backward"))
    net.register_forward_hook(log("forward"))
    with t.no_grad():
        y = net(batch(t))
    return log, y.requires_grad


@program
def changes_in_place(t: Any) -> Any:
    net = layer(t)
    net.register_full_backward_hook(lambda m, gi, go: None)
    x = batch(t, requires_grad=True) * 1
    y = net(x)
    return attempt(lambda: y.add_(1)).split(" ")[0], attempt(lambda: x.add_(1).requires_grad)


@program
def output_of_another_kind(t: Any) -> Any:
    class Dictionary(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"y": x * 2}

    net, log = Dictionary(), Log()
    net.register_full_backward_hook(log("backward"))
    made: list[Any] = []
    said = warned(lambda: made.append(net(batch(t, requires_grad=True))))
    made[0]["y"].sum().backward()
    return said, log


@program
def old_backward_hooks(t: Any) -> Any:
    net, log = layer(t), Log()
    net.register_backward_hook(log("old"))
    x = batch(t, requires_grad=True)
    said = warned(lambda: net(x).sum().backward())
    return log, said, attempt(lambda: net.register_full_backward_hook(log("full")))


@program
def old_backward_hooks_elsewhere(t: Any) -> Any:
    class Single(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2

    class Pair(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return x * 2, x * 3

    class Named(t.nn.Module):
        def forward(self, x: Any) -> Any:
            return {"a": x * 2}

    class Two(t.nn.Module):
        def forward(self, x: Any, text: str) -> Any:
            return x * 2

    log = Log()
    said = []
    for module, more in ((Single(), ()), (Pair(), ()), (Named(), ()), (Two(), ("text",))):
        module.register_backward_hook(log(type(module).__name__))
        x = batch(t, requires_grad=True) * 1

        def run(module: Any = module, x: Any = x, more: Any = more) -> None:
            y = module(x, *more)
            y = y["a"] if isinstance(y, dict) else y[0] if isinstance(y, tuple) else y
            y.sum().backward()

        said.append(warned(run))
    return log, said


@program
def full_then_old(t: Any) -> Any:
    net = layer(t)
    net.register_full_backward_hook(lambda m, gi, go: None)
    return attempt(lambda: net.register_backward_hook(lambda m, gi, go: None))


@program
def removed(t: Any) -> Any:
    net, log = layer(t), Log()
    handles = [
        net.register_forward_pre_hook(log("pre"), with_kwargs=True),
        net.register_forward_hook(log("forward"), with_kwargs=True, always_call=True),
        net.register_full_backward_hook(log("backward")),
        net.register_full_backward_pre_hook(log("backward pre")),
    ]
    for handle in handles:
        handle.remove()
        handle.remove()
    with net.register_forward_hook(log("within")):
        net(batch(t))
    net(batch(t, requires_grad=True)).sum().backward()
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_forward_hooks_with_kwargs")
    kinds += ("_forward_hooks_always_called", "_forward_pre_hooks_with_kwargs", "_backward_hooks")
    return log, [len(getattr(net, kind)) for kind in kinds]


@program
def cleared_by_hand(t: Any) -> Any:
    from collections import OrderedDict

    net, log = layer(t), Log()
    net.register_forward_hook(log("forward"))
    net._forward_hooks.clear()
    net(batch(t))
    net.register_forward_hook(log("forward"))
    net._forward_hooks = OrderedDict()
    net(batch(t))
    return log


@program
def hooks_that_register_hooks(t: Any) -> Any:
    net, log = layer(t), Log()

    def grow(module: Any, args: Any, out: Any) -> None:
        log.append("grow")
        module.register_forward_hook(log("new"))

    handle = net.register_forward_hook(grow)
    net(batch(t))
    handle.remove()
    net(batch(t))
    return log


@program
def nested_calls(t: Any) -> Any:
    """A module that calls itself: each call has hooks of its own."""

    class Recursive(t.nn.Module):
        def forward(self, x: Any, depth: int) -> Any:
            return x * 2 if depth == 0 else self(x, depth - 1) + 1

    net, log = Recursive(), Log()
    net.register_forward_pre_hook(log("pre"))
    net.register_forward_hook(log("forward"))
    net.register_full_backward_hook(log("backward"))
    net(batch(t, requires_grad=True), 2).sum().backward()
    return log


@program
def used_twice(t: Any) -> Any:
    net, log = layer(t, 3, 3), Log()
    net.register_full_backward_hook(log("backward"))
    x = batch(t, requires_grad=True)
    net(net(x)).sum().backward()
    return log, x.grad, net.weight.grad


@program
def second_derivatives(t: Any) -> Any:
    net, log = layer(t, 3, 3), Log()
    net.register_full_backward_hook(log("backward"))
    x = batch(t, requires_grad=True)
    (grad,) = t.autograd.grad((net(x) ** 2).sum(), x, create_graph=True)
    (second,) = t.autograd.grad((grad**2).sum(), x)
    return log, grad, second
