"""`__torch_function__`: classes and modes that answer for functions, methods and operators."""

from __future__ import annotations

import copy
import inspect
import threading

import pytest

import flambeau as torch
import flambeau.nn.functional as F
from flambeau import nn, overrides


class Logged:
    """No tensor, but taken for one: remembers the last call and answers with it."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func, types, args, kwargs


class Refusing:
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return NotImplemented


class Plain(torch.Tensor):
    pass


class Deeper(Plain):
    pass


class Recorder(overrides.TorchFunctionMode):
    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append(overrides.resolve_name(func))
        return func(*args, **(kwargs or {}))


# --- objects that are no tensors


def test_function_gets_arguments_as_given():
    thing, x = Logged(), torch.ones(2)
    func, types, args, kwargs = torch.add(x, thing, alpha=2)
    assert func is torch.add
    assert types == (Logged,)
    assert args == (x, thing)
    assert kwargs == {"alpha": 2}


def test_functions_with_python_bodies_and_of_namespaces():
    thing = Logged()
    for function in (torch.einsum, torch.linalg.norm, F.relu, F.cross_entropy, F.lp_pool2d):
        assert function(thing)[0] is function


def test_argument_in_list():
    thing, x = Logged(), torch.ones(2)
    assert torch.cat([x, thing])[0] is torch.cat
    assert torch.stack((thing, x), dim=0)[3] == {"dim": 0}


def test_method_and_operators_of_tensor():
    thing, x = Logged(), torch.ones(2)
    assert x.mul(thing)[0] is torch.Tensor.mul
    assert (x + thing)[0] is torch.Tensor.add
    assert (thing - x)[0] is torch.Tensor.__rsub__
    assert (thing - x)[2] == (x, thing)
    assert (x == thing)[0] is torch.Tensor.__eq__
    assert x[thing][0] is torch.Tensor.__getitem__


def test_subclasses_are_asked_first():
    class Finer(Logged):
        pass

    coarse, fine = Logged(), Finer()
    assert torch.add(coarse, fine)[1] == (Finer, Logged)
    assert torch.stack([fine, coarse, Finer()])[1] == (Finer, Logged)


def test_refusal_names_function_and_classes():
    with pytest.raises(TypeError, match=r"Multiple dispatch failed for .*add.*: Refusing"):
        torch.add(torch.ones(1), Refusing())
    with pytest.raises(TypeError, match="unsupported operand"):
        torch.ones(1) + Refusing()


def test_the_next_class_is_asked():
    assert torch.add(Refusing(), Logged())[0] is torch.add


def test_object_without_override_gives_the_usual_error():
    with pytest.raises(TypeError, match="must be Tensor, not object"):
        torch.relu(object())


def test_exception_passes_through():
    class Failing:
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        torch.sum(Failing())


# --- subclasses of Tensor


def test_results_have_the_class_of_the_subclass():
    x = torch.ones(2, 2).as_subclass(Plain)
    y = torch.ones(2, 2)
    for made in (x + y, y + x, 1 - x, x @ y, -x, x[0], x.T, x.sum(), torch.cat([y, x]), F.relu(x)):
        assert type(made) is Plain
    assert all(type(part) is Plain for part in x.split(1))
    values, indices = x.max(dim=0)
    assert type(values) is Plain
    assert type(indices) is Plain
    assert type(x.max(dim=0)).__name__ == "max"
    x += 1
    assert type(x) is Plain


def test_what_is_no_tensor_stays():
    x = torch.ones(2, 3).as_subclass(Plain)
    assert x.shape == (2, 3)
    assert len(x) == 2
    assert x.sum().item() == 6.0
    assert bool(x.any())
    assert repr(x).startswith("Plain([[1., 1., 1.]")


def test_finer_class_wins():
    assert type(torch.ones(1).as_subclass(Plain) + torch.ones(1).as_subclass(Deeper)) is Deeper


def test_unrelated_subclasses_do_not_mix():
    class Other(torch.Tensor):
        pass

    with pytest.raises(TypeError):
        torch.add(torch.ones(1).as_subclass(Plain), torch.ones(1).as_subclass(Other))


def test_gradients_flow_through_subclasses():
    x = torch.ones(3, requires_grad=True)
    y = (x.as_subclass(Plain) * 3).sum()
    assert type(y) is Plain
    y.backward()
    assert x.grad.tolist() == [3.0, 3.0, 3.0]
    assert type(x.grad) is torch.Tensor


def test_copies_keep_the_class():
    x = torch.ones(2).as_subclass(Plain)
    assert type(copy.deepcopy(x)) is Plain
    assert type(x.clone()) is Plain
    assert type(x.to(torch.float64)) is Plain


def test_own_torch_function_and_super():
    calls = []

    class Counting(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            calls.append(func)
            return super().__torch_function__(func, types, args, kwargs)

    x = torch.ones(2).as_subclass(Counting)
    y = x * 2
    assert calls == [torch.Tensor.mul]
    assert type(y) is Counting
    calls.clear()
    assert x.shape == (2,)
    assert calls == [torch.Tensor.shape.__get__]
    calls.clear()
    x.requires_grad = True
    assert calls == [torch.Tensor.requires_grad.__set__]


def test_attributes_of_wrappers():
    """A tensor with data of its own beside the elements, as in PyTorch's documentation."""

    class Tagged(torch.Tensor):
        @staticmethod
        def __new__(cls, x, tag, *args, **kwargs):
            return super().__new__(cls, x, *args, **kwargs)

        def __init__(self, x, tag):
            self.tag = tag

        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            tags = [a.tag for a in args if isinstance(a, cls)]
            made = super().__torch_function__(func, types, args, kwargs or {})
            if isinstance(made, cls):
                made.tag = tags[0]
            return made

    x = Tagged(torch.ones(2), "left")
    assert (x + 1).tag == "left"


