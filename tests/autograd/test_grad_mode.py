"""no_grad, enable_grad, set_grad_enabled and inference_mode: what is recorded where."""

from __future__ import annotations

import threading

import pytest

import flambeau as fb
from flambeau import is_grad_enabled

SWITCHES = [
    (fb.no_grad, False),
    (fb.enable_grad, True),
    (lambda: fb.set_grad_enabled(False), False),
    (lambda: fb.set_grad_enabled(True), True),
    (fb.inference_mode, False),
]


@pytest.fixture(autouse=True)
def _mode_is_restored():
    assert is_grad_enabled()
    yield
    assert is_grad_enabled()
    assert not fb.is_inference_mode_enabled()


@pytest.mark.parametrize(("switch", "mode"), SWITCHES)
def test_as_context_manager(switch, mode):
    with switch():
        assert is_grad_enabled() is mode


@pytest.mark.parametrize(("switch", "mode"), SWITCHES)
def test_left_by_an_exception(switch, mode):
    with pytest.raises(ZeroDivisionError), switch():
        raise ZeroDivisionError


@pytest.mark.parametrize(("switch", "mode"), SWITCHES)
def test_as_decorator(switch, mode):
    @switch()
    def function(x, *, y):
        """Its own text."""
        return is_grad_enabled(), x, y

    assert function(1, y=2) == (mode, 1, 2)
    assert function.__name__ == "function"
    assert function.__doc__ == "Its own text."


@pytest.mark.parametrize(
    ("switch", "mode"), [(fb.no_grad, False), (fb.enable_grad, True), (fb.inference_mode, False)]
)
def test_as_decorator_without_parentheses(switch, mode):
    @switch
    def function():
        return is_grad_enabled()

    assert function() is mode


def test_as_decorator_of_a_method():
    class Model:
        @fb.no_grad()
        def forward(self, x):
            return x * 2

    assert not Model().forward(fb.ones(2, requires_grad=True)).requires_grad


def test_a_decorated_function_may_call_itself():
    @fb.no_grad()
    def depth(n):
        assert not is_grad_enabled()
        return 0 if n == 0 else 1 + depth(n - 1)

    assert depth(5) == 5


def test_of_a_generator_only_its_own_code_sees_the_mode():
    seen = []

    @fb.no_grad()
    def numbers():
        try:
            for i in range(3):
                seen.append(is_grad_enabled())
                received = yield i
                seen.append(received)
        finally:
            seen.append(is_grad_enabled())
        return "end"

    generator = numbers()
    assert is_grad_enabled()
    assert next(generator) == 0
    assert is_grad_enabled()
    assert generator.send("sent") == 1
    assert is_grad_enabled()
    generator.close()
    assert seen == [False, "sent", False, False]


def test_of_a_generator_errors_and_result_pass():
    @fb.no_grad()
    def catches():
        try:
            yield 1
        except ValueError:
            yield is_grad_enabled()
        return "result"

    generator = catches()
    next(generator)
    assert generator.throw(ValueError()) is False
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "result"


def test_one_object_entered_twice():
    for switch in (fb.no_grad(), fb.inference_mode()):
        with switch:
            with switch:
                assert not is_grad_enabled()
            assert not is_grad_enabled()
        assert is_grad_enabled()


def test_set_grad_enabled_as_a_function():
    fb.set_grad_enabled(False)
    assert not is_grad_enabled()
    fb.set_grad_enabled(True)
    assert is_grad_enabled()


def test_set_grad_enabled_goes_back_to_what_was_before_the_call():
    switch = fb.set_grad_enabled(False)
    with switch:
        with switch:
            assert not is_grad_enabled()
        assert not is_grad_enabled()
    assert is_grad_enabled()


def test_set_grad_enabled_as_a_decorator_leaves_the_mode_alone():
    @fb.set_grad_enabled(False)
    def function():
        return is_grad_enabled()

    assert is_grad_enabled()
    assert function() is False


def test_decorating_a_class_is_decorating_its_constructor():
    with pytest.warns(FutureWarning, match="Decorating classes is deprecated"):

        @fb.no_grad()
        class Thing:
            def __init__(self):
                self.at_birth = is_grad_enabled()

            def now(self):
                return is_grad_enabled()

    assert Thing().at_birth is False
    assert Thing().now() is True


def test_threads_have_modes_of_their_own():
    seen = []
    with fb.no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_no_grad_results_are_leaves():
    x = fb.ones(2, requires_grad=True)
    with fb.no_grad():
        y = x * 2
        assert not y.requires_grad
        assert y.is_leaf
        with fb.enable_grad():
            assert (x * 2).requires_grad
        assert fb.ones(2, requires_grad=True).requires_grad


def test_no_grad_lets_leaves_be_changed():
    x = fb.ones(2, requires_grad=True)
    with fb.no_grad():
        x -= 0.5
    assert x.tolist() == [0.5, 0.5]
    assert x.requires_grad
    assert x.is_leaf


def test_inference_mode():
    x = fb.ones(2, requires_grad=True)
    with fb.inference_mode():
        assert fb.is_inference_mode_enabled()
        y = x * 2
        assert not y.requires_grad
        assert y.is_inference()
        with fb.inference_mode(False):
            assert not fb.is_inference_mode_enabled()
            assert is_grad_enabled()
            assert not fb.ones(2).is_inference()
    assert not fb.ones(2).is_inference()
    with pytest.raises(RuntimeError, match="Inference tensors cannot be saved for backward"):
        x * y


def test_inference_mode_outside_of_no_grad():
    with fb.no_grad():
        with fb.inference_mode(False):
            assert is_grad_enabled()
        assert not is_grad_enabled()
        with fb.inference_mode(), fb.enable_grad():
            assert not (fb.ones(1, requires_grad=True) * 2).requires_grad


def test_views_of_inference_tensors_are_inference_tensors():
    with fb.inference_mode():
        x = fb.ones(2, 2)
    for view in (x[0], x.view(4), x.t(), x.expand(3, 2, 2), x.detach(), x.data, x[0][:1]):
        assert view.is_inference()
        assert not view._is_view()
        assert view._base is None
        with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
            view.mul_(2)
        with pytest.raises(RuntimeError, match="cannot be saved for backward"):
            fb.ones(1, requires_grad=True) * view
        with pytest.raises(RuntimeError, match="do not track version counter"):
            view._version  # noqa: B018
    for other in (x.clone(), x + 1):
        assert not other.is_inference()


def test_views_of_other_tensors_in_inference_mode_are_not():
    x = fb.ones(2, 2)
    with fb.inference_mode():
        assert not any(y.is_inference() for y in (x[0], x.view(4), x.detach(), x.data))
        assert all(y.is_inference() for y in (x.clone(), x + 1, x[0].clone()))


@pytest.mark.parametrize("name", ["add", "matmul"])
def test_inference_tensors_are_not_written_to(name):
    with fb.inference_mode():
        x = fb.ones(2, 2)
    with pytest.raises(RuntimeError, match="Inplace update to inference tensor"):
        getattr(fb, name)(fb.ones(2, 2), fb.ones(2, 2), out=x)
    with fb.inference_mode():
        getattr(fb, name)(fb.ones(2, 2), fb.ones(2, 2), out=x)
    assert x[0, 0] == 2


def test_set_multithreading_enabled():
    with fb.autograd.set_multithreading_enabled(False):
        pass
    fb.autograd.set_multithreading_enabled(True)
