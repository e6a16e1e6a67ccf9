"""L-BFGS against torch: the same iterates, evaluations and state, also when resumed."""

import copy
from typing import Any

import numpy as np
import pytest
import torch

import flambeau

PROBLEMS = ("rosenbrock", "quadratic", "network", "complex", "single", "unused")
OPTIONS: tuple[dict[str, Any], ...] = (
    {"lr": 0.1},
    {"lr": 0.05, "max_iter": 4},
    {"lr": 0.1, "history_size": 3},
    {"lr": 0.1, "max_iter": 40, "max_eval": 7},
    {"line_search_fn": "strong_wolfe"},
    {"line_search_fn": "strong_wolfe", "lr": 0.3, "max_iter": 7},
    {"line_search_fn": "strong_wolfe", "max_iter": 9, "max_eval": 4},
    {"line_search_fn": "strong_wolfe", "history_size": 2, "tolerance_grad": 1e-3},
    {"line_search_fn": "strong_wolfe", "tolerance_change": 1e-2},
    {"line_search_fn": "strong_wolfe", "max_eval": 1},
)


class Problem:
    """A function of parameters in float64, and the closure that differentiates it."""

    def __init__(self, t: Any, name: str) -> None:
        self.t = t
        rng = np.random.default_rng(5)
        self.data = [t.tensor(rng.standard_normal(shape)) for shape in ((16, 4), (16, 2), (6, 6))]
        self.loss = getattr(self, name)
        starts = {
            "rosenbrock": [[-1.5], [2.0]],
            "quadratic": [list(np.ones(6))],
            "network": [rng.standard_normal((4, 5)) / 2, np.zeros(5), rng.standard_normal((5, 2))],
            "complex": [np.array([1 + 2j, -3 + 0.5j]), np.array([0.25])],
            "single": [np.array(3.0)],
            "unused": [np.ones(2), np.ones(3)],
        }
        self.params = [t.nn.Parameter(t.tensor(start)) for start in self.doubled(starts[name])]

    def doubled(self, starts: list[Any]) -> list[np.ndarray]:
        arrays = [np.asarray(start) for start in starts]
        return [a if a.dtype.kind == "c" else a.astype(np.float64) for a in arrays]

    def rosenbrock(self, x: Any, y: Any) -> Any:
        return ((1 - x) ** 2 + 100 * (y - x**2) ** 2).sum()

    def quadratic(self, x: Any) -> Any:
        matrix = self.data[2] @ self.data[2].T + self.t.eye(6, dtype=self.t.float64)
        return x @ matrix @ x - x.sum()

    def network(self, first: Any, bias: Any, second: Any) -> Any:
        inputs, targets, _ = self.data
        return ((inputs @ first + bias).tanh() @ second - targets).square().mean()

    def complex(self, z: Any, x: Any) -> Any:
        return (z * z.conj()).real.sum() ** 2 + (z.real - 2 * z.imag + x).square().sum()

    def single(self, x: Any) -> Any:
        return (x - 2) ** 4 + x.square()

    def unused(self, x: Any, y: Any) -> Any:
        return (x**4).sum()

    def closure(self) -> Any:
        for p in self.params:
            p.grad = None
        loss = self.loss(*self.params)
        loss.backward()
        return loss


def history(problem: Problem, optimizer: Any, steps: int) -> list[Any]:
    points = []
    for _ in range(steps):
        loss = optimizer.step(problem.closure)
        state = optimizer.state[problem.params[0]]
        counts = state["func_evals"], state["n_iter"]
        points.append((loss.item(), counts, [p.detach().numpy().copy() for p in problem.params]))
    return points


