"""``torch.compile`` and what surrounds it: accepted, checked, and right in its results."""

from __future__ import annotations

import copy
import operator
import warnings

import numpy as np
import pytest

import flambeau as torch
from flambeau import nn
from flambeau._limits.accepted import AcceptedWarning


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 2)
        self.scale = 2.0

    def forward(self, x, shift=0.0):
        return self.layer(x) * self.scale + shift

    def hidden(self):
        return "hidden"


def test_function():
    def double(x):
        """Twice."""
        return x * 2

    compiled = torch.compile(double, fullgraph=True, dynamic=False, mode="max-autotune")
    assert torch.equal(compiled(torch.ones(2)), torch.full((2,), 2.0))
    assert compiled.__name__ == "double"
    assert compiled.__doc__ == "Twice."
    assert compiled.__wrapped__ is double


def test_decorators():
    @torch.compile
    def first(x):
        return x + 1

    @torch.compile(backend="inductor", options={"triton.cudagraphs": True}, dynamic=True)
    def second(x):
        return x + 2

    @torch.compile(disable=True)
    def third(x):
        return x + 3

    x = torch.zeros(1)
    assert [f(x).item() for f in (first, second, third)] == [1, 2, 3]


def test_module():
    net = Net()
    compiled = torch.compile(net, backend="eager")
    assert isinstance(compiled, nn.Module)
    assert isinstance(compiled, torch._dynamo.OptimizedModule)
    assert compiled._orig_mod is net
    x = torch.ones(1, 3)
    assert torch.equal(compiled(x, shift=1.0), net(x, shift=1.0))
    assert list(compiled.state_dict()) == ["_orig_mod.layer.weight", "_orig_mod.layer.bias"]
    assert [name for name, _ in compiled.named_modules()] == ["", "_orig_mod", "_orig_mod.layer"]
    assert repr(compiled).startswith("OptimizedModule(\n  (_orig_mod): Net(")


def test_attributes_of_a_module():
    net = Net()
    compiled = torch.compile(net)
    assert compiled.layer is net.layer
    assert compiled.hidden() == "hidden"
    compiled.scale = 3.0
    assert net.scale == 3.0
    compiled.eval()
    assert not net.training
    assert not compiled.training
    compiled.train()
    assert net.training
    assert "hidden" in dir(compiled)
    with pytest.raises(AttributeError, match="has no attribute 'missing'"):
        _ = compiled.missing
    assert len(torch.compile(nn.Sequential(nn.ReLU(), nn.ReLU()))) == 2


