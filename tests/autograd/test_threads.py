"""Backward from many threads at once: they share the engine, leaves and graphs."""

from __future__ import annotations

import threading
from collections.abc import Callable

import flambeau as torch
from tests.autograd.test_robust import chain


def together(work: Callable[[int], None], count: int = 8) -> None:
    """Runs `work` in `count` threads at once; what one raises is raised here."""
    errors: list[BaseException] = []
    barrier = threading.Barrier(count)

    def body(index: int) -> None:
        try:
            barrier.wait()
            work(index)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=body, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def test_graphs_of_their_own() -> None:
    def work(index: int) -> None:
        for _ in range(50):
            x = torch.full((10,), float(index), requires_grad=True)
            (x.exp() * x).sum().backward()
            expected = (x.detach() + 1) * x.detach().exp()
            assert torch.allclose(x.grad, expected)

    together(work)


def test_one_leaf() -> None:
    x = torch.zeros(10, requires_grad=True)

    def work(index: int) -> None:
        for _ in range(100):
            (x * 2 + index).sum().backward()

    together(work)
    assert x.grad.tolist() == [1600.0] * 10


def test_one_graph() -> None:
    x = torch.ones(10, requires_grad=True)
    y = (x.exp() * x.sin()).sum()
    (expected,) = torch.autograd.grad(y, x, retain_graph=True)

    def work(index: int) -> None:
        for _ in range(50):
            (grad,) = torch.autograd.grad(y, x, retain_graph=True)
            assert torch.equal(grad, expected)

    together(work)


def test_one_graph_freed_by_one_of_them() -> None:
    """One thread succeeds at least; the others meet a freed graph, never a wrong gradient."""
    x = torch.ones(1000, requires_grad=True)
    y = chain(x.exp(), 100).exp().sum()
    outcomes, refusals = [], []

    def work(index: int) -> None:
        try:
            outcomes.append(torch.autograd.grad(y, x)[0])
        except RuntimeError as error:
            refusals.append(str(error))

    together(work)
    assert outcomes
    assert all("second time" in each for each in refusals)
    assert all(torch.equal(each, outcomes[0]) for each in outcomes)


def test_modes_belong_to_their_thread() -> None:
    x = torch.ones(1, requires_grad=True)

    def work(index: int) -> None:
        assert torch.is_grad_enabled()
        for _ in range(100):
            with torch.set_grad_enabled(index % 2 == 0):
                assert (x * 2).requires_grad == (index % 2 == 0)

    with torch.no_grad():
        together(work)


def test_hooks_run_in_the_thread_that_went_backward() -> None:
    seen = []

    def work(index: int) -> None:
        y = torch.ones(1, requires_grad=True) * 2
        y.register_hook(lambda grad: seen.append((index, threading.get_ident())))
        y.backward()
        assert (index, threading.get_ident()) in seen

    together(work)


def test_forward_and_backward_at_the_same_time() -> None:
    x = torch.ones(10, requires_grad=True)

    def work(index: int) -> None:
        y = x
        for _ in range(300):
            y = y * 1.001
        y.sum().backward()

    together(work)
    assert torch.allclose(x.grad, torch.full((10,), 8 * 1.001**300), rtol=1e-3)
