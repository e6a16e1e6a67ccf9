"""autograd.Function: operators with a derivative of the user's own."""

from __future__ import annotations

import gc
import weakref

import pytest

import flambeau as fb
from flambeau.autograd import Function, forward_ad
from flambeau.autograd.function import FunctionCtx, once_differentiable
from flambeau.testing import assert_close


class Square(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 2 * x * grad


class Exp(Function):
    """Saves its result."""

    @staticmethod
    def forward(ctx, x):
        result = x.exp()
        ctx.save_for_backward(result, None)
        return result

    @staticmethod
    def backward(ctx, grad):
        result, nothing = ctx.saved_tensors
        assert nothing is None
        return grad * result


class Scale(Function):
    """`forward` does without ctx."""

    @staticmethod
    def forward(x, factor=3):
        return x * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        _, ctx.factor = inputs

    @staticmethod
    def backward(ctx, grad):
        return grad * ctx.factor, None


def leaf(*values):
    return fb.tensor(values or (1.0, 2.0), requires_grad=True)


def function(forward, backward=None, **members):
    """A Function of two functions."""
    members |= {"forward": staticmethod(forward)}
    if backward:
        members["backward"] = staticmethod(backward)
    return type("Custom", (Function,), members)


def test_forward_and_backward():
    x = leaf(1.0, 3.0)
    y = Square.apply(x)
    assert y.tolist() == [1, 9]
    y.sum().backward()
    assert x.grad.tolist() == [2, 6]


def test_second_derivatives():
    for custom, expected in ((Square, [2.0, 2.0]), (Exp, leaf().detach().exp())):
        x = leaf()
        (first,) = fb.autograd.grad(custom.apply(x).sum(), x, create_graph=True)
        (second,) = fb.autograd.grad(first.sum(), x)
        assert_close(second, fb.as_tensor(expected))


def test_gradcheck():
    x = fb.rand(3, dtype=fb.float64, requires_grad=True)
    for custom in (Square, Exp):
        assert fb.autograd.gradcheck(custom.apply, x)
        assert fb.autograd.gradgradcheck(custom.apply, x)


def test_the_node_is_the_ctx():
    x = leaf()
    kept = []

    def forward(ctx, x):
        kept.append(ctx)
        return x * 2

    y = function(forward, lambda ctx, grad: grad).apply(x)
    assert y.grad_fn is kept[0]
    assert isinstance(y.grad_fn, FunctionCtx)
    assert isinstance(y.grad_fn, fb.autograd.graph.Node)
    assert y.grad_fn.name() == "CustomBackward"
    assert y.grad_fn.next_functions[0][0].variable is x
    assert "grad_fn=<CustomBackward>" in repr(y)
    assert y.grad_fn.metadata == {}


def test_the_node_outlives_its_result():
    x = leaf()
    node = Exp.apply(x).grad_fn
    assert node.next_functions[0][0].variable is x
    saved = node.saved_tensors[0]
    del node
    assert_close(saved, x.exp())
    saved.sum().backward()
    assert_close(x.grad, x.detach().exp())


def test_needs_input_grad():
    seen = []

    def forward(ctx, *inputs):
        seen.append(ctx.needs_input_grad)
        return inputs[0] * 1

    custom = function(forward, lambda ctx, grad: (grad, None, None))
    custom.apply(leaf(), fb.ones(1), 3)
    with fb.no_grad():
        custom.apply(leaf(), fb.ones(1), 3)
    assert seen == [(True, False, False)] * 2


def test_several_outputs_and_inputs():
    def forward(ctx, x, n, y):
        ctx.n = n
        return x * n, "not a tensor", x + y

    def backward(ctx, first, none, second):
        assert none is None
        return first * ctx.n + second, None, second

    x, y = leaf(), leaf()
    product, text, total = function(forward, backward).apply(x, 5, y)
    assert text == "not a tensor"
    assert [product.output_nr, total.output_nr] == [0, 2]
    total.sum().backward()
    assert x.grad.tolist() == [1, 1]
    assert y.grad.tolist() == [1, 1]
    product.sum().backward()
    assert x.grad.tolist() == [6, 6]


@pytest.mark.parametrize("materialize", [True, False])
def test_gradients_of_unused_outputs(materialize):
    given = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 2, x * 3

    def backward(ctx, *grads):
        given.extend(grads)
        return grads[0]

    function(forward, backward).apply(leaf())[0].sum().backward()
    assert given[0].tolist() == [1, 1]
    assert given[1].tolist() == [0, 0] if materialize else given[1] is None


def test_mark_non_differentiable():
    def forward(ctx, x):
        index = x.argmax()
        rounded = x.round()
        ctx.mark_non_differentiable(rounded)
        return x * 2, rounded, index

    y, rounded, index = function(forward, lambda ctx, g, *_: g * 2).apply(leaf())
    assert y.requires_grad
    assert not rounded.requires_grad
    assert not index.requires_grad
    y.sum().backward()


def test_an_input_that_is_passed_on_is_a_view():
    x = leaf()
    y = function(lambda ctx, x: x, lambda ctx, grad: grad * 7).apply(x)
    assert y is not x
    assert x.is_leaf
    y.sum().backward()
    assert x.grad.tolist() == [7, 7]
    plain = fb.ones(2)
    same = function(lambda ctx, x: x).apply(plain)
    assert same is not plain
    assert same.data_ptr() == plain.data_ptr()


def add_one(ctx, x, *_):
    x.add_(1)
    ctx.mark_dirty(x)
    return x


def test_mark_dirty():
    x = leaf()
    before = x * 1
    version = before._version
    after = function(add_one, lambda ctx, grad: grad * 5).apply(before)
    assert after is before
    assert before._version > version
    assert before.grad_fn.name() == "CustomBackward"
    after.sum().backward()
    assert x.grad.tolist() == [5, 5]


def test_mark_dirty_of_a_view_reaches_its_base():
    x = fb.ones(2, 2, requires_grad=True)
    base = x * 1
    row = base[0]
    custom = function(add_one, lambda ctx, grad: grad * 5)
    assert custom.apply(row) is row
    base.sum().backward()
    assert x.grad.tolist() == [[5, 5], [1, 1]]


def test_mark_dirty_of_a_view_that_comes_second():
    def forward(ctx, factor, x):
        x.mul_(2)
        ctx.mark_dirty(x)
        ctx.save_for_backward(factor)
        return x

    x, factor = fb.ones(2, 2, requires_grad=True), leaf()
    base = x * 1
    function(forward, lambda ctx, grad: (grad * 3, grad * 2)).apply(factor, base[0])
    base.sum().backward()
    assert x.grad.tolist() == [[2, 2], [1, 1]]
    assert factor.grad.tolist() == [3, 3]


def test_mark_dirty_is_refused():
    custom = function(add_one, lambda ctx, grad: grad)
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        custom.apply(leaf())

    def forgets(ctx, x):
        ctx.mark_dirty(x)
        return x * 2

    with pytest.raises(RuntimeError, match="must all be outputs of the Function"):
        function(forgets).apply(leaf() * 1)

    def two(ctx, x):
        return add_one(ctx, x), x * 2

    with pytest.raises(RuntimeError, match="cannot return more than one Tensor"):
        function(two).apply((fb.ones(2, 2, requires_grad=True) * 1)[0])


def test_a_view_made_in_forward_must_not_be_changed():
    y = function(lambda ctx, x: x[:1], lambda ctx, grad: grad.expand(2)).apply(leaf())
    with pytest.raises(RuntimeError, match="is a view and is being modified inplace"):
        y.add_(1)


def test_setup_context():
    x = leaf()
    for y, factor in ((Scale.apply(x), 3), (Scale.apply(x, 4), 4), (Scale.apply(x, factor=5), 5)):
        assert y.grad_fn.factor == factor
        assert_close(fb.autograd.grad(y.sum(), x)[0], fb.full((2,), float(factor)))


def test_vjp_is_another_name_for_backward():
    custom = function(lambda ctx, x: x * 2, vjp=staticmethod(lambda ctx, grad: grad * 9))
    x = leaf()
    custom.apply(x).sum().backward()
    assert x.grad.tolist() == [9, 9]


def test_nothing_is_recorded_without_need():
    assert Square.apply(fb.ones(2)).grad_fn is None
    with fb.no_grad():
        assert Square.apply(leaf()).grad_fn is None


def test_forward_is_not_recorded():
    modes = []

    def forward(ctx, x):
        modes.append(fb.is_grad_enabled())
        return x * 2

    def backward(ctx, grad):
        modes.append(fb.is_grad_enabled())
        return grad * 2

    x = leaf()
    y = function(forward, backward).apply(x)
    assert y.grad_fn.next_functions[0][0].variable is x
    fb.autograd.grad(y.sum(), x, retain_graph=True)
    fb.autograd.grad(y.sum(), x, create_graph=True)
    assert modes == [False, False, True]


def test_jvp():
    class Power(Function):
        @staticmethod
        def forward(ctx, x, n):
            ctx.n = n
            ctx.save_for_forward(x)
            return x**n

        @staticmethod
        def jvp(ctx, tangent, none):
            assert none is None
            (x,) = ctx.saved_tensors
            return ctx.n * x ** (ctx.n - 1) * tangent

    x = fb.tensor([2.0, 3.0])
    with forward_ad.dual_level():
        dual = forward_ad.make_dual(x, fb.ones(2))
        primal, tangent = forward_ad.unpack_dual(Power.apply(dual, 3))
        assert_close(primal, x**3)
        assert_close(tangent, 3 * x**2)
        with pytest.raises(NotImplementedError, match="must implement the jvp function"):
            Square.apply(dual)


@pytest.mark.parametrize("materialize", [True, False])
def test_jvp_of_inputs_that_do_not_move(materialize):
    seen = []

    class Product(Function):
        @staticmethod
        def forward(ctx, x, y, count):
            ctx.set_materialize_grads(materialize)
            ctx.save_for_forward(x, y)
            return x * y * count

        @staticmethod
        def jvp(ctx, *tangents):
            seen.extend(tangents)
            _, y = ctx.saved_tensors
            return tangents[0] * y * 2

    with forward_ad.dual_level():
        dual = forward_ad.make_dual(fb.ones(2), fb.ones(2))
        tangent = forward_ad.unpack_dual(Product.apply(dual, fb.full((2,), 3.0), 2)).tangent
    assert_close(tangent, fb.full((2,), 6.0))
    assert seen[2] is None  # not a tensor
    if materialize:
        assert_close(seen[1], fb.zeros(2))
    else:
        assert seen[1] is None


def test_once_differentiable():
    backward = once_differentiable(lambda ctx, grad: grad * 2)
    custom = function(lambda ctx, x: x * 2, backward)
    x = leaf()
    y = custom.apply(x)
    (first,) = fb.autograd.grad((y * y).sum(), x, create_graph=True)
    with pytest.raises(RuntimeError, match="marked with @once_differentiable"):
        first.sum().backward()


def test_old_style_use_is_refused():
    class Old(Function):
        def forward(self, x):
            return x

    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        old = Old()
    with pytest.raises(RuntimeError, match="Legacy autograd function with non-static forward"):
        old(leaf())


def backward_of(backward):
    """What the backward raises, with the line of the apply in it."""
    y = function(lambda ctx, x, n: x * n, backward).apply(leaf(), 2)
    with pytest.raises((RuntimeError, KeyError)) as error:
        y.sum().backward()
    return error


@pytest.mark.parametrize(
    ("backward", "kind", "message"),
    [
        (lambda ctx, g: (g, None, g), RuntimeError, r"expected 2, got 3"),
        (lambda ctx, g: g, RuntimeError, r"expected 2, got 1"),
        (lambda ctx, g: (g, g), RuntimeError, r"position 2, but the corresponding .* not a Variab"),
        (lambda ctx, g: ("a", None), RuntimeError, r"expected Variable or None \(got str\)"),
        (
            lambda ctx, g: (fb.ones(3), None),
            RuntimeError,
            r"got \(3,\) but expected shape .*\(2,\)",
        ),
    ],
)
def test_wrong_gradients(backward, kind, message):
    error = backward_of(backward)
    assert error.type is kind
    error.match(message)
    error.match(r"CustomBackward, recorded by Custom at .*test_function\.py:\d+")


def test_more_gradients_than_inputs_are_ignored_if_none():
    x = leaf()
    function(lambda ctx, x: x * 2, lambda ctx, g: (g, None, None)).apply(x).sum().backward()
    assert x.grad.tolist() == [1, 1]


def test_an_error_in_backward_names_the_apply():
    def backward(ctx, grad):
        raise KeyError("mine")

    error = backward_of(backward)
    assert error.type is KeyError
    assert any("recorded by Custom at" in note for note in error.value.__notes__)


def test_what_is_not_implemented():
    with pytest.raises(NotImplementedError, match="must implement the forward function"):
        Function.apply(leaf())
    y = function(lambda ctx, x: x * 2).apply(leaf())
    with pytest.raises(NotImplementedError, match="either the backward or vjp method"):
        y.sum().backward()
    both = function(lambda ctx, x: x * 2, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with pytest.raises(RuntimeError, match="Implementing both 'backward' and 'vjp'"):
        both.apply(leaf()).sum().backward()


def test_only_tensors_are_saved():
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2

    with pytest.raises(TypeError, match="argument 1 is of type int"):
        function(forward).apply(leaf())


def test_saved_tensors_are_watched():
    x = leaf() * 1
    y = Square.apply(x)
    x.add_(1)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*Square"):
        y.sum().backward()
    y = Exp.apply(leaf())
    y.mul_(2)
    with pytest.raises(RuntimeError, match=r"modified by an inplace operation.*Exp"):
        y.sum().backward()


def test_saved_tensors_are_freed_by_backward():
    y = Square.apply(leaf())
    node = y.grad_fn
    y.sum().backward()
    with pytest.raises(RuntimeError, match="a second time"):
        node.saved_tensors  # noqa: B018
    y = Square.apply(leaf()).sum()
    y.backward(retain_graph=True)
    y.backward()


def test_hooks_on_the_node():
    x = leaf()
    y = Square.apply(x)
    calls = []
    y.grad_fn.register_prehook(lambda grads: calls.append(("before", grads[0].tolist())))
    handle = y.grad_fn.register_hook(lambda results, grads: (results[0] * 10,))
    y.sum().backward(retain_graph=True)
    assert calls == [("before", [1, 1])]
    assert x.grad.tolist() == [20, 40]
    handle.remove()
    y.sum().backward()
    assert x.grad.tolist() == [22, 44]


def test_a_cycle_through_ctx_is_collected():
    def forward(ctx, x):
        result = x * 2
        ctx.result = result
        return result

    y = function(forward, lambda ctx, grad: grad).apply(leaf())
    watch = weakref.ref(y.grad_fn)
    del y
    gc.collect()
    assert watch() is None


def test_a_long_chain_is_dropped_without_recursion():
    y = leaf()
    twice = function(lambda ctx, x: x * 1, lambda ctx, grad: grad)
    for _ in range(20_000):
        y = twice.apply(y)
    y.sum().backward()
    del y
