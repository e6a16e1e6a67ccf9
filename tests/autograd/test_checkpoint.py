"""utils.checkpoint: the same gradients from a second forward run."""

from __future__ import annotations

import gc
import weakref

import pytest

import flambeau as fb
from flambeau.testing import assert_close
from flambeau.utils.checkpoint import (
    CheckpointError,
    checkpoint,
    checkpoint_sequential,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
)

BOTH = pytest.mark.parametrize("use_reentrant", [False, True])


class Counting:
    """A function that knows how often it was called."""

    def __init__(self, function=None):
        self.function = function or (lambda x, y=1: ((x * y).sin().exp() * x).cos())
        self.calls = 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        return self.function(*args, **kwargs)


def leaf():
    return fb.tensor([0.3, 0.7, 1.1], requires_grad=True)


def gradient(function, x):
    x.grad = None
    function(x).sum().backward()
    return x.grad


@BOTH
def test_gradients_are_the_same(use_reentrant):
    x, function = leaf(), Counting()
    expected = gradient(function.function, x)
    found = gradient(lambda x: checkpoint(function, x, use_reentrant=use_reentrant), x)
    assert_close(found, expected)
    assert function.calls == 2


@BOTH
def test_random_numbers_are_the_same(use_reentrant):
    drawn = []

    def noisy(x):
        drawn.append(fb.rand(3))
        return (x * drawn[-1]).exp()

    fb.manual_seed(5)
    x = leaf()
    y = checkpoint(noisy, x, use_reentrant=use_reentrant)
    between = fb.rand(1)
    state = fb.get_rng_state()
    y.sum().backward()
    assert_close(drawn[0], drawn[1])
    assert_close(fb.get_rng_state(), state)

    y = checkpoint(noisy, x, use_reentrant=use_reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert not fb.equal(drawn[2], drawn[3])
    assert between.numel() == 1


def test_keyword_arguments():
    x, y = leaf(), fb.tensor(2.0, requires_grad=True)
    function = Counting()
    checkpoint(function, x, y=y, use_reentrant=False).sum().backward()
    expected = fb.autograd.grad(function.function(x, y).sum(), (x, y))
    assert_close((x.grad, y.grad), expected)


def test_what_is_not_a_tensor_passes_through():
    def function(x, options, flag):
        assert flag is None
        return {"result": x.exp() * options["factor"]}

    x = leaf()
    result = checkpoint(function, x, {"factor": 3}, None, use_reentrant=False)["result"]
    result.sum().backward()
    assert_close(x.grad, 3 * x.detach().exp())


def test_only_parameters_require_gradients():
    weight = leaf()
    y = checkpoint(lambda x: (weight * x).exp(), fb.ones(3), use_reentrant=False)
    y.sum().backward()
    assert_close(weight.grad, weight.detach().exp())


def test_nested():
    inner, outer = Counting(), Counting()

    def checkpointed(x):
        return checkpoint(outer, checkpoint(inner, x, use_reentrant=False), use_reentrant=False)

    x = leaf()
    expected = gradient(lambda x: outer.function(inner.function(x)), x)
    assert_close(gradient(checkpointed, x), expected)
    assert (inner.calls, outer.calls) == (2, 2)
    twice = gradient(lambda x: checkpoint(checkpointed, x, use_reentrant=False), x)
    assert_close(twice, expected)


def test_deeply_nested():
    def nested(depth):
        def function(x):
            x = (x * 1.1).sin()
            if depth:
                x = checkpoint(nested(depth - 1), x, use_reentrant=False)
            return x * x

        return function

    def plain(depth):
        def function(x):
            x = (x * 1.1).sin()
            return (plain(depth - 1)(x) if depth else x) ** 2

        return function

    x = leaf()
    assert_close(gradient(nested(3), x), gradient(plain(3), x))


@pytest.mark.filterwarnings("ignore:None of the inputs have requires_grad")  # in the first run
@pytest.mark.parametrize("inner", [True, False])
@pytest.mark.parametrize("outer", [True, False])
def test_both_forms_within_each_other(outer, inner):
    x = fb.tensor([0.3, 0.2], dtype=fb.float64, requires_grad=True)

    def part(x):
        return checkpoint(lambda x: (x * x).sin(), x * 2, use_reentrant=inner) * 3

    checkpoint(part, x, use_reentrant=outer).sum().backward()
    at = 2 * x.detach()
    assert_close(x.grad, 12 * at * (at * at).cos())


@pytest.mark.parametrize("early_stop", [True, False])
def test_backward_within_the_function(early_stop):
    """The function is run again before its first run has ended."""

    def with_gradient(x):
        with fb.enable_grad():
            inner = x.detach().requires_grad_()
            checkpoint(lambda x: x.sin().exp(), inner, use_reentrant=False).sum().backward()
        return x * inner.grad

    x = fb.tensor([0.3, 0.2], dtype=fb.float64, requires_grad=True)
    checkpoint(with_gradient, x, use_reentrant=False, early_stop=early_stop).sum().backward()
    assert_close(x.grad, x.detach().sin().exp() * x.detach().cos())


def test_second_derivatives():
    def second(function, x):
        (first,) = fb.autograd.grad(function(x).sum(), x, create_graph=True)
        return fb.autograd.grad((first**2).sum(), x)[0]

    x, function = leaf(), Counting()
    expected = second(function.function, x)
    assert_close(second(lambda x: checkpoint(function, x, use_reentrant=False), x), expected)


def test_backward_twice():
    x, function = leaf(), Counting()
    y = checkpoint(function, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    once = x.grad.clone()
    y.backward()
    assert_close(x.grad, 2 * once)
    assert function.calls == 3


def test_the_second_run_stops_early():
    lines = []

    def function(x):
        y = x.exp()
        lines.append("after exp")
        return y + 1

    x = leaf()
    checkpoint(function, x, use_reentrant=False).sum().backward()
    assert lines == ["after exp"]
    with set_checkpoint_early_stop(False):
        y = checkpoint(function, x, use_reentrant=False)
    y.sum().backward()
    assert len(lines) == 3
    checkpoint(function, x, use_reentrant=False, early_stop=False).sum().backward()
    assert len(lines) == 5


def test_saved_tensors_are_not_kept():
    saved = []

    def function(x):
        middle = x.exp()
        saved.append(weakref.ref(middle))
        return middle.sin().sum()

    x = leaf()
    y = checkpoint(function, x, use_reentrant=False)
    gc.collect()
    assert saved[0]() is None
    y.backward()


def test_contexts():
    entered = []

    class Noting:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            entered.append(self.name)

        def __exit__(self, *_):
            pass

    def contexts():
        return Noting("first"), Noting("second")

    x = leaf()
    checkpoint(fb.exp, x, use_reentrant=False, context_fn=contexts).sum().backward()
    assert entered == ["first", "second"]
    assert len(noop_context_fn()) == 2


def changing(first, second):
    """A function that does something else in its second run."""
    runs = iter((first, second))
    return lambda x: next(runs)(x)


def test_another_number_of_saved_tensors():
    function = changing(lambda x: x.sin().exp(), lambda x: x.sin())
    y = checkpoint(function, leaf(), use_reentrant=False)
    with pytest.raises(CheckpointError, match="A different number of tensors") as error:
        y.sum().backward()
    error.match("saved during forward: 2\nNumber of tensors saved during recomputation: 1")


def test_another_shape():
    function = changing(lambda x: x.exp(), lambda x: x[:1].exp())
    y = checkpoint(function, leaf(), use_reentrant=False)
    with pytest.raises(CheckpointError, match=r"different metadata(.|\n)*\(3,\)(.|\n)*\(1,\)"):
        y.sum().backward()


def test_determinism_check_can_be_left_out():
    function = changing(lambda x: x.exp(), lambda x: x.exp().double())
    x = leaf()
    checkpoint(function, x, use_reentrant=False, determinism_check="none").sum().backward()
    with pytest.raises(ValueError, match="determinism_check"):
        checkpoint(function, x, use_reentrant=False, determinism_check="thorough")


def test_debug_names_the_lines():
    def first(x):
        return x.sin().exp()

    def second(x):
        return x.sin()

    for arguments, context in (
        ({"debug": True}, set_checkpoint_debug_enabled(None)),
        ({}, set_checkpoint_debug_enabled(True)),
    ):
        with context:
            y = checkpoint(changing(first, second), leaf(), use_reentrant=False, **arguments)
        one, other = (f.__code__.co_firstlineno + 1 for f in (first, second))
        with pytest.raises(CheckpointError, match=rf"py:{one}, in the recomp.*py:{other}"):
            y.sum().backward()


@BOTH
@pytest.mark.parametrize("segments", [1, 2, 3, 5])
def test_sequential(use_reentrant, segments):
    functions = [Counting(f) for f in (fb.sin, fb.exp, fb.tanh, fb.cos, fb.sin)]

    def plain(x):
        for function in functions:
            x = function.function(x)
        return x

    x = leaf()
    expected = gradient(plain, x)
    found = gradient(
        lambda x: checkpoint_sequential(functions, segments, x, use_reentrant=use_reentrant), x
    )
    assert_close(found, expected)
    size = 5 // segments
    assert [f.calls for f in functions][: size * (segments - 1)] == [2] * size * (segments - 1)
    assert functions[-1].calls == 1


def test_use_reentrant_should_be_given():
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint(fb.exp, leaf())
    with pytest.warns(UserWarning, match="use_reentrant parameter should be passed explicitly"):
        checkpoint_sequential([fb.exp], 1, leaf())


def test_what_the_reentrant_form_refuses():
    with pytest.raises(ValueError, match="Unexpected keyword arguments: y"):
        checkpoint(fb.exp, leaf(), use_reentrant=True, y=3)
    with pytest.raises(ValueError, match="only supported when use_reentrant=False"):
        checkpoint(fb.exp, leaf(), use_reentrant=True, debug=True)
    with pytest.warns(UserWarning, match="None of the inputs have requires_grad=True"):
        checkpoint(fb.exp, fb.ones(2), use_reentrant=True)
    x = leaf()
    with pytest.raises(RuntimeError, match=r"incompatible with .grad\(\)"):
        fb.autograd.grad(checkpoint(fb.exp, x, use_reentrant=True).sum(), x)
    y = checkpoint(lambda x: x.detach(), leaf(), use_reentrant=True)
    with pytest.raises(RuntimeError, match="this checkpoint\\(\\) is not necessary"):
        y.sum().backward()


def test_without_gradients():
    with fb.no_grad():
        y = checkpoint(fb.exp, leaf(), use_reentrant=False)
    assert not y.requires_grad
    assert not checkpoint(fb.exp, fb.ones(2), use_reentrant=False).requires_grad


def test_selective_checkpointing_gives_the_same_gradients():
    from functools import partial

    from flambeau.utils.checkpoint import CheckpointPolicy, create_selective_checkpoint_contexts

    def policy(ctx, op, *args, **kwargs):
        return CheckpointPolicy.MUST_SAVE

    x = fb.randn(3, requires_grad=True)
    contexts = partial(create_selective_checkpoint_contexts, policy)
    y = checkpoint(lambda x: x.sin().exp(), x, use_reentrant=False, context_fn=contexts)
    (grad,) = fb.autograd.grad(y.sum(), x)
    fb.testing.assert_close(grad, (x.cos() * x.sin().exp()).detach())
    with pytest.raises(TypeError, match="must be a function or a list of operators, got int"):
        create_selective_checkpoint_contexts(3)