def test_parameters_and_buffers_give_tensors():
    weight = nn.Parameter(torch.ones(2))
    assert type(weight + 1) is torch.Tensor
    assert type(nn.Buffer(torch.ones(2)) * 2) is torch.Tensor

    class Special(nn.Parameter):
        pass

    assert type(Special(torch.ones(2)) * 2) is torch.Tensor
    assert not overrides.has_torch_function_unary(Special(torch.ones(2)))


def test_disabled_override():
    class Quiet(torch.Tensor):
        __torch_function__ = torch._C._disabled_torch_function_impl

    assert type(torch.ones(1).as_subclass(Quiet) + 1) is torch.Tensor


def test_disable_subclass():
    x = torch.ones(2).as_subclass(Plain)
    with torch._C.DisableTorchFunctionSubclass():
        assert not torch._C._is_torch_function_enabled()
        assert type(x + 1) is torch.Tensor
    assert type(x + 1) is Plain
    with torch._C.DisableTorchFunctionSubclass(), pytest.raises(TypeError):
        torch.relu(Logged())


def test_module_with_subclass_input():
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.BatchNorm1d(4), nn.Dropout(0.5))
    assert type(net(torch.ones(2, 3).as_subclass(Plain))) is Plain


# --- modes


def test_mode_sees_calls_and_creation():
    with Recorder() as mode:
        x = torch.zeros(2)
        _ = (x + 1).relu()
        _ = x.shape
        x[0] = 1
    assert mode.calls == [
        "torch.zeros",
        "torch.Tensor.add",
        "torch.Tensor.relu",
        "torch.Tensor.shape.__get__",
        "torch.Tensor.__setitem__",
    ]
    torch.ones(1) + 1
    assert len(mode.calls) == 5


def test_modes_nest():
    outer, inner = Recorder(), Recorder()
    with outer, inner:
        torch.ones(1)
    assert outer.calls == inner.calls == ["torch.ones"]


