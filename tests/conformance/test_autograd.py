"""The Python side of autograd beside PyTorch's: the same program with either module."""

from __future__ import annotations

import inspect
import warnings
from typing import Any

import pytest
import torch
import torch.utils.checkpoint

import flambeau as fb
import flambeau.utils.checkpoint

PROGRAMS: dict[str, Any] = {}


def program(function):
    """A function of the module under its name, whose results (or errors) must be the same."""
    PROGRAMS[function.__name__] = function
    return function


def vector(m, *values):
    return m.tensor(values or (0.5, 1.5, -0.25), dtype=m.float64, requires_grad=True)


def custom(m, forward, backward=None, **members):
    members["forward"] = staticmethod(forward)
    if backward:
        members["backward"] = staticmethod(backward)
    return type("Custom", (m.autograd.Function,), members)


@program
def function_of_a_square(m):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    square = custom(m, forward, lambda ctx, g: 2 * g * ctx.saved_tensors[0])
    x = vector(m)
    (first,) = m.autograd.grad(square.apply(x).sum(), x, create_graph=True)
    (second,) = m.autograd.grad((first**2).sum(), x)
    return first, second, square.apply(x).grad_fn.name(), square.apply(x).grad_fn.needs_input_grad


@program
def function_outputs(m):
    def forward(ctx, x, text):
        fixed = x.round()
        ctx.mark_non_differentiable(fixed)
        return x, fixed, text, x.argmax()

    def backward(ctx, *grads):
        return grads[0] * len([g for g in grads if g is not None]), None

    x = vector(m)
    outputs = custom(m, forward, backward).apply(x, "text")
    outputs[0].sum().backward()
    tensors = [outputs[i] for i in (0, 1, 3)]
    return [(t.requires_grad, t.is_leaf, t.output_nr) for t in tensors], outputs[2], x.grad


@program
def function_that_changes_a_view(m):
    def forward(ctx, x):
        x.mul_(3)
        ctx.mark_dirty(x)
        return x

    x = m.ones(2, 2, requires_grad=True)
    base = x * 1
    row = base[0]
    same = custom(m, forward, lambda ctx, g: g * 3).apply(row) is row
    base.sum().backward()
    return same, type(base.grad_fn).__name__, row.grad_fn.name(), x.grad


@program
def function_with_setup_context(m):
    class Scale(m.autograd.Function):
        @staticmethod
        def forward(x, factor=3.0):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.factor = inputs[1]

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = vector(m)
    (Scale.apply(x) + Scale.apply(x, 4.0)).sum().backward()
    return x.grad, Scale.apply(x).grad_fn.factor


@program
def function_with_hooks_on_what_it_saves(m):
    def forward(ctx, x):
        ctx.save_for_backward(x, x * 2)
        return x.sin()

    x = vector(m)
    seen = []
    with m.autograd.graph.saved_tensors_hooks(lambda t: seen.append(t) or t, lambda t: t * 10):
        y = custom(m, forward, lambda ctx, g: g * ctx.saved_tensors[0]).apply(x)
    y.sum().backward()
    return len(seen), x.grad


@program
def wrong_number_of_gradients(m):
    custom(m, lambda ctx, x: x * 2, lambda ctx, g: (g, g)).apply(vector(m)).sum().backward()


@program
def dirty_leaf(m):
    def forward(ctx, x):
        ctx.mark_dirty(x)
        return x

    custom(m, forward).apply(vector(m))


@program
def old_style_call(m):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        custom(m, lambda ctx, x: x)()(vector(m))


@program
def no_backward(m):
    custom(m, lambda ctx, x: x * 2).apply(vector(m)).sum().backward()


