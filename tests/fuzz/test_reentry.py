"""Programs that change what is being looked at: arguments, sessions and casts that go away."""

import gc
import subprocess
import sys
import textwrap

import pytest

import flambeau as torch
from flambeau import _C


def test_arguments_that_the_first_one_asked_removes():
    given: list = []

    class Remover(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            given.clear()
            gc.collect()
            return NotImplemented

    class Other(torch.Tensor):
        @classmethod
        def __torch_function__(cls, function, types, args=(), kwargs=None):
            return NotImplemented

    for _ in range(50):
        given[:] = [torch.ones(2).as_subclass(kind) for kind in (Remover, Other)]
        with pytest.raises(TypeError, match="NotImplemented: Remover, Other"):
            torch.stack(given)


@pytest.mark.parametrize("kwargs", [[1, 2], 5, "x"])
def test_keywords_that_are_no_dictionary(kwargs):
    with pytest.raises(TypeError, match="'kwargs' must be dict, not"):
        _C._disabled_torch_function_impl(torch.add, (), (1, 2), kwargs)


def test_session_that_ends_while_it_is_read():
    class Ender:
        def __init__(self):
            self.itself = self

        def __del__(self):
            _C._profile_stop(session)

    thresholds = gc.get_threshold()
    for _ in range(10):
        session = _C._profile_start(31)
        for number in range(200):
            with torch.profiler.record_function(f"{number}" * 100, "arguments"):
                torch.ones(2)
        Ender()
        gc.set_threshold(50, 2, 2)
        try:
            assert len(_C._profile_read(session)) > 200
        finally:
            gc.set_threshold(*thresholds)
        assert not _C._is_profiling()


def test_program_that_ends_in_a_session():
    program = """
        import flambeau as torch
        torch._C._profile_start(31)
        torch.nn.Linear(2, 2)(torch.ones(1, 2)).sum().backward()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(program)], check=True, timeout=120)


def test_casts_that_are_forgotten_while_one_is_replaced():
    class Forgetter:
        def __call__(self, gradient):
            return gradient

        def __del__(self):
            torch.clear_autocast_cache()

    x = torch.randn(2, 4)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        for _ in range(20):
            weight = torch.nn.Parameter(torch.randn(4, 4))
            weight.register_hook(Forgetter())
            first = torch.mm(x, weight)
            with torch.no_grad():
                weight.add_(1)
            second = torch.mm(x, weight)
            (first.detach() + second).sum().backward()
            assert weight.grad is not None
