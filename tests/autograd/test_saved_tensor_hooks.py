"""Hooks on what nodes save, and hooks on several gradients at once."""

from __future__ import annotations

import gc

import pytest

import flambeau as fb
from flambeau.autograd import graph
from flambeau.testing import assert_close


def leaf():
    return fb.tensor([1.0, 2.0], requires_grad=True)


def test_pack_and_unpack():
    packed, unpacked = [], []

    def pack(tensor):
        packed.append(tensor)
        return len(packed) - 1

    def unpack(place):
        unpacked.append(place)
        return packed[place]

    x = leaf()
    with graph.saved_tensors_hooks(pack, unpack):
        y = x.exp() * x
    assert len(packed) == 3
    assert unpacked == []
    y.sum().backward()
    assert sorted(unpacked) == [0, 1, 2]
    assert_close(x.grad, x.detach().exp() * (x.detach() + 1))


def test_what_is_unpacked_is_used():
    x = leaf()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t * 10):
        y = x * x
    y.sum().backward()
    assert_close(x.grad, 20 * x.detach())


def test_second_derivatives():
    x = leaf()
    with graph.saved_tensors_hooks(lambda t: t.numpy().copy(), fb.from_numpy):
        y = x.exp() * x**3
    (first,) = fb.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = fb.autograd.grad(first.sum(), x)
    at = x.detach()
    assert_close(second, at.exp() * (at**3 + 6 * at**2 + 6 * at))


def test_the_innermost_hooks_are_used():
    calls = []

    def noting(name):
        return graph.saved_tensors_hooks(lambda t: calls.append(name) or t, lambda t: t)

    x = leaf()
    with noting("outer"):
        with noting("inner"):
            x.exp()
        x.exp()
    x.exp()
    assert calls == ["inner", "outer"]


def test_of_a_function():
    class Square(fb.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, grad):
            return 2 * ctx.saved_tensors[0] * grad

    x = leaf()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: t + 1):
        Square.apply(x).sum().backward()
    assert_close(x.grad, 2 * (x.detach() + 1))


def test_errors_in_hooks():
    def fails(_):
        raise KeyError("mine")

    x = leaf()
    with pytest.raises(KeyError), graph.saved_tensors_hooks(fails, fails):
        x.exp()
    with graph.saved_tensors_hooks(lambda t: t, fails):
        y = x.exp()
    with pytest.raises(KeyError):
        y.sum().backward()
    with graph.saved_tensors_hooks(lambda t: t, lambda t: "text"):
        y = x.exp()
    with pytest.raises(TypeError, match="expected to be a Tensor but got result of type str"):
        y.sum().backward()
    x.exp().sum().backward()
    assert_close(x.grad, x.detach().exp())


def test_a_pack_hook_must_not_change_its_input():
    with (
        graph.saved_tensors_hooks(lambda t: t.add_(1), lambda t: t),
        pytest.raises(RuntimeError, match="modifying its input in place"),
    ):
        leaf().sin()


def test_what_stands_for_a_packed_leaf_outlives_the_graph():
    class Saving(fb.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 1

        @staticmethod
        def backward(ctx, grad):
            return grad

    x = leaf()
    with graph.saved_tensors_hooks(lambda tensor: tensor.clone(), lambda tensor: tensor):
        y = Saving.apply(x)
    (saved,) = y.grad_fn.saved_tensors
    with fb.no_grad():
        assert y.grad_fn.saved_tensors[0].requires_grad
    del y
    gc.collect()
    (saved * saved).sum().backward()
    assert_close(x.grad, 2 * x.detach())


def test_save_on_cpu():
    x = leaf()
    middle = x * 1
    with graph.save_on_cpu():
        y = middle.sin()
    middle.add_(1)  # a copy was saved
    y.sum().backward()
    assert_close(x.grad, x.detach().cos())


def test_disabled():
    with graph.disable_saved_tensors_hooks("not here"):
        with pytest.raises(RuntimeError, match="not here"), graph.save_on_cpu():
            pass
        with graph.disable_saved_tensors_hooks("nor there"):
            pass
        with pytest.raises(RuntimeError, match="not here"), graph.save_on_cpu():
            pass
    with graph.save_on_cpu():
        pass


def test_packed_values_are_freed():
    class Watched:
        alive = 0

        def __init__(self, tensor):
            self.tensor = tensor
            Watched.alive += 1

        def __del__(self):
            Watched.alive -= 1

    x = leaf()
    with graph.saved_tensors_hooks(Watched, lambda w: w.tensor):
        y = x.exp().sum()
        z = x.exp()
    assert Watched.alive == 2
    y.backward()
    del z
    gc.collect()
    assert Watched.alive == 0


def test_gradient_edge():
    x = leaf()
    y = x.exp()
    edge = graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn
    assert edge.output_nr == 0
    assert graph.get_gradient_edge(x).node.variable is x
    second = graph.get_gradient_edge(fb.stack([x, x]).unbind()[1])
    assert second.output_nr == 1
    with pytest.raises(RuntimeError, match="does not require gradients"):
        graph.get_gradient_edge(fb.ones(1))


def test_gradient_edges_in_place_of_tensors():
    x = leaf()
    middle = x * 3
    y = (middle**2).sum()
    (grad,) = fb.autograd.grad(y, [graph.get_gradient_edge(middle)], retain_graph=True)
    assert_close(grad, 2 * middle.detach())
    (grad,) = fb.autograd.grad(graph.get_gradient_edge(y), x, fb.ones(()))
    assert_close(grad, 18 * x.detach())


def test_increment_version():
    x, y = fb.ones(2), fb.ones(2)
    versions = x._version, y._version
    graph.increment_version(x)
    graph.increment_version([x, y])
    assert (x._version, y._version) == (versions[0] + 2, versions[1] + 1)


def test_multi_grad_hook_all():
    a, b, c = leaf(), leaf(), leaf()
    calls = []
    handle = graph.register_multi_grad_hook((a, b, c), calls.append)
    (a * b).sum().backward()
    assert len(calls) == 1
    assert_close(calls[0], [b.detach(), a.detach(), None])
    (a * b * c).sum().backward()
    assert len(calls) == 2
    handle.remove()
    (a * b).sum().backward()
    assert len(calls) == 2


def test_multi_grad_hook_any():
    a, b = leaf(), leaf()
    calls = []
    graph.register_multi_grad_hook((a, b), calls.append, mode="any")
    for _ in range(2):
        (a * b).sum().backward()
    assert len(calls) == 2
    with pytest.raises(ValueError, match="mode"):
        graph.register_multi_grad_hook((a, b), calls.append, mode="some")