@program
def jacobians(m):
    functional = m.autograd.functional

    def outer(a, b):
        return a[:, None] * b, a.sum() ** 2

    at = vector(m), vector(m, 2.0, -1.0)
    v = m.arange(6, dtype=m.float64).reshape(3, 2), m.tensor(2.0, dtype=m.float64)
    return (
        functional.jacobian(outer, at),
        functional.jacobian(outer, at, vectorize=True),
        functional.vjp(outer, at, v),
        functional.jvp(outer, at, (at[0].detach(), at[1].detach())),
    )


@program
def hessians(m):
    functional = m.autograd.functional

    def scalar(a, b):
        return (a.sin() * a).sum() * (b**3).sum()

    at = vector(m), vector(m, 2.0, -1.0)
    v = tuple(x.detach() + 1 for x in at)
    return (
        functional.hessian(scalar, at),
        functional.hvp(scalar, at, v),
        functional.vhp(scalar, at, v),
        functional.hvp(scalar, at, v, create_graph=True)[1][0].requires_grad,
    )


@program
def strict_jacobian(m):
    m.autograd.functional.jacobian(lambda x, y: x * 2, (vector(m), vector(m)), strict=True)


@program
def strict_hessian(m):
    m.autograd.functional.hessian(lambda x: x.sum(), vector(m), strict=True)


@program
def modes(m):
    seen = []

    @m.no_grad()
    def generator():
        seen.append(m.is_grad_enabled())
        yield (vector(m) * 2).requires_grad
        seen.append(m.is_grad_enabled())

    for requires_grad in generator():
        seen += [requires_grad, m.is_grad_enabled()]
    with m.inference_mode():
        seen += [m.ones(1).is_inference(), m.is_inference_mode_enabled(), m.is_grad_enabled()]
        with m.enable_grad():
            seen.append((vector(m) * 2).requires_grad)
    switch = m.set_grad_enabled(False)
    seen.append(m.is_grad_enabled())
    with switch:
        pass
    return [*seen, m.is_grad_enabled()]


@program
def checkpoints(m):
    checkpoint = m.utils.checkpoint.checkpoint
    calls = []

    def inner(x):
        calls.append("inner")
        return (x.exp() * x).sin()

    def outer(x):
        calls.append("outer")
        return checkpoint(inner, x.cos(), use_reentrant=False) * 2

    x = vector(m)
    (first,) = m.autograd.grad(
        checkpoint(outer, x, use_reentrant=False).sum(), x, create_graph=True
    )
    (second,) = m.autograd.grad((first**2).sum(), x)
    checkpoint(inner, x, use_reentrant=True).sum().backward()
    return first, second, x.grad, calls[:2]


@program
def several_gradients_at_once(m):
    a, b, c = vector(m), vector(m), vector(m)
    calls = []
    m.autograd.graph.register_multi_grad_hook((a, b, c), calls.append)
    (a * b).sum().backward()
    (a * b * c).sum().backward()
    return calls


@program
def gradients_by_name(m):
    x = vector(m)
    return m.autograd.grad((x**2).sum(), {"x": x})


@program
def variables(m):
    x = vector(m)
    variable = m.autograd.Variable(x * 2)
    leaf = m.autograd.Variable(m.ones(2), requires_grad=True)
    return variable.requires_grad, leaf.is_leaf, isinstance(leaf, m.autograd.Variable)


# --- batched gradients, tangents of gradients


@program
def batched_gradients_of_a_convolution(m):
    x = m.linspace(-1, 1, 50, dtype=m.float64).view(1, 2, 5, 5).requires_grad_()
    w = m.linspace(-1, 1, 54, dtype=m.float64).view(3, 2, 3, 3).sin().requires_grad_()
    y = m.nn.functional.conv2d(x, w)
    units = m.eye(y.numel(), dtype=m.float64).view(-1, *y.shape)
    batched = m.autograd.grad(y, (x, w), units, is_grads_batched=True)
    return *batched, m.func.jacrev(lambda w: m.nn.functional.conv2d(x.detach(), w))(w.detach())