def test_mode_can_answer_itself():
    class Zero(overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if func is torch.ones:
                return torch.zeros(*args, **kwargs)
            return func(*args, **kwargs)

    with Zero():
        assert torch.ones(2).tolist() == [0.0, 0.0]


def test_mode_before_classes():
    with Recorder() as mode:
        made = torch.add(torch.ones(1), torch.ones(1).as_subclass(Plain))
    assert type(made) is Plain
    assert mode.calls == ["torch.ones", "torch.ones", "torch.add"]


def test_mode_is_left_after_an_error():
    with pytest.raises(RuntimeError), Recorder():
        torch.ones(2) + torch.ones(3)
    assert torch._C._len_torch_function_stack() == 0


def test_mode_is_of_one_thread():
    seen = []
    with Recorder() as mode:
        thread = threading.Thread(target=lambda: seen.append(torch.ones(1)))
        thread.start()
        thread.join()
    assert mode.calls == []
    assert seen[0].item() == 1


def test_mode_without_function():
    refused = pytest.raises(NotImplementedError, match="TorchFunctionMode must define")
    with refused, overrides.TorchFunctionMode():
        torch.ones(1)


def test_base_mode_and_all_disabled():
    with overrides.BaseTorchFunctionMode():
        assert torch.ones(1).item() == 1
        assert overrides.has_torch_function((1,))
    with Recorder() as mode, torch._C.DisableTorchFunction():
        torch.ones(1)
    assert mode.calls == []


# --- torch.overrides


def test_has_torch_function():
    x, thing = torch.ones(1), Logged()
    assert not overrides.has_torch_function((x, nn.Parameter(x), 1, None, "text"))
    assert overrides.has_torch_function([x, thing])
    assert overrides.has_torch_function_unary(thing)
    assert overrides.has_torch_function_variadic(x, thing)
    assert not overrides.has_torch_function_variadic(x, x)


def test_handle_and_wrap():
    def double(x):
        if overrides.has_torch_function_unary(x):
            return overrides.handle_torch_function(double, (x,), x)
        return x * 2

    @overrides.wrap_torch_function(lambda x, y=None: (x, y))
    def triple(x, y=None):
        """Three times."""
        return x * 3

    thing = Logged()
    assert double(thing)[0] is double
    assert double(2) == 4
    assert triple(1, y=thing)[0] is triple
    assert triple(2) == 6
    assert triple.__doc__ == "Three times."


def test_is_tensor_like():
    assert overrides.is_tensor_like(torch.ones(1))
    assert overrides.is_tensor_like(Logged())
    assert not overrides.is_tensor_like(1)


def test_overridable_functions():
    found = overrides.get_overridable_functions()
    assert torch.add in found[torch]
    assert F.relu in found[F]
    assert torch.Tensor.add in found[torch.Tensor]
    assert torch.Tensor.shape.__get__ in found[torch.Tensor]
    assert torch.is_tensor in overrides.get_ignored_functions()


def test_names():
    assert overrides.resolve_name(torch.add) == "torch.add"
    assert overrides.resolve_name(torch.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(F.cross_entropy) == "torch.nn.functional.cross_entropy"
    assert overrides.resolve_name(torch.Tensor.shape.__get__) == "torch.Tensor.shape.__get__"
    assert overrides.resolve_name(print) is None
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert overrides.is_tensor_method_or_property(torch.Tensor.shape.__get__)
    assert not overrides.is_tensor_method_or_property(torch.add)


def test_testing_overrides_have_the_signature():
    dummies = overrides.get_testing_overrides()
    assert dummies[torch.relu](1) == -1
    assert list(inspect.signature(dummies[torch.relu]).parameters) == ["input"]


# Python takes an integer, a bool or nothing as their result.
PROTOCOLS = {torch.Tensor.__len__, torch.Tensor.__bool__, torch.Tensor.__setitem__}
TAKE_ANY_DATA = {torch.tensor, torch.as_tensor, torch.asarray}


def _calls():
    for functions in overrides.get_overridable_functions().values():
        for function in set(functions) - PROTOCOLS - TAKE_ANY_DATA:
            try:
                parameters = inspect.signature(function).parameters.values()
            except (TypeError, ValueError):
                yield function, 1
                continue
            required = [p for p in parameters if p.default is p.empty and p.kind < 2]
            if required:
                yield function, len(required)


def test_every_function_hands_over_itself():
    thing = torch.ones(1).as_subclass(Answering)
    wrong = []
    for function, count in _calls():
        made = function(*[thing] * count)
        is_operator = function.__name__.startswith("__")  # may be handed over as the method
        known = is_operator and overrides.resolve_name(made) is not None
        if made is not function and made != function and not known:
            wrong.append(overrides.resolve_name(function))
    assert wrong == []


class Answering(torch.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return func


def test_tensors_without_a_size_refuse_to_compute():
    for thing in (nn.UninitializedParameter(), nn.parameter.UninitializedBuffer()):
        with pytest.raises(ValueError, match=r"uninitialized parameter in .*add"):
            thing + 1
        with pytest.raises(ValueError, match="call `forward` with a dummy batch"):
            torch.relu(thing)
        assert thing.dtype is torch.float32
        assert thing.is_floating_point()
