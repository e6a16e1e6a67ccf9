"""``torch.jit``: scripts and traces."""

from __future__ import annotations

import copy
import gc
import pickle
import weakref
from typing import NamedTuple

import pytest

import flambeau as torch
from flambeau import jit, nn
from flambeau.nn import functional as F
from tests.compatibility.networks import Choice, images, network


@pytest.fixture
def net():
    return network()


# --- scripts


def test_scripted_function():
    @jit.script
    def shifted(x, by: int = 2):
        """Moved."""
        return x + by

    assert isinstance(shifted, jit.ScriptFunction)
    assert shifted(torch.zeros(1), by=3).item() == 3
    assert shifted.name == "shifted"
    assert shifted.__doc__ == "Moved."
    assert "return x + by" in shifted.code
    assert jit.script(shifted) is shifted
    with pytest.raises(RuntimeError, match=r"has no graph; torch\.jit\.trace records one"):
        _ = shifted.graph


def test_scripted_method_of_a_class():
    class Counter:
        @jit.script
        def twice(self, x):
            return x * 2

    assert Counter().twice(3) == 6


def test_scripted_module(net):
    scripted = jit.script(net)
    assert isinstance(scripted, jit.ScriptModule)
    assert isinstance(scripted, jit.RecursiveScriptModule)
    assert isinstance(scripted.conv, jit.ScriptModule)
    assert torch.equal(scripted(images()), net(images()))
    assert list(scripted.state_dict()) == list(net.state_dict())
    assert scripted.head.weight is net.head.weight
    assert scripted.original_name == "Net"
    assert repr(scripted).startswith("RecursiveScriptModule(\n  original_name=Net\n  (conv): ")
    assert "F.max_pool2d" in scripted.code
    assert scripted.twice(3) == 6
    assert scripted.log(3) == "logged"
    assert scripted.scale == 2.0
    assert jit.script(scripted) is scripted


def test_a_script_has_a_mode_of_its_own(net):
    scripted = jit.script(net)
    scripted.train()
    assert not net.training
    assert scripted.norm.training
    assert not net.norm.training


def test_scripts_of_containers():
    scripted = jit.script(nn.Sequential(nn.Linear(2, 2), nn.ReLU()))
    assert scripted[0].weight.shape == (2, 2)
    assert scripted(torch.ones(1, 2)).shape == (1, 2)
    shared = nn.Linear(2, 2)
    twice = jit.script(nn.ModuleList([shared, shared]))
    assert twice[0] is twice[1]


def test_scripts_learn(net):
    scripted = jit.script(net).train()
    optimizer = torch.optim.SGD(scripted.parameters(), 0.1)
    before = net.head.bias.clone()
    scripted(images()).sum().backward()
    optimizer.step()
    assert not torch.equal(net.head.bias, before)


def test_copies_of_scripts(net):
    scripted = jit.script(net)
    twin = copy.deepcopy(scripted)
    assert torch.equal(twin(images()), scripted(images()))
    assert twin.head.weight is not scripted.head.weight
    with pytest.raises((pickle.PicklingError, AttributeError, TypeError)):
        pickle.dumps(scripted)


def test_classes_are_left_as_they_are():
    class Point(NamedTuple):
        x: int

    assert jit.script(Point) is Point
    assert jit.interface(Point) is Point
    assert jit.script([1, 2]) == [1, 2]
    with pytest.raises(TypeError, match="script: expected a function, module or class, got int"):
        jit.script(3)
    with pytest.raises(NotImplementedError, match="write the function in Python"):
        jit.CompilationUnit("def f(x): return x")


