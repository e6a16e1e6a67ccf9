"""Adafactor and Muon: their steps written down in NumPy, and what they are for."""

from typing import Any

import numpy as np
import pytest

import flambeau as fb


def rms(array: Any) -> float:
    return float(np.sqrt(np.mean(np.square(array))))


class ReferenceAdafactor:
    """The algorithm of the paper on one array, with PyTorch's use of lr and epsilon."""

    def __init__(self, lr: float, weight_decay: float, d: float, eps: tuple[float, float]) -> None:
        self.lr, self.weight_decay, self.d, self.eps = lr, weight_decay, d, eps
        self.steps = 0
        self.moments: list[Any] = [0.0, 0.0]

    def step(self, p: Any, grad: Any) -> Any:
        self.steps += 1
        keep = 1 - self.steps**-0.8
        alpha = max(self.eps[1], rms(p)) * min(self.lr, self.steps**-0.5)
        p = p * (1 - self.lr * self.weight_decay)
        axes = ((-1,), (-2,)) if p.ndim > 1 else ((),)
        for i, axis in enumerate(axes):
            mean = np.square(grad).mean(axis, keepdims=True)
            self.moments[i] = keep * self.moments[i] + (1 - keep) * mean
        variance = self.moments[0]
        if p.ndim > 1:
            rows, columns = self.moments
            variance = rows * columns / np.maximum(rows.mean(-2, keepdims=True), self.eps[0])
        update = grad / np.sqrt(np.maximum(variance, self.eps[0] ** 2))
        return p - alpha * update / max(1.0, rms(update) / self.d)


