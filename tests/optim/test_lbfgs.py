"""L-BFGS: minima that are known, what it counts, the Wolfe conditions, resuming and mistakes."""

import copy
from typing import Any

import numpy as np
import pytest

import flambeau as fb
from flambeau.optim._line_search import Point, strong_wolfe


def minimize(start: list[float], loss: Any, steps: int, **options: Any) -> tuple[Any, int]:
    """Where L-BFGS ends from `start`, and how often it evaluated the function."""
    x = fb.nn.Parameter(fb.tensor(start, dtype=fb.float64))
    optimizer = fb.optim.LBFGS([x], **{"tolerance_change": 1e-16, **options})
    calls = 0

    def closure() -> Any:
        nonlocal calls
        calls += 1
        optimizer.zero_grad()
        value = loss(x)
        value.backward()
        return value

    for _ in range(steps):
        optimizer.step(closure)
    assert optimizer.state[x]["func_evals"] == calls
    return x.detach().numpy(), calls


def rosenbrock(x: Any) -> Any:
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


def test_rosenbrock() -> None:
    for start in ([-1.5, 2.0], [0.0, 0.0], [2.0, -1.0, 0.5, 3.0]):
        found, calls = minimize(start, rosenbrock, 20, line_search_fn="strong_wolfe")
        np.testing.assert_allclose(found, np.ones(len(start)), atol=1e-6)
        assert calls < 200


def test_quadratic() -> None:
    rng = np.random.default_rng(0)
    root = rng.standard_normal((8, 8))
    matrix, vector = root @ root.T + np.eye(8), rng.standard_normal(8)
    a, b = fb.tensor(matrix), fb.tensor(vector)
    found, calls = minimize(
        [0.0] * 8, lambda x: x @ a @ x / 2 - b @ x, 1, max_iter=60, line_search_fn="strong_wolfe"
    )
    np.testing.assert_allclose(found, np.linalg.solve(matrix, vector), atol=1e-6)
    assert calls < 60


def test_fixed_steps() -> None:
    found, calls = minimize([4.0, -2.0], lambda x: ((x - 1) ** 2).sum(), 1, lr=0.5, max_iter=50)
    np.testing.assert_allclose(found, [1.0, 1.0], atol=1e-6)
    _, calls = minimize([4.0, -2.0], rosenbrock, 3, lr=1e-3, max_iter=4)
    assert calls == 3 * 4  # the last point of a step is not evaluated


def test_max_eval_and_tolerances_end_a_step() -> None:
    _, calls = minimize([-1.5, 2.0], rosenbrock, 1, lr=1e-3, max_iter=100, max_eval=6)
    assert calls == 6
    _, calls = minimize([1.0, 1.0], rosenbrock, 5)  # the minimum itself: one look each time
    assert calls == 5
    _, calls = minimize([3.0], lambda x: (x**2).sum(), 1, lr=1e-3, tolerance_change=1.0)
    assert calls == 2


def test_several_parameters_and_types_of_gradients() -> None:
    fb.manual_seed(0)
    net = fb.nn.Sequential(fb.nn.Linear(2, 8), fb.nn.Tanh(), fb.nn.Linear(8, 1))
    unused = fb.nn.Parameter(fb.ones(3))
    z = fb.nn.Parameter(fb.tensor([1 + 1j, 2 - 1j]))
    optimizer = fb.optim.LBFGS(
        [*net.parameters(), unused, fb.nn.Parameter(fb.ones(2))], line_search_fn="strong_wolfe"
    )
    x = fb.randn(64, 2)
    y = x.prod(1, keepdim=True)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = fb.nn.functional.mse_loss(net(x), y)
        loss.backward()
        return loss

    first = optimizer.step(closure).item()
    for _ in range(10):
        last = optimizer.step(closure).item()
    assert last < first / 50
    assert unused.tolist() == [1, 1, 1]

    complex_optimizer = fb.optim.LBFGS([z], lr=0.5)

    def distance() -> Any:
        complex_optimizer.zero_grad()
        loss = (z - (3 - 2j)).abs().square().sum()
        loss.backward()
        return loss

    for _ in range(4):
        complex_optimizer.step(distance)
    np.testing.assert_allclose(z.detach().numpy(), [3 - 2j] * 2, atol=1e-4)


@pytest.mark.parametrize("start", [1e-3, 0.1, 1.0, 20.0, 1e3])
def test_line_search_satisfies_the_wolfe_conditions(start: float) -> None:
    direction = fb.tensor([1.0], dtype=fb.float64)

    def evaluate(t: Any) -> Point:
        x = fb.tensor([float(t)], dtype=fb.float64, requires_grad=True)
        with fb.enable_grad():
            loss = (x - 3) ** 4 / 10 - x.sin()
            loss.backward()
        return Point(t, loss.item(), x.grad, x.grad.dot(direction))

    origin = evaluate(0.0)
    found, evaluations = strong_wolfe(evaluate, origin, start, direction.max(), 25)
    assert found.loss <= origin.loss + 1e-4 * found.t * origin.slope.item()
    assert abs(found.slope.item()) <= 0.9 * abs(origin.slope.item())
    assert evaluations <= 25


def test_resumed_from_a_state_dict() -> None:
    target = fb.tensor([1.0, -2.0, 0.5])
    scale = fb.tensor([1.0, 10.0, 100.0])

    def run(x: Any, optimizer: Any, steps: int) -> None:
        def closure() -> Any:
            optimizer.zero_grad()
            loss = (scale * (x - target) ** 2).sum()
            loss.backward()
            return loss

        for _ in range(steps):
            optimizer.step(closure)

    options = {"lr": 0.5, "max_iter": 2, "history_size": 3}
    whole = fb.nn.Parameter(fb.zeros(3))
    run(whole, fb.optim.LBFGS([whole], **options), 8)
    first = fb.nn.Parameter(fb.zeros(3))
    optimizer = fb.optim.LBFGS([first], **options)
    run(first, optimizer, 3)
    second = fb.nn.Parameter(first.detach().clone())
    resumed = fb.optim.LBFGS([second])
    resumed.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    run(second, resumed, 5)
    assert second.tolist() == whole.tolist()


def test_a_copy_works() -> None:
    x = fb.nn.Parameter(fb.ones(2))
    optimizer = copy.deepcopy(fb.optim.LBFGS([x], lr=0.5))
    (own,) = optimizer.param_groups[0]["params"]

    def closure() -> Any:
        optimizer.zero_grad()
        loss = own.square().sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    assert own.abs().max().item() < 1e-2
    assert x.tolist() == [1, 1]


def test_mistakes() -> None:
    x = fb.nn.Parameter(fb.ones(2))
    with pytest.raises(ValueError, match="Invalid learning rate: -1"):
        fb.optim.LBFGS([x], lr=-1)
    with pytest.raises(ValueError, match="Tensor lr must be 1-element"):
        fb.optim.LBFGS([x], lr=fb.ones(2))
    with pytest.raises(ValueError, match="expected one parameter group, but got 2"):
        fb.optim.LBFGS([{"params": [x]}, {"params": [fb.nn.Parameter(fb.ones(1))]}])

    def closure() -> Any:
        x.grad = None
        loss = x.square().sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match="must be None or 'strong_wolfe', but is 'armijo'"):
        fb.optim.LBFGS([x], line_search_fn="armijo").step(closure)
    with pytest.raises(TypeError):
        fb.optim.LBFGS([x]).step()  # type: ignore[call-arg]