def test_marks():
    class Marked(jit.ScriptModule):
        __constants__ = ["size"]  # noqa: RUF012

        def __init__(self):
            super().__init__()
            self.size: jit.Final[int] = 3
            self.table = jit.Attribute({}, dict[str, int])

        @jit.script_method
        def forward(self, x):
            return x + self.size

        @jit.unused
        def broken(self):
            return jit.annotate(list[int], [])

        @jit.ignore(drop=True)
        def dropped(self):
            return 1

        @jit.unused
        @property
        def answer(self):
            return 42

    marked = Marked()
    assert marked(torch.zeros(1)).item() == 3
    assert marked.broken() == []
    assert marked.dropped() == 1
    assert marked.answer == 42
    assert marked.table.value == {}
    assert not jit.is_scripting()
    assert not jit.is_tracing()
    with pytest.raises(RuntimeError, match="ignore: expected a function or a bool, got int"):
        jit.ignore(3)


@pytest.mark.parametrize(
    ("value", "kind", "expected"),
    [
        ([1], list[int], True),
        ([1, "a"], list[int], False),
        ({"a": 1}, dict[str, int], True),
        ({"a": "b"}, dict[str, int], False),
        ((1, "a"), tuple[int, str], True),
        ((1,), tuple[int, str], False),
        ((1, 2, 3), tuple[int, ...], True),
        (None, int | None, True),
        ("a", int | list[int], False),
        ([[1]], list[list[int]], True),
        (3, (int, str), True),
        (3, int, True),
    ],
)
def test_isinstance(value, kind, expected):
    assert jit.isinstance(value, kind) is expected


def test_isinstance_needs_the_elements():
    with pytest.raises(RuntimeError, match="expected the type of the elements too"):
        jit.isinstance([1], list)


def test_futures():
    future = jit.fork(lambda x, y: x + y, 1, y=2)
    assert isinstance(future, jit.Future)
    assert jit.wait(future) == 3


def test_options(net):
    assert jit.set_fusion_strategy([("STATIC", 1)]) == [("STATIC", 2), ("DYNAMIC", 10)]
    assert jit.set_fusion_strategy([("STATIC", 2), ("DYNAMIC", 10)]) == [("STATIC", 1)]
    jit.enable_onednn_fusion(True)
    assert jit.onednn_fusion_enabled()
    jit.enable_onednn_fusion(False)
    with jit.fuser("fuser1"), jit.optimized_execution(False), jit.strict_fusion():
        pass
    with pytest.raises(RuntimeError, match="freeze: expected a ScriptModule, got Net"):
        jit.freeze(net)
    with pytest.raises(RuntimeError, match="expected a module in evaluation"):
        jit.freeze(jit.script(net).train())
    frozen = jit.freeze(jit.script(net).eval())
    assert torch.equal(frozen(images()), net(images()))
    assert not any(parameter.requires_grad for parameter in frozen.parameters())
    assert jit.optimize_for_inference(jit.script(net))(images()).shape == (2, 3)


# --- traces


def test_traced_function():
    traced = jit.trace(lambda x, y: (x * y).sum(), (torch.ones(2), torch.ones(2)))
    assert isinstance(traced, jit.ScriptFunction)
    assert traced(torch.tensor([1.0, 2.0]), torch.tensor([3.0, 4.0])).item() == 11
    assert "sum" in traced.code


def test_traced_module(net):
    traced = jit.trace(net, example_inputs=images(), check_trace=True, strict=True)
    assert isinstance(traced, jit.TopLevelTracedModule)
    assert isinstance(traced, jit.ScriptModule)
    assert torch.allclose(traced(images(5)), net(images(5)))  # another number of images
    assert torch.allclose(traced(x=images(1)), net(images(1)))
    assert list(traced.state_dict()) == list(net.state_dict())
    assert traced.head.weight is net.head.weight
    assert traced.original_name == "Net"
    assert "self.conv.weight" in traced.code


def test_a_trace_does_not_run_the_module(net):
    traced = jit.trace(net, images())
    before = traced(images())
    net.scale = 5.0
    assert torch.equal(traced(images()), before)