@program
def tangents_of_gradients_that_are_not_recorded(m):
    F, forward_ad = m.nn.functional, m.autograd.forward_ad
    m.manual_seed(0)
    x = m.randn(3, 4, dtype=m.float64, requires_grad=True)
    direction, weights = m.randn(3, 4, dtype=m.float64), m.randn(3, 4, dtype=m.float64)
    functions = [
        lambda x: F.layer_norm(x, (4,)),
        lambda x: F.batch_norm(x, None, None, training=True),
        lambda x: F.pairwise_distance(x, weights),
        lambda x: F.cross_entropy(x, m.tensor([0, 3, 1])),
        lambda x: F.softmax(x, -1),
    ]
    found = []
    for f in functions:
        with forward_ad.dual_level():
            dual = forward_ad.make_dual(x, direction)
            (grad,) = m.autograd.grad((f(dual) ** 3).sum(), dual)
            found.append(forward_ad.unpack_dual(grad).tangent)
    return found


@program
def jacobians_without_dimensions(m):
    functional, x = m.autograd.functional, m.tensor(2.0, dtype=m.float64)
    found = []
    for vectorize in (False, True):
        found.append(functional.jacobian(lambda x: x**3, x, vectorize=vectorize))
        found.append(functional.jacobian(lambda x: (x, x * 2), (x,), vectorize=vectorize))
        found.append(functional.hessian(lambda x: x**3, x, vectorize=vectorize))
    return found, [each.shape for each in (found[0], found[2])]


@program
def jvp_of_what_does_not_move(m):
    class Product(m.autograd.Function):
        @staticmethod
        def forward(x, y):
            return x * y

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_forward(*inputs)

        @staticmethod
        def jvp(ctx, dx, dy):
            x, y = ctx.saved_tensors
            return dx * y + x * dy

    y = vector(m, 3.0, 4.0).detach()
    x = vector(m, 1.0, 2.0).detach()
    return m.func.jvp(lambda x: Product.apply(x, y), (x,), (m.ones_like(x),))


@program
def function_with_two_rules_for_batches(m):
    function = custom(
        m,
        lambda x: x * 2,
        setup_context=staticmethod(lambda ctx, inputs, output: None),
        generate_vmap_rule=True,
        vmap=staticmethod(lambda info, dims, x: (x * 2, 0)),
    )
    return m.vmap(function.apply)(m.ones(2))


# --- views, changes in place, inference


@program
def retained_gradients_of_changed_views(m):
    found = []
    for change in (lambda y: y[1:].mul_(5), lambda y: y.mul_(5), lambda y: y[:2].mul_(5)):
        x = vector(m, 1.0, 2.0, 3.0)
        y = x * 1
        view = y[:2]
        view.retain_grad()
        y.retain_grad()
        change(y)
        (view * view).sum().backward(retain_graph=True)
        (y * y).sum().backward()
        found.append((view.grad, y.grad, x.grad, view.retains_grad, y.retains_grad))
    return found


@program
def hooks_of_a_changed_base(m):
    x, seen = vector(m, 1.0, 2.0, 3.0), []
    y = x * 1
    y.register_hook(lambda grad: seen.append(("before", grad)))
    y[:2].mul_(5)
    y.register_hook(lambda grad: seen.append(("after", grad)))
    (y * y).sum().backward()
    return seen


@program
def inference_tensors(m):
    with m.inference_mode():
        x = m.ones(2, 2)
    y = m.ones(2, 2)
    views = [x[0], x.view(4), x.detach(), x.data, x.expand(3, 2, 2), x.clone(), x + 1]
    with m.inference_mode():
        inside = [y[0], y.view(4), y.detach(), y.data, y.clone(), y + 1]
    return [(v.is_inference(), v._is_view()) for v in views], [v.is_inference() for v in inside]


@program
def inference_tensor_as_out(m):
    with m.inference_mode():
        x = m.ones(2)
    return m.add(m.ones(2), 1, out=x)


