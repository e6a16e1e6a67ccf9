"""Long graphs, exceptions and interrupts, backward inside backward."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator

import pytest

import flambeau as torch

MILLION = 1_000_000


def chain(x: torch.Tensor, length: int) -> torch.Tensor:
    for _ in range(length):
        x = x + 1.0
    return x


class TestLongGraphs:
    """Nothing recurses over the graph, so its length is limited by memory alone."""

    def test_backward_through_a_million_nodes(self) -> None:
        x = torch.ones(1, requires_grad=True)
        y = chain(x, MILLION)
        y.backward()
        assert x.grad.item() == 1.0
        assert y.item() == MILLION + 1

    def test_a_million_nodes_dropped(self) -> None:
        y = chain(torch.ones(1, requires_grad=True), MILLION)
        assert y.requires_grad
        del y

    def test_a_million_saved_tensors_dropped(self) -> None:
        y = torch.ones(1, requires_grad=True)
        for _ in range(MILLION // 10):
            y = y * y
        del y

    def test_a_long_chain_of_custom_functions(self) -> None:
        x = torch.ones(1, requires_grad=True)
        y = x
        for _ in range(20_000):
            y = Doubling.apply(y) * 0.5
        y.backward()
        assert x.grad.item() == 1.0
        del y

    def test_a_long_chain_of_writes_through_views(self) -> None:
        x = torch.ones(4, requires_grad=True)
        y = x * 1
        for i in range(20_000):
            y[i % 4].mul_(1.0)
        y.sum().backward()
        assert x.grad.tolist() == [1.0] * 4

    def test_one_tensor_used_a_hundred_thousand_times(self) -> None:
        x = torch.ones(1, requires_grad=True)
        y = x * 1
        torch.stack([y] * 100_000).sum().backward()
        assert x.grad.item() == 100_000

    def test_a_ladder_is_visited_once_per_node(self) -> None:
        """Two ways at each of 60 rungs: 2^60 paths, 120 nodes."""
        x = torch.ones(1, dtype=torch.float64, requires_grad=True)
        y = x
        for _ in range(60):
            y = y + y
        y.backward()
        assert x.grad.item() == 2.0**60


class Doubling(torch.autograd.Function):
    """Twice the input."""

    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, grad):
        return grad * 2


class Trouble(Exception):
    """Raised by the hooks below."""


def raising(*_: object) -> None:
    raise Trouble("in a hook")


class TestExceptions:
    """After an exception the engine and what remains of the graph can be used."""

    @pytest.mark.parametrize(
        "register",
        [
            lambda x, y: y.register_hook(raising),
            lambda x, y: x.register_hook(raising),
            lambda x, y: y.grad_fn.register_hook(raising),
            lambda x, y: y.grad_fn.register_prehook(raising),
            lambda x, y: x.register_post_accumulate_grad_hook(raising),
        ],
    )
    def test_in_a_hook(self, register: Callable) -> None:
        x = torch.ones(2, requires_grad=True)
        y = x.exp()
        handle = register(x, y)
        z = (y * y).sum()
        with pytest.raises(Trouble, match="in a hook"):
            z.backward(retain_graph=True)
        handle.remove()
        x.grad = None
        z.backward()
        assert torch.allclose(x.grad, 2 * torch.exp(2 * x.detach()))

    def test_in_a_custom_backward(self) -> None:
        class Failing(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                raise Trouble("in backward")

        x = torch.ones(2, requires_grad=True)
        for _ in range(3):
            with pytest.raises(Trouble, match="in backward"):
                Failing.apply(x * 1).sum().backward()
        (x * 2).sum().backward()
        assert x.grad.tolist() == [2.0, 2.0]

    def test_the_traceback_leads_to_the_hook(self) -> None:
        y = torch.ones(1, requires_grad=True) * 2
        y.register_hook(raising)
        with pytest.raises(Trouble) as caught:
            y.backward()
        assert any(entry.name == "raising" for entry in caught.traceback)

    def test_grad_mode_is_what_it_was(self) -> None:
        y = torch.ones(1, requires_grad=True) * 2
        y.register_hook(raising)
        with pytest.raises(Trouble):
            y.backward()
        assert torch.is_grad_enabled()

    def test_halfway_through_leaves(self) -> None:
        """A leaf that was reached before the exception has its gradient, others do not."""
        x = torch.ones(1, requires_grad=True)
        y = x * 2
        y.register_hook(raising)
        late = torch.ones(1, requires_grad=True)
        with pytest.raises(Trouble):
            (y + late).backward()
        assert x.grad is None


class TestInterrupts:
    """Ctrl-C stops a backward that is native code from end to end."""

    @pytest.fixture(autouse=True)
    def alarm(self) -> Iterator[None]:
        def interrupt(number: int, frame: object) -> None:
            raise KeyboardInterrupt

        before = signal.signal(signal.SIGALRM, interrupt)
        yield
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)

    def test_a_long_backward(self) -> None:
        x = torch.ones(1, requires_grad=True)
        y = chain(x, MILLION)
        with pytest.raises(KeyboardInterrupt):  # noqa: PT012 - the alarm rings inside backward
            signal.setitimer(signal.ITIMER_REAL, 0.01)
            y.backward()
        assert x.grad is None  # it did stop before the end
        (x * 2).backward()
        assert x.grad.item() == 2.0


class TestBackwardInBackward:
    """A hook or a custom backward may go backward itself."""

    def test_in_a_hook(self) -> None:
        x, other = torch.ones(1, requires_grad=True), torch.ones(1, requires_grad=True)
        y = x * 2
        y.register_hook(torch.enable_grad()(lambda grad: (other * 5 * grad).backward()))
        (y * 3).backward()
        assert x.grad.item() == 6.0
        assert other.grad.item() == 15.0

    def test_on_the_same_leaf(self) -> None:
        x = torch.ones(1, requires_grad=True)
        y = x * 2
        y.register_hook(torch.enable_grad()(lambda grad: (x * 10).backward()))
        y.backward()
        assert x.grad.item() == 12.0

    def test_recomputing_the_forward(self) -> None:
        class Recompute(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x.detach().exp()

            @staticmethod
            def backward(ctx, grad):
                (x,) = ctx.saved_tensors
                with torch.enable_grad():
                    again = x.detach().requires_grad_()
                    again.exp().backward(grad)
                return again.grad

        x = torch.tensor([0.5, 1.5], requires_grad=True)
        (Recompute.apply(x * 2) * 3).sum().backward()
        assert torch.allclose(x.grad, 6 * torch.exp(2 * x.detach()))

    @pytest.mark.parametrize("depth", [100, 5000])
    def test_many_levels(self, depth: int) -> None:
        """Neither the thread's stack nor the depth that Python allows is a limit."""

        class Nested(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                if ctx.depth:
                    with torch.enable_grad():
                        inner = torch.ones(1, requires_grad=True)
                        Nested.apply(inner, ctx.depth - 1).backward()
                        assert inner.grad.item() == 2.0
                return grad * 2, None

        x = torch.ones(1, requires_grad=True)
        Nested.apply(x, depth).backward()
        assert x.grad.item() == 2.0

    def test_many_levels_of_hooks(self) -> None:
        depth = 0

        def deeper(grad: torch.Tensor) -> None:
            nonlocal depth
            depth += 1
            if depth < 3000:
                with torch.enable_grad():
                    y = torch.ones(1, requires_grad=True) * 2
                    y.register_hook(deeper)
                    y.backward()

        y = torch.ones(1, requires_grad=True) * 2
        y.register_hook(deeper)
        y.backward()
        assert depth == 3000

    def test_modes_reach_all_levels(self) -> None:
        packed = []

        class Nested(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                if ctx.depth:
                    with torch.enable_grad():
                        inner = torch.ones(1, requires_grad=True)
                        Nested.apply(inner * inner, ctx.depth - 1).backward()
                return grad * 2, None

        x = torch.ones(1, requires_grad=True)
        with torch.autograd.graph.saved_tensors_hooks(
            lambda tensor: packed.append(1) or tensor, lambda tensor: tensor
        ):
            Nested.apply(x, 300).backward()
        assert len(packed) == 2 * 300

    def test_an_exception_from_far_below(self) -> None:
        class Nested(torch.autograd.Function):
            @staticmethod
            def forward(ctx, x, depth):
                ctx.depth = depth
                return x * 2

            @staticmethod
            def backward(ctx, grad):
                if not ctx.depth:
                    raise Trouble
                with torch.enable_grad():
                    Nested.apply(torch.ones(1, requires_grad=True), ctx.depth - 1).backward()
                return grad * 2, None

        x = torch.ones(1, requires_grad=True)
        with pytest.raises(Trouble):
            Nested.apply(x, 200).backward()
        (x * 3).backward()
        assert x.grad.item() == 3.0

    def test_an_exception_of_the_inner_one(self) -> None:
        x = torch.ones(1, requires_grad=True)
        inner = torch.ones(1, requires_grad=True) * 2
        inner.register_hook(raising)
        y = x * 2
        y.register_hook(lambda grad: inner.backward())
        with pytest.raises(Trouble):
            y.backward()
        x.grad = None
        (x * 3).backward()
        assert x.grad.item() == 3.0