def test_training_a_compiled_module():
    torch.manual_seed(0)
    net = Net()
    twin = copy.deepcopy(net)
    losses = []
    for model in (net, torch.compile(twin)):
        optimizer = torch.optim.SGD(model.parameters(), 0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = model(torch.ones(4, 3)).square().mean()
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == losses[1]


def test_state_dicts_and_copies():
    compiled = torch.compile(Net())
    other = torch.compile(Net())
    other.load_state_dict(compiled.state_dict())
    x = torch.ones(1, 3)
    assert torch.equal(other(x), compiled(x))
    twin = copy.deepcopy(compiled)
    assert isinstance(twin, torch._dynamo.OptimizedModule)
    assert twin._orig_mod is not compiled._orig_mod
    assert torch.compile(compiled) is compiled


def test_module_compile_in_place():
    net = Net()
    net.compile(mode="reduce-overhead")
    assert type(net) is Net
    assert net(torch.ones(1, 3)).shape == (1, 2)
    with pytest.raises(RuntimeError, match="got 'fastest'"):
        net.compile(mode="fastest")


def test_arguments_that_make_no_sense():
    with pytest.raises(
        RuntimeError, match=r"expected mode to be one of default, .*, got 'fastest'"
    ):
        torch.compile(Net(), mode="fastest")
    with pytest.raises(RuntimeError, match="mode and options exclude each other"):
        torch.compile(Net(), mode="default", options={})
    with pytest.raises(torch._dynamo.exc.InvalidBackend, match="there is no backend 'magic'"):
        torch.compile(Net(), backend="magic")
    with pytest.raises(TypeError, match="unexpected keyword argument 'graphs'"):
        torch.compile(Net(), graphs=True)
    with pytest.raises(AssertionError, match="expected a function or module, got int"):
        torch.compile(3)
    with pytest.raises(RuntimeError, match="set_stance: expected one of default"):
        torch.compiler.set_stance("lazy")


def test_it_says_once_that_it_runs_eagerly(monkeypatch):
    monkeypatch.setattr("flambeau._limits.accepted._said", set())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.compile(Net(), backend="eager")  # asks for nothing else
        torch.compile(Net(), disable=True)
    with pytest.warns(AcceptedWarning, match="modules run eagerly") as caught:
        [torch.compile(Net()) for _ in range(2)]
    assert len(caught) == 1
    assert caught[0].filename == __file__
    with pytest.warns(AcceptedWarning, match="graph breaks are not detected"):
        torch.compile(Net(), fullgraph=True)


def test_questions_and_marks():
    assert not torch.compiler.is_compiling()
    assert not torch.compiler.is_dynamo_compiling()
    assert not torch.compiler.is_exporting()
    assert not torch._dynamo.is_compiling()
    assert "inductor" in torch.compiler.list_backends()
    assert "eager" in torch.compiler.list_backends(exclude_tags=())
    torch.compiler.reset()
    torch.compiler.cudagraph_mark_step_begin()
    for mark in (
        torch.compiler.disable,
        torch.compiler.disable(recursive=False, reason="it prints"),
        torch.compiler.allow_in_graph,
        torch.compiler.assume_constant_result,
        torch.compiler.substitute_in_graph(len, skip_signature_check=True),
        torch.compiler.nested_compile_region,
        torch._dynamo.disable,
        torch._dynamo.disallow_in_graph,
    ):
        assert mark(test_function) is test_function
    with torch.compiler.set_stance("force_eager"):
        pass
    with pytest.raises(AssertionError, match="allow_in_graph: expected a function, got int"):
        torch.compiler.allow_in_graph(3)


def test_default_backend():
    assert torch.compiler.get_default_backend() == "inductor"
    torch.compiler.set_default_backend("eager")
    assert torch.compiler.get_default_backend() == "eager"
    torch.compiler.set_default_backend(None)
    assert torch.compiler.get_default_backend() == "inductor"


def test_functions_of_numpy():
    total = torch.compiler.wrap_numpy(lambda x: np.cumsum(x))
    assert torch.equal(total(torch.tensor([1.0, 2.0])), torch.tensor([1.0, 3.0]))


def test_options():
    config = torch._dynamo.config
    assert config.cache_size_limit == 8
    with config.patch(cache_size_limit=64, suppress_errors=True):
        assert config.cache_size_limit == 64
    assert config.cache_size_limit == 8

    @config.patch("verbose", True)
    def verbose():
        return config.verbose

    assert verbose()
    assert not config.verbose
    saved = config.save_config()
    config.suppress_errors = True
    config.load_config(saved)
    assert not config.suppress_errors
    torch._inductor.config.triton.cudagraphs = True
    assert torch._inductor.config.triton.cudagraphs
    with torch._inductor.config.patch({"triton.cudagraphs": False, "dce": True}):
        assert not torch._inductor.config.triton.cudagraphs
    torch._inductor.config.coordinate_descent_tuning = True
    assert "coordinate_descent_tuning" in torch._inductor.list_options()


def test_options_with_two_names():
    with torch.compiler.config.patch(recompile_limit=3):
        assert torch._dynamo.config.recompile_limit == 3
        assert torch._dynamo.config.cache_size_limit == 3
    assert torch._dynamo.config.recompile_limit == 8


@pytest.mark.parametrize("place", ["_dynamo.config", "_inductor.config", "_inductor.config.triton"])
def test_options_that_do_not_exist(place):
    config = operator.attrgetter(place)(torch)
    with pytest.raises(AttributeError, match=rf"torch\.{place}\.speed does not exist"):
        _ = config.speed
    with pytest.raises(AttributeError, match=rf"torch\.{place}\.speed does not exist"):
        config.speed = 2
    with (
        pytest.raises(AttributeError, match="speed does not exist"),
        torch._dynamo.config.patch(speed=1),
    ):
        pass
    with pytest.raises(RuntimeError, match="Unexpected optimization option speed"):
        torch.compile(Net(), options={"speed": 1})


def test_decorator_of_the_older_name():
    optimized = torch._dynamo.optimize("eager")(Net())
    assert isinstance(optimized, torch._dynamo.OptimizedModule)