@program
def inference_view_changed(m):
    with m.inference_mode():
        x = m.ones(2)
    return x[:1].mul_(2)


@program
def inference_view_saved(m):
    with m.inference_mode():
        x = m.ones(2)
    return x[:1] * m.ones(1, requires_grad=True)


# --- backward within backward


@program
def checkpoints_within_each_other(m):
    checkpoint = m.utils.checkpoint.checkpoint
    found = []
    for early_stop in (True, False):
        for outer in (True, False):
            for inner in (True, False):
                x = vector(m)
                with m.utils.checkpoint.set_checkpoint_early_stop(early_stop):
                    y = checkpoint(
                        lambda x, inner=inner: (
                            checkpoint(lambda x: (x * x).sin().exp(), x * 2, use_reentrant=inner)
                            * 3
                        ),
                        x,
                        use_reentrant=outer,
                    )
                y.sum().backward()
                found.append(x.grad)
    return found


@program
def checkpoint_with_a_backward_inside(m):
    checkpoint = m.utils.checkpoint.checkpoint

    def function(x):
        with m.enable_grad():
            inner = x.detach().requires_grad_()
            checkpoint(lambda x: x.sin().exp(), inner, use_reentrant=False).sum().backward()
        return x * inner.grad

    found = []
    for early_stop in (True, False):
        x = vector(m)
        checkpoint(function, x, use_reentrant=False, early_stop=early_stop).sum().backward()
        found.append(x.grad)
    return found


def run(function, module):
    """What a program returns, or the class and message of its error."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # torch's forward mode has one
            return plain(function(module))
    except Exception as error:
        return type(error).__name__, str(error)


def plain(value):
    """Tensors as lists, in whatever they lie in."""
    if isinstance(value, (fb.Tensor, torch.Tensor)):
        return value.detach().tolist()
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    return value


def close(ours, theirs):
    if isinstance(theirs, list):
        return len(ours) == len(theirs) and all(map(close, ours, theirs))
    if isinstance(theirs, float):
        return ours == pytest.approx(theirs, rel=1e-9, abs=1e-12)
    return ours == theirs


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    ours, theirs = run(PROGRAMS[name], fb), run(PROGRAMS[name], torch)
    if isinstance(theirs, tuple):  # errors: ours say more, and name the operator first
        assert ours[0] == theirs[0]
        assert theirs[1][:30] in ours[1]
    else:
        assert close(ours, theirs), f"{ours}\n{theirs}"


# Options for what Flambeau does not have, and the annotations of its own types, may differ.
SIGNATURES = [
    "autograd.backward",
    "autograd.grad",
    "autograd.gradcheck",
    "autograd.gradgradcheck",
    "autograd.functional.jacobian",
    "autograd.functional.hessian",
    "autograd.functional.vjp",
    "autograd.functional.jvp",
    "autograd.functional.hvp",
    "autograd.functional.vhp",
    "autograd.graph.saved_tensors_hooks",
    "autograd.graph.save_on_cpu",
    "autograd.graph.disable_saved_tensors_hooks",
    "autograd.graph.register_multi_grad_hook",
    "autograd.graph.get_gradient_edge",
    "autograd.graph.increment_version",
    "autograd.graph.GradientEdge",
    "autograd.detect_anomaly",
    "autograd.set_detect_anomaly",
    "utils.checkpoint.checkpoint",
    "utils.checkpoint.checkpoint_sequential",
    "utils.checkpoint.set_checkpoint_early_stop",
]


@pytest.mark.parametrize("path", SIGNATURES)
def test_signature(path):
    def parameters(module):
        value = module
        for part in path.split("."):
            value = getattr(value, part)
        given = inspect.signature(value).parameters.values()
        return [(p.name, p.kind, simple(p.default)) for p in given]

    def simple(default):
        return getattr(default, "__name__", default)

    assert parameters(fb) == parameters(torch)