def test_traces_learn(net):
    traced = jit.trace(net.train(), images())
    traced(images()).sum().backward()
    assert net.conv.weight.grad is not None


def test_traces_by_keyword(net):
    traced = jit.trace(net, example_kwarg_inputs={"x": images()})
    assert torch.allclose(traced(images(3)), net(images(3)))
    with pytest.raises(RuntimeError, match="expected example_inputs, or a dict"):
        jit.trace(net)


def test_trace_module(net):
    traced = jit.trace_module(net, {"forward": images(), "twice": torch.ones(2)})
    assert torch.equal(traced.twice(torch.tensor([3.0, 4.0])), torch.tensor([6.0, 8.0]))
    with pytest.raises(AttributeError, match="trace_module: expected a module"):
        jit.trace_module(abs, {"forward": 1})


def test_sizes_are_part_of_a_trace():
    def rows(x):
        count = x.shape[0] * 2 // 2
        flat = x.reshape(count, x.numel() // count)
        return torch.zeros(count, 1) + flat.sum(1, keepdim=True) / x.shape[1]

    traced = jit.trace(rows, torch.ones(2, 3))
    for shape in [(5, 3), (4, 6)]:
        x = torch.arange(float(shape[0] * shape[1])).reshape(shape)
        assert torch.equal(traced(x)[:, 0], x.sum(1) / shape[1])


def test_a_trace_with_autocast_keeps_no_parameters():
    class Cast(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 2)

        def forward(self, x):
            with torch.autocast("cpu", torch.bfloat16):
                return self.layer(x)

    traced = jit.trace(Cast(), torch.ones(1, 2))
    assert traced(torch.ones(1, 2)).dtype == torch.bfloat16
    weight = weakref.ref(traced.layer.weight)
    del traced
    gc.collect()
    assert weight() is None


def test_constants_of_a_trace_have_no_gradient():
    weight = torch.ones(2, requires_grad=True)
    with pytest.raises(RuntimeError, match="uses a tensor that requires grad and is neither"):
        jit.trace(lambda x: x * weight, torch.ones(2))
    fixed = weight.detach()
    assert jit.trace(lambda x: x * fixed, torch.ones(2))(torch.ones(2)).tolist() == [1, 1]


def test_sizes_of_a_trace_within_a_trace():
    def resized(x):
        rows = x.shape[0]
        return x.reshape(rows * 2, -1) * rows + torch.zeros(rows * 2, 1)

    inner = jit.trace(resized, torch.ones(2, 4))
    outer = jit.trace(lambda x: inner(x + 1), torch.ones(3, 4))
    x = torch.rand(5, 4)
    assert torch.equal(outer(x), resized(x + 1))


def test_decisions_of_a_trace_within_a_trace():
    inner = jit.trace(lambda x: x * 2 if x.shape[0] > 2 else x, torch.ones(3))
    outer = jit.trace(lambda x: inner(x) + 1, torch.ones(4))
    assert outer(torch.ones(5)).tolist() == [3] * 5
    with pytest.raises(RuntimeError, match="'gt 2 2' was True"):
        outer(torch.ones(2))


@pytest.mark.parametrize(
    "function",
    [torch.Tensor.detach, torch.ops.aten.detach, lambda x: torch.einsum("ij,kj->ik", x, x)],
)
def test_operators_of_a_trace_within_a_trace(function):
    inner = jit.trace(lambda x: function(x) * 2, torch.ones(2, 2))
    outer = jit.trace(lambda x: inner(x) + 1, torch.ones(2, 2))
    x = torch.rand(3, 3)
    assert torch.equal(outer(x), function(x) * 2 + 1)
    assert [step.op for step in outer.graph.steps] == [
        *(step.op for step in inner.graph.steps),
        "add",
    ]


def test_a_size_that_was_kept_is_a_number():
    kept = []

    def first(x):
        kept.append(x.shape[0])
        return x * 2

    jit.trace(first, torch.ones(3), check_trace=False)
    second = jit.trace(lambda x: x + kept[0] * 1, torch.ones(2))
    assert second(torch.zeros(5)).tolist() == [3] * 5


def test_views_and_changes_in_place_are_part_of_a_trace():
    def changed(x):
        y = x.clone()
        y[1:, ..., 0] = 7
        y[0].mul_(2)
        return y, y.max(dim=1).values

    traced = jit.trace(changed, torch.ones(3, 2))
    x = torch.arange(6.0).reshape(3, 2)
    for one, other in zip(traced(x), changed(x), strict=True):
        assert torch.equal(one, other)


@pytest.mark.parametrize(
    "module",
    [
        lambda: nn.LSTM(4, 3, batch_first=True),
        lambda: nn.TransformerEncoderLayer(4, 2, 8, batch_first=True),
        lambda: nn.MultiheadAttention(4, 2),
        lambda: nn.Sequential(nn.LayerNorm(4), nn.GELU(), nn.Dropout(0.5), nn.Softmax(-1)),
    ],
)
def test_layers(module):
    torch.manual_seed(0)
    layer = module().eval()
    x = torch.randn(2, 5, 4)
    inputs = (x, x, x) if isinstance(layer, nn.MultiheadAttention) else (x,)
    traced = jit.trace(layer, inputs)
    other = tuple(torch.randn(3, 5, 4) for _ in inputs)
    torch.testing.assert_close(traced(*other), layer(*other))


def test_elements_that_decide():
    with pytest.warns(jit.TracerWarning, match="a tensor was turned into a Python boolean"):
        traced = jit.trace(Choice(), torch.ones(2))
    assert torch.equal(traced(-torch.ones(2)), torch.zeros(2))  # the way of the example


def test_results_that_are_not_recorded():
    with pytest.warns(jit.TracerWarning) as caught:
        jit.trace(lambda x: torch.from_numpy(x.numpy()) * 2, torch.ones(2), check_trace=False)
    assert "turned into a NumPy array" in str(caught[0].message)
    assert "the result of something that is not recorded" in str(caught[1].message)
    kept = jit.trace(lambda x: x.as_subclass(nn.Parameter) * 2, torch.ones(2))
    assert kept(torch.full((3,), 3.0)).tolist() == [6, 6, 6]
    with pytest.raises(RuntimeError, match=r"torch\.Tensor\.apply_ cannot be recorded"):
        jit.trace(lambda x: x.clone().apply_(lambda each: -each), torch.ones(2))


def test_sparse_inputs():
    sparse = torch.eye(2).to_sparse()
    traced = jit.trace(lambda s, x: torch.sparse.mm(s, x) * 2, (sparse, torch.ones(2, 2)))
    assert torch.equal(traced(sparse, torch.eye(2)), torch.eye(2) * 2)


def test_lengths_are_constants():
    with pytest.warns(
        jit.TracerWarning, match=r"the length of a tensor .* tensor\.shape\[0\] is not"
    ):
        traced = jit.trace(lambda x: x * len(x), torch.ones(2))
    assert traced(torch.ones(3)).tolist() == [2, 2, 2]


def test_functions_as_arguments():
    traced = jit.trace(nn.TripletMarginWithDistanceLoss(), tuple(torch.rand(3, 2, 4)))
    other = tuple(torch.rand(3, 5, 4))
    assert torch.equal(traced(*other), nn.TripletMarginWithDistanceLoss()(*other))


def test_random_numbers_of_a_trace():
    traced = jit.trace(lambda x: F.dropout(x, 0.5) + torch.rand(3), torch.ones(3))
    torch.manual_seed(1)
    first = traced(torch.ones(3))
    torch.manual_seed(1)
    assert torch.equal(F.dropout(torch.ones(3), 0.5) + torch.rand(3), first)


def test_modes_are_part_of_a_trace(tmp_path):
    def modes(x, weight):
        with torch.no_grad():
            scale = weight.abs().sum()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            product = x @ weight
        return product.float() * scale

    x, weight = torch.ones(2, 3), torch.rand(3, 2)
    traced = jit.trace(modes, (x, weight))
    traced.save(tmp_path / "modes.pt")
    for function in (traced, jit.load(tmp_path / "modes.pt")):
        leaves = [weight.clone().requires_grad_() for _ in range(2)]
        results = [each(x, leaf) for each, leaf in zip((function, modes), leaves, strict=True)]
        assert torch.equal(*results)
        for result in results:
            result.sum().backward()
        assert torch.equal(leaves[0].grad, leaves[1].grad)
    assert "# no_grad" in traced.code
    assert "# autocast(torch.bfloat16)" in traced.code


def test_parameters_that_are_replaced(net):
    traced = jit.trace(net, images())
    traced(images())
    traced.head.weight = nn.Parameter(torch.zeros(3, 16))
    traced.head.bias = None
    traced.head.bias = nn.Parameter(torch.ones(3))
    assert torch.equal(traced(images()), torch.full((2, 3), 2.0))
    twin = copy.deepcopy(traced)
    with torch.no_grad():
        twin.head.bias.zero_()
    assert torch.equal(twin(images()), torch.zeros(2, 3))
    assert torch.equal(traced(images()), torch.full((2, 3), 2.0))
    assert traced.double()(images().double()).dtype == torch.float64


def test_a_trace_is_checked():
    calls = []

    def unsteady(x):
        calls.append(1)
        return x + len(calls)

    with pytest.warns(jit.TracerWarning, match="the result of the trace is not that of the"):
        jit.trace(unsteady, torch.ones(2))
    jit.trace(unsteady, torch.ones(2), check_trace=False)


def test_running_means_are_not_moved_by_the_check():
    layer, twin = nn.BatchNorm1d(2), nn.BatchNorm1d(2)
    x = torch.tensor([[1.0, 2.0], [3.0, 5.0]])
    jit.trace(layer, x)
    twin(x)
    assert torch.equal(layer.running_mean, twin.running_mean)


def test_results_of_traces():
    x = torch.ones(2)
    with pytest.raises(RuntimeError, match="the result is a dict"):
        jit.trace(lambda x: {"a": x}, x)
    assert jit.trace(lambda x: {"a": x + 1}, x, strict=False)(x)["a"].tolist() == [2, 2]
    with pytest.warns(jit.TracerWarning, match="the result is a list"):
        jit.trace(lambda x: [x, x + 1], x)
    with pytest.raises(RuntimeError, match="only tensors, and lists, tuples"):
        jit.trace(lambda x: 3, x)


def test_calls_that_do_not_fit_a_trace(net):
    traced = jit.trace(net, images())
    with pytest.raises(RuntimeError, match=r"expected tensors, .* got int as 'x'"):
        traced(3)
    with pytest.raises(RuntimeError, match="unexpected keyword argument 'y'"):
        traced(y=images())
    with pytest.raises(RuntimeError, match="at most 1 arguments, got 2"):
        traced(images(), images())


def test_is_tracing():
    seen = []

    def watched(x):
        seen.append(jit.is_tracing())
        return x + 1

    jit.trace(watched, torch.ones(1), check_trace=False)
    assert seen == [True]
    assert not jit.is_tracing()


@pytest.mark.filterwarnings("ignore::flambeau.jit.TracerWarning")  # of the example in the inner one
def test_trace_in_a_trace():
    seen = []

    def outer(x):
        inner = jit.trace(lambda y: y * 2, torch.ones(1), check_trace=False)
        seen.append(jit.is_tracing())
        return inner(x) + 1

    traced = jit.trace(outer, torch.ones(1), check_trace=False)
    assert seen == [True]
    assert traced(torch.tensor([4.0])).tolist() == [9.0]