SHAPES = [(7,), (5, 3), (1, 6), (2, 3, 4), (), (9000,), (300, 170), (2, 150, 5)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize(
    ("weight_decay", "d", "eps"), [(0.0, 1.0, (1e-10, 1e-3)), (0.1, 2.0, (1e-2, 0.5))]
)
def test_adafactor(shape: Any, weight_decay: float, d: float, eps: tuple[float, float]) -> None:
    rng = np.random.default_rng(0)
    expected = rng.standard_normal(shape)
    p = fb.nn.Parameter(fb.tensor(expected))
    reference = ReferenceAdafactor(0.3, weight_decay, d, eps)
    optimizer = fb.optim.Adafactor([p], lr=0.3, weight_decay=weight_decay, d=d, eps=eps)
    for step in range(8):
        grad = rng.standard_normal(shape) * 3.0 ** (step % 3)
        p.grad = fb.tensor(grad)
        optimizer.step()
        expected = reference.step(expected, grad)
        np.testing.assert_allclose(p.detach().numpy(), expected, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("dtype", [fb.float32, fb.bfloat16], ids=str)
def test_adafactor_of_a_transposed_parameter(dtype: Any) -> None:
    """However a parameter and its gradient lie in memory, the step is the same."""
    start, grad = fb.randn(6, 4).to(dtype), fb.randn(6, 4).to(dtype)
    results = []
    for lay in (lambda x: x.clone(), lambda x: x.t().clone().t()):
        p = fb.nn.Parameter(lay(start))
        p.grad = lay(grad)
        optimizer = fb.optim.Adafactor([p], lr=0.5)
        for _ in range(3):
            optimizer.step()
        results.append((p.tolist(), optimizer.state[p]["row_var"].tolist()))
        assert p._version == 3
        assert optimizer.state[p]["step"].item() == 3
    assert results[0] == results[1]


@pytest.mark.parametrize("shape", [(400, 300), (100_000,)], ids=str)
def test_adafactor_does_not_depend_on_the_threads(shape: tuple[int, ...]) -> None:
    start, grad = fb.randn(shape), fb.randn(shape)
    threads = fb.get_num_threads()
    results = []
    try:
        for count in (1, 2):
            fb.set_num_threads(count)
            p = fb.nn.Parameter(start.clone())
            p.grad = grad
            optimizer = fb.optim.Adafactor([p], lr=0.5)
            for _ in range(2):
                optimizer.step()
            results.append(p.detach())
    finally:
        fb.set_num_threads(threads)
    assert fb.equal(*results)


def test_adafactor_of_a_state_that_does_not_fit() -> None:
    p = fb.nn.Parameter(fb.ones(3, 2))
    p.grad = fb.ones(3, 2)
    optimizer = fb.optim.Adafactor([p])
    optimizer.step()
    optimizer.state[p]["col_var"] = fb.zeros(1, 5)
    message = r"second moments of shapes \(3, 1\) and \(1, 5\) do not fit .* shape \(3, 2\)"
    with pytest.raises(RuntimeError, match=message):
        optimizer.step()


def test_adafactor_keeps_rows_and_columns_only() -> None:
    matrix, vector = fb.nn.Parameter(fb.ones(50, 30)), fb.nn.Parameter(fb.ones(9))
    matrix.grad, vector.grad = fb.ones(50, 30), fb.ones(9)
    optimizer = fb.optim.Adafactor([matrix, vector])
    optimizer.step()
    shapes = {name: tuple(value.shape) for name, value in optimizer.state[matrix].items()}
    assert shapes == {"step": (), "row_var": (50, 1), "col_var": (1, 30)}
    assert set(optimizer.state[vector]) == {"step", "variance"}


def test_adafactor_maximizes() -> None:
    results = []
    for sign in (1.0, -1.0):
        p = fb.nn.Parameter(fb.tensor([[1.0, 2.0], [3.0, 4.0]]))
        p.grad = sign * fb.tensor([[1.0, -2.0], [0.5, 3.0]])
        fb.optim.Adafactor([p], maximize=sign < 0).step()
        results.append(p.tolist())
    assert results[0] == results[1]


def polynomial(matrix: Any, coefficients: tuple[float, float, float], steps: int) -> Any:
    """The Newton-Schulz iteration by its singular values, on which it is a polynomial."""
    a, b, c = coefficients
    u, values, v = np.linalg.svd(matrix / np.linalg.norm(matrix), full_matrices=False)
    for _ in range(steps):
        values = a * values + b * values**3 + c * values**5
    return u @ np.diag(values) @ v


@pytest.mark.parametrize("shape", [(8, 8), (20, 6), (6, 20)], ids=str)
@pytest.mark.parametrize("nesterov", [True, False])
@pytest.mark.parametrize("adjust", [None, "original", "match_rms_adamw"])
def test_muon(shape: tuple[int, int], nesterov: bool, adjust: str | None) -> None:
    rng = np.random.default_rng(0)
    start = rng.standard_normal(shape)
    p = fb.nn.Parameter(fb.tensor(start))
    optimizer = fb.optim.Muon(
        [p], lr=0.1, weight_decay=0.2, momentum=0.9, nesterov=nesterov, adjust_lr_fn=adjust
    )
    buffer, expected = np.zeros(shape), start
    rows, columns = shape
    factor = (
        0.2 * max(shape) ** 0.5 if adjust == "match_rms_adamw" else max(1, rows / columns) ** 0.5
    )
    for _ in range(3):
        grad = rng.standard_normal(shape)
        p.grad = fb.tensor(grad)
        optimizer.step()
        buffer = 0.9 * buffer + 0.1 * grad
        update = 0.1 * grad + 0.9 * buffer if nesterov else buffer
        direction = polynomial(update, (3.4445, -4.7750, 2.0315), 5)
        expected = expected * (1 - 0.1 * 0.2) - 0.1 * factor * direction
    np.testing.assert_allclose(optimizer.state[p]["momentum_buffer"].numpy(), buffer, rtol=1e-12)
    # Products in bfloat16, of which an element has 8 bits.
    np.testing.assert_allclose(p.detach().numpy(), expected, atol=0.06 * factor)


def test_muon_steps_are_nearly_orthogonal() -> None:
    fb.manual_seed(0)
    p = fb.nn.Parameter(fb.zeros(16, 32))
    p.grad = fb.randn(16, 4) @ fb.randn(4, 32) + 0.3 * fb.randn(16, 32)  # a few large directions
    fb.optim.Muon([p], lr=1.0, weight_decay=0.0).step()
    values = fb.linalg.svdvals(p.detach())
    assert values.min().item() > 0.4
    assert values.max().item() < 1.4


def test_muon_trains() -> None:
    fb.manual_seed(0)
    net = fb.nn.Sequential(fb.nn.Linear(4, 32), fb.nn.Tanh(), fb.nn.Linear(32, 1))
    matrices = [p for p in net.parameters() if p.ndim == 2]
    others = [p for p in net.parameters() if p.ndim != 2]
    optimizers = [fb.optim.Muon(matrices, lr=0.02), fb.optim.AdamW(others, lr=0.01)]
    x = fb.randn(128, 4)
    y = (x[:, :1] * x[:, 1:2]).tanh()
    losses = []
    for _ in range(150):
        for optimizer in optimizers:
            optimizer.zero_grad()
        loss = fb.nn.functional.mse_loss(net(x), y)
        loss.backward()
        for optimizer in optimizers:
            optimizer.step()
        losses.append(loss.item())
    assert losses[-1] < losses[0] / 5


@pytest.mark.parametrize("name", ["Adafactor", "Muon"])
def test_closure_rate_as_tensor_and_missing_gradients(name: str) -> None:
    p, unused = fb.nn.Parameter(fb.ones(3, 3)), fb.nn.Parameter(fb.ones(2, 2))
    optimizer = getattr(fb.optim, name)([p, unused], lr=fb.tensor([0.1]))

    def closure() -> Any:
        loss = (p @ p).sum()
        loss.backward()
        return loss

    assert optimizer.step(closure).item() == 27.0
    assert p.detach().max().item() < 1
    assert unused.tolist() == [[1, 1], [1, 1]]
    assert unused not in optimizer.state


MISTAKES = (
    ("Adafactor([p], lr=-1)", ValueError, "Learning rate should be >= 0 but is: -1"),
    ("Adafactor([p], lr=t.ones(2))", ValueError, "Tensor lr must be 1-element"),
    ("Adafactor([p], beta2_decay=1)", ValueError, "beta2_decay should be <= 0 but is: 1"),
    ("Adafactor([p], eps=(-1, 1))", ValueError, "epsilon1 should be >= 0 but is: -1"),
    ("Adafactor([p], eps=(1, -1))", ValueError, "epsilon2 should be >= 0 but is: -1"),
    ("Adafactor([p], d=0.5)", ValueError, "threshold d should be >= 1 but is: 0.5"),
    ("Adafactor([p], weight_decay=-1)", ValueError, "weight_decay should be >= 0 but is: -1"),
    ("Adafactor([z]).step()", RuntimeError, "Adafactor does not support complex parameters"),
    ("Muon([p], lr=-1)", ValueError, "Learning rate should be >= 0 but is: -1"),
    ("Muon([p], momentum=-1)", ValueError, "momentum should be >= 0 but is: -1"),
    ("Muon([p], weight_decay=-1)", ValueError, "weight decay should be >= 0 but is: -1"),
    ("Muon([p], adjust_lr_fn='x')", ValueError, "function x is not supported: expected 'original'"),
    (
        "Muon([t.nn.Parameter(t.ones(3))])",
        ValueError,
        r"2D parameters, but got one of shape \(3,\)",
    ),
    ("Muon([p], ns_steps=100).step()", ValueError, "ns_steps must be less than 100, but is 100"),
    (
        "Muon([p], ns_coefficients=(1, 2)).step()",
        ValueError,
        "expected 3 ns_coefficients, but got 2",
    ),
    ("Muon([z]).step()", RuntimeError, "Muon does not support complex parameters"),
)


@pytest.mark.parametrize(("call", "error", "message"), MISTAKES)
def test_mistakes(call: str, error: type[Exception], message: str) -> None:
    p = fb.nn.Parameter(fb.ones(2, 2))
    z = fb.nn.Parameter(fb.ones(2, 2, dtype=fb.complex64))
    for each in (p, z):
        each.grad = fb.ones_like(each)
    with pytest.raises(error, match=message):
        eval(f"t.optim.{call}", {"t": fb, "p": p, "z": z})
