"""Passes over graphs, and names that programs import from the corners of torch.fx."""

from __future__ import annotations

import pytest

import flambeau as torch
from flambeau import fx, nn
from flambeau.fx._compatibility import compatibility
from flambeau.fx.experimental import optimization, symbolic_shapes
from flambeau.fx.experimental.proxy_tensor import get_proxy_mode, make_fx
from flambeau.fx.passes.infra.pass_base import PassBase, PassResult
from flambeau.fx.passes.regional_inductor import regional_inductor
from flambeau.utils._python_dispatch import TorchDispatchMode, is_traceable_wrapper_subclass


def network():
    net = nn.Sequential(
        nn.Conv2d(1, 2, 3),
        nn.BatchNorm2d(2),
        nn.ReLU(),
        nn.Dropout(),
        nn.Flatten(),
        nn.Linear(8, 3),
    )
    net(torch.randn(4, 1, 4, 4))
    return net


def test_normalisation_is_merged():
    net = network().eval()
    fused = optimization.fuse(net)
    x = torch.randn(2, 1, 4, 4)
    torch.testing.assert_close(fused(x), net(x))
    assert "1" not in dict(fused.named_children())
    assert isinstance(net[1], nn.BatchNorm2d)


def test_normalisation_in_training_stays():
    fused = optimization.fuse(network())
    assert "1" in dict(fused.named_children())


def test_dropout_is_removed():
    made = optimization.remove_dropout(network())
    assert not any(isinstance(module, nn.Dropout) for module in made.modules())


def test_own_pass():
    class NoRelu(PassBase):
        def call(self, graph_module):
            for node in graph_module.graph.find_nodes(op="call_method", target="relu"):
                node.replace_all_uses_with(node.args[0])
                graph_module.graph.erase_node(node)
            graph_module.recompile()
            return PassResult(graph_module, True)

    gm = fx.symbolic_trace(lambda x: x.relu() + 1)
    result = NoRelu()(gm)
    assert result.modified
    assert result.graph_module(torch.tensor([-1.0])).item() == 0


def test_sizes_are_numbers():
    assert symbolic_shapes.free_symbols(3) == set()
    assert symbolic_shapes.guard_or_false(True)
    assert not symbolic_shapes.statically_known_true(False)
    assert not symbolic_shapes.is_symbolic(3)
    assert symbolic_shapes.DivideByKey(2).get(8) == 4
    with pytest.raises(NotImplementedError, match="dynamic_shapes"):
        symbolic_shapes.ShapeEnv().create_unbacked_symint()


def test_recording_is_known():
    seen = []
    make_fx(lambda x: seen.append(get_proxy_mode()) or x + 1)(torch.ones(1))
    assert seen[0] is not None
    assert get_proxy_mode() is None


def test_what_is_not_available():
    with pytest.raises(NotImplementedError, match="no compiler for parts"):
        regional_inductor(None)
    with pytest.raises(NotImplementedError, match=r"torch\.overrides\.TorchFunctionMode"):
        TorchDispatchMode().__enter__()
    assert not is_traceable_wrapper_subclass(torch.ones(1))


def test_marks():
    @compatibility(is_backward_compatible=True)
    def function():
        return 1

    assert function() == 1
