"""What a file keeps of a script is right for other inputs, or the file is refused."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest

import flambeau as torch
from flambeau import jit, nn
from flambeau._limits.accepted import AcceptedWarning, _said


def reloaded(script: Any) -> Any:
    file = io.BytesIO()
    jit.save(script, file)
    file.seek(0)
    return jit.load(file)


def times(x, n):
    return x * n


def by_length(x):
    return x * len(x)


def by_loop(x):
    for number in range(x.shape[0]):
        x = x + number
    return x


def by_branch(x):
    return x if x.shape[0] > 100 else x * 2


def by_quotient(x):
    return x * (x.shape[0] / 2)


def by_count_of_integers(x):
    return x.long() * len(x)


def test_numbers_of_a_call_are_not_kept():
    scripted = jit.script(times)
    scripted(torch.ones(2), 3)
    with pytest.raises(RuntimeError, match=r"was called with 3, .* make it a tensor"):
        reloaded(scripted)
    other = jit.script(times)
    other(torch.ones(2), torch.tensor(3.0))
    assert reloaded(other)(torch.ones(2), torch.tensor(5.0)).tolist() == [5, 5]


def test_numbers_given_to_a_loaded_script_are_refused():
    def scaled(x, n=3):
        return x * n

    scripted = jit.script(scaled)
    scripted(torch.ones(2))
    loaded = reloaded(scripted)
    assert loaded(torch.ones(2)).tolist() == [3, 3]
    with pytest.raises(RuntimeError, match=r"expected tensors, .* got int as 'n'"):
        loaded(torch.ones(2), 5)


@pytest.mark.parametrize(
    "function", [by_length, by_loop, by_branch, by_quotient, by_count_of_integers]
)
def test_sizes_that_became_numbers(function: Callable[..., Any]):
    scripted = jit.script(function)
    scripted(torch.ones(2, 3))
    with pytest.raises(RuntimeError, match="would be wrong for inputs of the shapes"):
        reloaded(scripted)


def test_sizes_that_stay_sizes():
    def attention(x, y):
        assert x.shape[1] == y.shape[1]
        return (x @ y.T).view(x.shape[0], -1).softmax(1) * x.shape[1]

    scripted = jit.script(attention)
    scripted(torch.ones(2, 3), torch.ones(4, 3))
    loaded = reloaded(scripted)
    x, y = torch.rand(5, 7), torch.rand(6, 7)
    assert torch.equal(loaded(x, y), attention(x, y))


def test_indices_are_tried_with_what_the_table_has():
    scripted = jit.script(nn.Sequential(nn.Embedding(1, 3), nn.Flatten()))
    scripted(torch.zeros(2, 4, dtype=torch.int64))
    assert reloaded(scripted)(torch.zeros(5, 6, dtype=torch.int64)).shape == (5, 18)


@pytest.mark.parametrize("layer", [nn.Dropout(0.5), nn.BatchNorm1d(3)], ids=["dropout", "norm"])
def test_training_is_not_kept(layer: nn.Module):
    scripted = jit.script(nn.Sequential(nn.Linear(3, 3), layer)).train()
    x = torch.rand(4, 3)
    scripted(x)
    with pytest.raises(RuntimeError, match=r"in training than in evaluation .* call \.eval\(\)"):
        reloaded(scripted)
    assert all(module.training for module in scripted.modules())
    loaded = reloaded(scripted.eval())
    assert torch.equal(loaded(x), scripted(x))
    assert not any(module.training for module in scripted.modules())
    _said.discard("torch.jit.ScriptModule.train")
    with pytest.warns(AcceptedWarning, match="holds the module in evaluation mode"):
        loaded.train()


def test_modules_of_one_behaviour_may_be_in_training():
    scripted = jit.script(nn.Sequential(nn.Linear(3, 3), nn.ReLU())).train()
    scripted(torch.ones(2, 3))
    loaded = reloaded(scripted)
    assert loaded.train().training


def test_examples_that_a_script_is_saved_for():
    x = torch.ones(2, 3)
    assert reloaded(jit.script(torch.relu, example_inputs=[(x,)]))(-x).sum() == 0
    net = nn.Linear(3, 2)
    loaded = reloaded(jit.script(net, example_inputs={net: [(x,)]}))
    assert torch.equal(loaded(x), net(x))


def test_traces_of_numbers_are_refused():
    with pytest.raises(RuntimeError, match=r"expected tensors, .* got int as 'n'"):
        jit.trace(times, (torch.ones(2), 3))


@pytest.mark.filterwarnings("ignore::flambeau.jit.TracerWarning")
def test_check_inputs():
    class Net(nn.Module):
        def forward(self, x):
            return x * 2

        def other(self, x):
            return x * len(x)

    x, longer = torch.ones(2, 3), torch.ones(5, 3)
    with pytest.raises(jit.TracingCheckError, match=r"mul\(%0, 5\)"):
        jit.trace(by_length, x, check_inputs=[(longer,)])
    jit.trace(by_length, x, check_trace=False, check_inputs=[(longer,)])
    jit.trace(times, (x, x), check_inputs=[(longer, longer)])
    inputs = {"forward": x, "other": x}
    jit.trace_module(Net(), inputs, check_inputs=[{"forward": longer}])
    with pytest.raises(jit.TracingCheckError, match="does not hold for check_inputs"):
        jit.trace_module(Net(), inputs, check_inputs=[{"other": longer}])


def test_script_if_tracing():
    @jit.script_if_tracing
    def positive(x, limit):
        return x if x.sum() > limit else x * 2

    loop = jit.script_if_tracing(by_loop)
    x = torch.ones(2, 3)
    assert torch.equal(loop(x), by_loop(x))
    with pytest.raises(RuntimeError, match="turned into a Python boolean"):
        jit.trace(lambda x: positive(x, 3), x)
    with pytest.raises(RuntimeError, match="would be wrong for inputs of the shapes"):
        jit.trace(lambda x: loop(x) * 2, x)
    kept = jit.trace(lambda x: jit.script_if_tracing(times)(x, 3) + x.shape[0], x)
    assert kept(torch.ones(4, 1)).tolist() == [[7]] * 4
    assert str(kept.graph).count("mul") == 1  # the check itself is not recorded


def test_optimize_has_no_effect():
    with pytest.warns(FutureWarning, match="`optimize` is deprecated and has no effect"):
        jit.script(times, optimize=True)
    with pytest.warns(FutureWarning, match="`optimize` is deprecated"):
        jit.trace(torch.relu, torch.ones(1), optimize=True)
    with pytest.warns(FutureWarning, match="`optimize` is deprecated"):
        jit.trace_module(nn.ReLU(), {"forward": torch.ones(1)}, optimize=True)


def test_blocks_without_gradients_are_kept():
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))

        def forward(self, x):
            with torch.no_grad():
                y = x * self.weight
            return y * self.weight

    scripted = jit.script(Net())
    scripted(torch.ones(3))
    loaded = reloaded(scripted)
    loaded(torch.full((3,), 2.0)).sum().backward()
    assert [each.grad.tolist() for each in loaded.parameters()] == [[2, 2, 2]]


def test_what_looks_at_the_mode_of_gradients_is_refused():
    def function(x):
        return x * 2 if torch.is_grad_enabled() else x

    scripted = jit.script(function)
    scripted(torch.ones(2))
    with pytest.raises(RuntimeError, match="would be wrong"):
        reloaded(scripted)
