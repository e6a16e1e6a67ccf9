"""Walking the graph: grad_fn, its name, what it leads to, what hangs on it."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable

import pytest

import flambeau as torch
from tests.autograd.walk import kind, kinds, reachable


def leaf(*shape: int) -> torch.Tensor:
    """A leaf with values between 1 and 2, where every function below is smooth."""
    torch.manual_seed(0)
    return (torch.rand(shape) + 1).requires_grad_()


# Expressions in x (3, 3), y (3, 3) and i (an index), with the node that torch 2.13 records.
NAMES: list[tuple[str, Callable[..., torch.Tensor]]] = [
    ("AddBackward0", lambda x, y, i: x + y),
    ("AddBackward0", lambda x, y, i: 1 + x),
    ("SubBackward0", lambda x, y, i: x - y),
    ("RsubBackward1", lambda x, y, i: 1 - x),
    ("MulBackward0", lambda x, y, i: x * y),
    ("DivBackward0", lambda x, y, i: x / y),
    ("PowBackward0", lambda x, y, i: x**2),
    ("PowBackward1", lambda x, y, i: x**y),
    ("PowBackward2", lambda x, y, i: 2**x),
    ("NegBackward0", lambda x, y, i: -x),
    ("AbsBackward0", lambda x, y, i: abs(x)),
    ("ExpBackward0", lambda x, y, i: x.exp()),
    ("LogBackward0", lambda x, y, i: x.log()),
    ("SqrtBackward0", lambda x, y, i: x.sqrt()),
    ("SinBackward0", lambda x, y, i: x.sin()),
    ("TanhBackward0", lambda x, y, i: x.tanh()),
    ("SigmoidBackward0", lambda x, y, i: x.sigmoid()),
    ("ReluBackward0", lambda x, y, i: x.relu()),
    ("ClampBackward1", lambda x, y, i: x.clamp(0, 1)),
    ("ClampMinBackward0", lambda x, y, i: x.clamp_min(0)),
    ("MaximumBackward0", lambda x, y, i: torch.maximum(x, y)),
    ("WhereBackward0", lambda x, y, i: torch.where(x > y, x, y)),
    ("SumBackward0", lambda x, y, i: x.sum()),
    ("SumBackward1", lambda x, y, i: x.sum(0)),
    ("MeanBackward0", lambda x, y, i: x.mean()),
    ("MeanBackward1", lambda x, y, i: x.mean(0)),
    ("ProdBackward0", lambda x, y, i: x.prod()),
    ("VarBackward0", lambda x, y, i: x.var()),
    ("StdBackward0", lambda x, y, i: x.std()),
    ("MaxBackward1", lambda x, y, i: x.max()),
    ("MaxBackward0", lambda x, y, i: x.max(0).values),
    ("AmaxBackward0", lambda x, y, i: x.amax(0)),
    ("LinalgVectorNormBackward0", lambda x, y, i: torch.norm(x)),
    ("LinalgVectorNormBackward0", lambda x, y, i: torch.linalg.vector_norm(x)),
    ("CumsumBackward0", lambda x, y, i: x.cumsum(0)),
    ("SoftmaxBackward0", lambda x, y, i: x.softmax(0)),
    ("LogSoftmaxBackward0", lambda x, y, i: x.log_softmax(0)),
    ("LogsumexpBackward0", lambda x, y, i: x.logsumexp(0)),
    ("MmBackward0", lambda x, y, i: x @ y),
    ("MvBackward0", lambda x, y, i: x @ y[0]),
    ("DotBackward0", lambda x, y, i: x[0] @ y[0]),
    ("AddmmBackward0", lambda x, y, i: torch.addmm(x, x, y)),
    ("BmmBackward0", lambda x, y, i: torch.bmm(x[None], y[None])),
    ("BmmBackward0", lambda x, y, i: torch.stack([x, y]) @ torch.stack([y, x])),
    ("TBackward0", lambda x, y, i: x.t()),
    ("TransposeBackward0", lambda x, y, i: x.transpose(0, 1)),
    ("PermuteBackward0", lambda x, y, i: x.permute(1, 0)),
    ("ViewBackward0", lambda x, y, i: x.view(9)),
    ("ViewBackward0", lambda x, y, i: x.reshape(9)),
    ("UnsafeViewBackward0", lambda x, y, i: x.t().reshape(9)),
    ("CloneBackward0", lambda x, y, i: x.t().contiguous()),
    ("CloneBackward0", lambda x, y, i: x.clone()),
    ("ExpandBackward0", lambda x, y, i: x.expand(2, 3, 3)),
    ("UnsqueezeBackward0", lambda x, y, i: x[None]),
    ("SqueezeBackward0", lambda x, y, i: x[:1].squeeze()),
    ("SqueezeBackward1", lambda x, y, i: x[:1].squeeze(0)),
    ("SelectBackward0", lambda x, y, i: x[0]),
    ("SliceBackward0", lambda x, y, i: x[1:]),
    ("DiagonalBackward0", lambda x, y, i: x.diagonal()),
    ("UnbindBackward0", lambda x, y, i: x.unbind()[0]),
    ("SplitBackward0", lambda x, y, i: x.split(2)[0]),
    ("IndexBackward0", lambda x, y, i: x[i]),
    ("IndexBackward0", lambda x, y, i: x[x > 1.5]),
    ("IndexSelectBackward0", lambda x, y, i: x.index_select(0, i)),
    ("GatherBackward0", lambda x, y, i: x.gather(0, i[None])),
    ("CatBackward0", lambda x, y, i: torch.cat([x, y])),
    ("StackBackward0", lambda x, y, i: torch.stack([x, y])),
    ("TriuBackward0", lambda x, y, i: x.triu()),
    ("FlipBackward0", lambda x, y, i: x.flip(0)),
    ("RollBackward0", lambda x, y, i: x.roll(1, 0)),
    ("RepeatBackward0", lambda x, y, i: x.repeat(2, 1)),
    ("SortBackward0", lambda x, y, i: x.sort(0).values),
    ("TopkBackward0", lambda x, y, i: x.topk(2).values),
    ("ToCopyBackward0", lambda x, y, i: x.double()),
    ("MaskedFillBackward0", lambda x, y, i: x.masked_fill(x > 1.5, 0)),
    ("LinalgDetBackward0", lambda x, y, i: torch.linalg.det(x)),
    ("LinalgInvExBackward0", lambda x, y, i: torch.linalg.inv(x)),
]


@pytest.mark.parametrize(
    ("name", "function"),
    NAMES,
    ids=[f"{i}-{name}" for i, (name, _) in enumerate(NAMES)],
)
def test_names_are_pytorchs(name: str, function: Callable[..., torch.Tensor]) -> None:
    x, y, i = leaf(3, 3), leaf(3, 3) + 0.5, torch.tensor([0, 2, 1])
    result = function(x, y, i)
    assert result.grad_fn.name() == name
    assert kind(result.grad_fn) == name
    assert result.requires_grad
    assert not result.is_leaf


def test_printing_shows_the_node() -> None:
    x = torch.ones(2, requires_grad=True)
    assert repr(x) == "tensor([1., 1.], requires_grad=True)"
    assert repr(x * 2) == "tensor([2., 2.], grad_fn=<MulBackward0>)"
    assert repr((x * 2).grad_fn).startswith("<MulBackward0 object at 0x")


def test_next_functions_follow_the_arguments() -> None:
    x, y = leaf(2), leaf(2)
    assert kinds((x * y).grad_fn) == ["AccumulateGrad", "AccumulateGrad"]
    assert kinds((x * 2).grad_fn) == ["AccumulateGrad", None]
    assert kinds((x * torch.ones(2)).grad_fn) == ["AccumulateGrad", None]
    assert kinds((torch.ones(2) * x).grad_fn) == [None, "AccumulateGrad"]
    assert kinds(torch.cat([x, x * 2, torch.ones(1)]).grad_fn) == [
        "AccumulateGrad",
        "MulBackward0",
        None,
    ]


def test_edges_number_the_results_they_come_from() -> None:
    x = leaf(3, 2)
    parts = x.unbind()
    assert [part.output_nr for part in parts] == [0, 1, 2]
    assert len({id(part.grad_fn) for part in parts}) == 1
    ((node, number),) = (-parts[2]).grad_fn.next_functions
    assert node is parts[0].grad_fn
    assert number == 2


def test_a_node_is_one_object() -> None:
    x = leaf(2)
    y = x.exp()
    assert y.grad_fn is y.grad_fn
    assert (y + y).grad_fn.next_functions[0][0] is y.grad_fn
    assert hash(y.grad_fn) == hash((y * 2).grad_fn.next_functions[0][0])


def test_accumulate_grad_belongs_to_its_leaf() -> None:
    x = leaf(2)
    first = (x * 2).grad_fn.next_functions[0][0]
    second = (x + 1).grad_fn.next_functions[0][0]
    assert first is second
    assert first.variable is x
    assert first.next_functions == ()


def test_nodes_are_instances_of_node() -> None:
    x = leaf(2)
    nodes = reachable((x * x.exp()).sum().grad_fn)
    assert all(isinstance(node, torch.autograd.graph.Node) for node in nodes)
    assert not isinstance(x, torch.autograd.graph.Node)


def test_metadata_is_the_users() -> None:
    y = leaf(2) * 2
    assert y.grad_fn.metadata == {}
    y.grad_fn.metadata["where"] = "here"
    assert (y + 1).grad_fn.next_functions[0][0].metadata == {"where": "here"}


def test_gradient_edges_stand_for_tensors() -> None:
    x = leaf(2)
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert edge.node is y.grad_fn
    assert edge.output_nr == 0
    (grad,) = torch.autograd.grad((y * 3).sum(), edge)
    assert grad.tolist() == [3.0, 3.0]
    node = torch.autograd.graph.get_gradient_edge(x).node
    assert node.variable is x


def test_a_constant_has_no_node() -> None:
    x = torch.ones(3)
    assert x.grad_fn is None
    assert (x * 2).grad_fn is None
    assert not (x * 2).requires_grad
    assert (x * 2).is_leaf


def test_integer_results_are_outside_the_graph() -> None:
    x = leaf(3)
    for result in (x.argmax(), x > 1, x.long(), x.sort().indices, x.max(0).indices, x.isnan()):
        assert not result.requires_grad
        assert result.grad_fn is None


def test_values_read_into_python_are_outside_the_graph() -> None:
    x = leaf(1)
    assert isinstance((x * 2).item(), float)
    assert not torch.tensor((x * 2).item()).requires_grad
    assert isinstance(x.tolist()[0], float)


def test_the_graph_lives_as_long_as_its_result() -> None:
    x = leaf(3)
    y = x.exp()
    last = weakref.ref(y)
    z = (y * 2).sum()
    del y
    gc.collect()
    z.backward()
    assert last() is None
    assert torch.allclose(x.grad, 2 * x.detach().exp())


def test_a_graph_can_be_walked_after_its_tensors_are_gone() -> None:
    x = leaf(2)
    node = (x.exp() + 1).sum().grad_fn
    gc.collect()
    names = ["SumBackward0", "AddBackward0", "ExpBackward0", "AccumulateGrad"]
    assert [kind(each) for each in reachable(node)] == names


def test_a_node_can_be_called() -> None:
    x = leaf(2)
    grads = (x * 3).grad_fn(torch.ones(2))
    assert grads[0].tolist() == [3.0, 3.0]
    assert grads[1] is None


def test_saved_tensors_can_be_read() -> None:
    x = leaf(2)
    y = x.exp()
    assert torch.equal(y.grad_fn._saved_result, y)
    assert torch.equal((x * y).grad_fn._saved_other, y)
    y.sum().backward()
    with pytest.raises(RuntimeError, match="freed"):
        _ = y.grad_fn._saved_result
