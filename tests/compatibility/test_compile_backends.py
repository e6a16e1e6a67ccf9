"""``torch.compile(f, backend=g)``: ``g`` gets the graphs of ``f``, and what it returns is run."""

from __future__ import annotations

from typing import Any

import pytest

import flambeau as torch
from flambeau import nn
from flambeau._dynamo import exc
from flambeau._limits.accepted import AcceptedWarning


class Backend:
    """Notes what it is given."""

    def __init__(self) -> None:
        self.graphs: list[torch.fx.GraphModule] = []
        self.inputs: list[list[torch.Tensor]] = []
        self.runs = 0

    def __call__(self, graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        self.graphs.append(graph)
        self.inputs.append(inputs)

        def run(*given: torch.Tensor) -> Any:
            self.runs += 1
            return graph(*given)

        return run


@pytest.fixture
def backend() -> Backend:
    return Backend()


def test_it_is_called_and_what_it_returns_is_run(backend: Backend):
    def waves(x, factor=2, *, shift=None):
        return {"wave": torch.sin(x) * factor, "rest": [shift, x.shape[0], "text"]}

    compiled = torch.compile(waves, backend=backend)
    x = torch.rand(2, 3)
    for _ in range(2):
        result = compiled(x)
    assert torch.equal(result["wave"], x.sin() * 2)
    assert result["rest"] == [None, 2, "text"]
    assert (len(backend.graphs), backend.runs) == (1, 2)
    assert [node.op for node in backend.graphs[0].graph.nodes].count("placeholder") == 1
    assert backend.inputs[0][0] is x
    assert torch.equal(compiled(x, 3, shift=x)["wave"], x.sin() * 3)
    assert len(backend.graphs) == 2


def test_what_it_returns_replaces_the_function():
    compiled = torch.compile(lambda x: x + 1, backend=lambda graph, inputs: lambda x: (x * 10,))
    assert compiled(torch.ones(2)).tolist() == [10, 10]


def test_modules_learn(backend: Backend):
    net = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.Linear(4, 2)).eval()
    compiled = torch.compile(net, backend=backend)
    x = torch.rand(5, 3)
    assert torch.equal(compiled(x), net(x))
    compiled(x).sum().backward()
    assert net[0].weight.grad is not None
    assert (len(backend.graphs), backend.runs) == (1, 2)
    compiled.train()
    torch.manual_seed(0)
    result = compiled(x)
    torch.manual_seed(0)
    assert torch.equal(result, net(x))


def test_modules_in_place(backend: Backend):
    net = nn.Linear(3, 2)
    net.compile(backend=backend)
    assert net(torch.ones(1, 3)).shape == (1, 2)
    assert backend.runs == 1


def test_nothing_that_a_function_depends_on_goes_unseen(backend: Backend):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = nn.Parameter(torch.ones(3))
            self.register_buffer("calls", torch.zeros(()))
            self.scale = 1.0

        def forward(self, x):
            self.calls.add_(1)
            if isinstance(x, torch.Tensor):
                x = x * self.weight
            return x * self.scale + torch.rand(3)

    net = Net()
    compiled = torch.compile(net, backend=backend, fullgraph=True)
    for scale in (1.0, 5.0, 1.0):
        net.scale = scale
        torch.manual_seed(3)
        result = compiled(torch.ones(3))
        torch.manual_seed(3)
        assert torch.equal(result, torch.full((3,), scale) + torch.rand(3))
    assert net.calls == 3
    assert len(backend.graphs) == 2


def test_kinds_of_inputs(backend: Backend):
    compiled = torch.compile(torch.sin, backend=backend)
    fixed = Backend()
    dynamic = torch.compile(torch.sin, backend=fixed, dynamic=True)
    for x in (torch.ones(2), torch.ones(3), torch.ones(3).double(), torch.ones(2)):
        assert torch.equal(compiled(x), x.sin())
        assert torch.equal(dynamic(x), x.sin())
    assert len(backend.graphs) == 3
    assert len(fixed.graphs) == 2


def test_limits(backend: Backend):
    compiled = torch.compile(torch.sin, backend=backend, recompile_limit=2)
    strict = torch.compile(torch.sin, backend=backend, recompile_limit=2, fullgraph=True)
    for size in (1, 2, 3):
        assert compiled(torch.ones(size)).shape == (size,)
    assert len(backend.graphs) == 2
    strict(torch.ones(1))
    strict(torch.ones(2))
    with pytest.raises(exc.FailOnRecompileLimitHit, match="2 graphs were compiled"):
        strict(torch.ones(3))


def by_elements(x):
    return x if x.sum() > 0 else -x


def without_gradients(x):
    with torch.no_grad():
        return x * 2


def backwards(x):
    x.sum().backward()
    return x.grad


@pytest.mark.parametrize("function", [by_elements, without_gradients, backwards])
def test_what_is_not_one_graph(
    function: Any, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("flambeau._limits.accepted._said", set())
    compiled = torch.compile(function, backend=backend)
    with pytest.warns(AcceptedWarning, match=r"not one graph, so it runs eagerly"):
        results = [compiled(torch.full((2,), value, requires_grad=True)) for value in (1.0, -1.0)]
    for value, result in zip((1.0, -1.0), results, strict=True):
        expected = function(torch.full((2,), value, requires_grad=True))
        assert torch.equal(result, expected)
        assert result.requires_grad == expected.requires_grad
    assert not backend.graphs
    strict = torch.compile(function, backend=backend, fullgraph=True)
    with pytest.raises(exc.Unsupported, match="the function is not one graph"):
        strict(torch.ones(2, requires_grad=True))


def test_backends_that_fail():
    def broken(graph, inputs):
        raise ValueError("no")

    compiled = torch.compile(torch.sin, backend=broken)
    with pytest.raises(exc.BackendCompilerFailed, match="backend='broken' raised"):
        compiled(torch.ones(2))
    with torch._dynamo.config.patch(suppress_errors=True):
        assert torch.equal(compiled(torch.ones(2)), torch.ones(2).sin())
    with pytest.raises(exc.BackendCompilerFailed, match="expected the backend to return a"):
        torch.compile(torch.sin, backend=lambda graph, inputs: 3)(torch.ones(2))


def test_options_and_defaults_go_to_the_backend(backend: Backend):
    seen = []

    def noting(graph, inputs, **options):
        seen.append(options)
        return graph

    torch.compile(torch.sin, backend=noting, options={"speed": 1})(torch.ones(1))
    torch.compile(torch.sin, backend=noting, mode="max-autotune")(torch.ones(1))
    assert seen == [{"options": {"speed": 1}}, {"mode": "max-autotune"}]
    torch.compiler.set_default_backend(backend)
    try:
        torch.compile(torch.sin)(torch.ones(1))
    finally:
        torch.compiler.set_default_backend(None)
    torch._dynamo.optimize(backend, nopython=True)(torch.sin)(torch.ones(1))
    assert backend.runs == 2
