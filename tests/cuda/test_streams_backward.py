"""Backward passes on the streams of their forward, from any thread, on any device."""

import threading
from typing import Any, ClassVar

import pytest

import flambeau as fb
from flambeau import cuda
from flambeau.utils.checkpoint import checkpoint
from tests.cuda.moving import CUDA


class Where(fb.autograd.Function):
    """The identity, which notes the stream of its backward."""

    seen: ClassVar[list[int]] = []

    @staticmethod
    def forward(ctx: Any, x: fb.Tensor) -> fb.Tensor:
        return x * 1

    @staticmethod
    def backward(ctx: Any, grad: fb.Tensor) -> fb.Tensor:
        Where.seen.append(cuda.current_stream(grad.device).cuda_stream)
        return grad * 1


@pytest.fixture(autouse=True)
def _nothing_is_seen() -> None:
    Where.seen.clear()


def test_a_backward_runs_on_the_stream_of_its_forward() -> None:
    stream = cuda.Stream()
    x = fb.ones(3, device=CUDA, requires_grad=True)
    with cuda.stream(stream):
        y = Where.apply(x * 2)
    z = Where.apply(y)
    cuda.current_stream().wait_stream(stream)
    z.sum().backward()
    assert Where.seen == [0, stream.cuda_stream]
    assert cuda.current_stream() == cuda.default_stream()
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 2.0, 2.0]


def test_the_callers_stream_comes_back() -> None:
    ours, theirs = cuda.Stream(), cuda.Stream()
    x = fb.ones(3, device=CUDA, requires_grad=True)
    y = Where.apply(x).sum()
    with cuda.stream(theirs):
        z = Where.apply(y * 3)
    with cuda.stream(ours):
        (grad,) = fb.autograd.grad(z, x)
        assert cuda.current_stream() == ours
    assert Where.seen == [theirs.cuda_stream, 0]
    assert grad.tolist() == [3.0, 3.0, 3.0]


def test_an_error_leaves_the_callers_stream() -> None:
    class Fails(fb.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: fb.Tensor) -> fb.Tensor:
            return x * 1

        @staticmethod
        def backward(ctx: Any, grad: fb.Tensor) -> fb.Tensor:
            raise ValueError("as it should")

    x = fb.ones(3, device=CUDA, requires_grad=True)
    with cuda.stream(cuda.Stream()):
        y = Fails.apply(x).sum()
    with pytest.raises(ValueError, match="as it should"):
        y.backward()
    assert cuda.current_stream() == cuda.default_stream()


def test_views_and_changes_in_place_keep_their_stream() -> None:
    stream = cuda.Stream()
    x = fb.ones(4, device=CUDA, requires_grad=True)
    with cuda.stream(stream):
        y = x * 1
        y[1:3].mul_(3)
        z = checkpoint(lambda t: Where.apply(t) * t, y.view(2, 2), use_reentrant=False)
    z.sum().backward()
    assert Where.seen == [stream.cuda_stream]
    assert x.grad is not None
    assert x.grad.tolist() == [2.0, 18.0, 18.0, 2.0]


def test_another_thread_runs_the_backward() -> None:
    stream = cuda.Stream()
    x = fb.ones(3, device=CUDA, requires_grad=True)
    with cuda.stream(stream):
        y = Where.apply(x).sum()
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert Where.seen == [stream.cuda_stream]
    assert x.grad is not None
    assert x.grad.tolist() == [1.0, 1.0, 1.0]


def test_threads_have_streams_of_their_own() -> None:
    found: dict[int, Any] = {}
    barrier = threading.Barrier(4)

    def work(number: int) -> None:
        before = cuda.current_stream()
        with cuda.stream(cuda.Stream()):
            barrier.wait()
            x = fb.full((300,), float(number), device=CUDA, requires_grad=True)
            (x * x).sum().backward()
            assert x.grad is not None
            found[number] = (before, cuda.current_stream().cuda_stream, x.grad[7].item())

    with cuda.stream(cuda.Stream()):
        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len({stream for _, stream, _ in found.values()}) == 4
    for number, (before, _, grad) in found.items():
        assert before == cuda.default_stream()
        assert grad == 2.0 * number


def test_streams_as_blocks() -> None:
    stream = cuda.Stream(priority=-1)
    assert stream.priority == -1
    assert cuda.Stream.priority_range() == (0, -1)
    with stream as same:
        assert same is stream
        assert cuda.current_stream() == stream
        with stream:
            assert cuda.current_stream() == stream
    assert cuda.current_stream() == cuda.default_stream()
    assert fb.Stream("cuda") != cuda.default_stream()
    assert isinstance(fb.Stream("cuda"), cuda.Stream)
    assert isinstance(fb.Event("cuda", enable_timing=True), cuda.Event)