def same(ours: list[Any], theirs: list[Any]) -> None:
    """The same up to the rounding of dot products, which the iterations amplify."""
    for (loss, counts, params), (their_loss, their_counts, their_params) in zip(
        ours, theirs, strict=True
    ):
        assert counts == their_counts
        np.testing.assert_allclose(loss, their_loss, rtol=1e-5, atol=1e-9)
        for p, expected in zip(params, their_params, strict=True):
            np.testing.assert_allclose(p, expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
@pytest.mark.parametrize("name", PROBLEMS)
def test_iterates(name: str, options: dict[str, Any]) -> None:
    histories = []
    for t in (flambeau, torch):
        problem = Problem(t, name)
        lr = options.get("lr", 1) * (0.01 if name == "rosenbrock" else 1)
        optimizer = t.optim.LBFGS(problem.params, **{**options, "lr": lr})
        # These two amplify the last bit of a dot product a thousandfold with every step.
        steps = 1 if name in ("rosenbrock", "complex") else 4
        histories.append(history(problem, optimizer, steps))
    same(*histories)


def test_tensor_lr() -> None:
    histories = []
    for t in (flambeau, torch):
        problem = Problem(t, "network")
        optimizer = t.optim.LBFGS(problem.params, lr=t.tensor([0.5]), line_search_fn="strong_wolfe")
        histories.append(history(problem, optimizer, 3))
    same(*histories)


def test_sparse_gradients() -> None:
    weights = []
    for t in (flambeau, torch):
        layer = t.nn.Embedding(6, 2, sparse=True)
        layer.weight.data.copy_(t.arange(12.0).reshape(6, 2) / 10)
        optimizer = t.optim.LBFGS(layer.parameters(), lr=0.1, max_iter=5)

        def closure(layer: Any = layer, optimizer: Any = optimizer, t: Any = t) -> Any:
            optimizer.zero_grad()
            loss = (layer(t.tensor([1, 3, 3, 4])) ** 2).sum()
            loss.backward()
            return loss

        optimizer.step(closure)
        weights.append(layer.weight.detach().numpy())
    np.testing.assert_allclose(*weights, rtol=1e-5, atol=1e-6)


def converted(value: Any, t: Any) -> Any:
    """A state dict of one framework as one of the other."""
    if isinstance(value, (torch.Tensor, flambeau.Tensor)):
        return t.tensor(value.detach().numpy())
    if isinstance(value, dict):
        return {key: converted(each, t) for key, each in value.items()}
    if isinstance(value, list):
        return [converted(each, t) for each in value]
    return value


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_resumed_across_frameworks(search: str | None) -> None:
    options = {"lr": 0.2, "max_iter": 3, "line_search_fn": search}
    problem = Problem(torch, "network")
    expected = history(problem, torch.optim.LBFGS(problem.params, **options), 8)
    for source, target in ((flambeau, torch), (torch, flambeau)):
        first, second = Problem(source, "network"), Problem(target, "network")
        begun = source.optim.LBFGS(first.params, **options)
        points = history(first, begun, 4)
        continued = target.optim.LBFGS(second.params)
        continued.load_state_dict(converted(copy.deepcopy(begun.state_dict()), target))
        for p, old in zip(second.params, first.params, strict=True):
            p.data.copy_(target.tensor(old.detach().numpy()))
        same(points + history(second, continued, 4), expected)


def test_state() -> None:
    states = []
    for t in (flambeau, torch):
        problem = Problem(t, "network")
        optimizer = t.optim.LBFGS(problem.params, max_iter=5, history_size=3)
        history(problem, optimizer, 2)
        state = optimizer.state[problem.params[0]]
        states.append({key: shape(value) for key, value in state.items()})
    assert states[0] == states[1]


def shape(value: Any) -> Any:
    if isinstance(value, list):
        return [shape(each) for each in value]
    return tuple(value.shape) if hasattr(value, "shape") else type(value).__name__


REFUSED = (
    "t.optim.LBFGS([p], lr=-1)",
    "t.optim.LBFGS([p], lr=t.ones(2))",
    "t.optim.LBFGS([{'params': [p]}, {'params': [q]}])",
    "t.optim.LBFGS([p], line_search_fn='armijo').step(closure)",
    "t.optim.LBFGS([p]).step()",
)


@pytest.mark.parametrize("call", REFUSED)
def test_refused(call: str) -> None:
    raised = []
    for t in (flambeau, torch):
        p, q = t.nn.Parameter(t.ones(2)), t.nn.Parameter(t.ones(2))

        def closure(p: Any = p) -> Any:
            loss = p.square().sum()
            loss.backward()
            return loss

        with pytest.raises(Exception) as error:  # noqa: PT011 (the class is compared below)
            eval(call, {"t": t, "p": p, "q": q, "closure": closure})
        raised.append(error.type.__name__)
    assert raised[0] == raised[1]
