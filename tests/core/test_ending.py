"""Programs that end: with hooks and modes still set, and with threads that still compute."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import threading

import pytest

import flambeau as fb
from flambeau import _C


def run(program: str, times: int = 1) -> None:
    """Run it, some copies at once; each must end by itself, without a word."""
    command = [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(times)
    ]
    texts = [each.communicate(timeout=300)[0].decode() for each in running]
    assert [(each.returncode, text) for each, text in zip(running, texts, strict=True)] == [
        (0, "")
    ] * times


LEFT_SET = {
    "saved tensors hooks": """
        class Hook:
            def __call__(self, x):
                return x
        fb.autograd.graph.saved_tensors_hooks(Hook(), Hook()).__enter__()
        y = (fb.ones(3, requires_grad=True) * fb.ones(3)).exp()
    """,
    "disabled hooks": """
        fb.autograd.graph.disable_saved_tensors_hooks("a message " * 10).__enter__()
    """,
    "function mode": """
        class Mode(fb.overrides.TorchFunctionMode):
            def __torch_function__(self, func, types, args=(), kwargs=None):
                return func(*args, **(kwargs or {}))
        Mode().__enter__()
        fb.ones(3) + 1
    """,
    "device": "fb.device('meta').__enter__()",
    "autocast": """
        fb.autocast("cpu").__enter__()
        fb.autocast("xpu", dtype=fb.float16).__enter__()
        weight = fb.nn.Parameter(fb.ones(3, 3))
        weight.register_hook(lambda grad: grad)
        y = fb.mm(fb.ones(3, 3), weight)
    """,
    "hooks of nodes and tensors": """
        x = fb.ones(3, requires_grad=True)
        y = x.exp()
        y.register_hook(lambda grad: grad)
        y.grad_fn.register_hook(lambda *grads: None)
        class Twice(fb.autograd.Function):
            @staticmethod
            def forward(ctx, x):
                ctx.save_for_backward(x)
                return x * 2
            @staticmethod
            def backward(ctx, grad):
                return grad * 2
        z = Twice.apply(y)
        z.itself = z
    """,
    "memory of others": """
        x = fb.frombuffer(bytearray(64), dtype=fb.float32)
        y = fb.from_numpy(__import__("numpy").ones(3))
        x.itself, y.itself = x, y
    """,
}


@pytest.mark.parametrize("left", LEFT_SET.values(), ids=LEFT_SET)
@pytest.mark.parametrize("place", ["the main thread", "a daemon", "a thread"])
def test_what_is_left_set(left: str, place: str) -> None:
    body = textwrap.indent(textwrap.dedent(left), "    ")
    program = f"import threading\nimport flambeau as fb\nkept = []\ndef leave():\n{body}\n"
    program += "    kept.append(list(locals().values()))\n"
    if place == "the main thread":
        program += "leave()\n"
    else:
        program += "done = threading.Event()\n"
        program += "def stay():\n    leave()\n    done.set()\n    threading.Event().wait()\n"
        target, daemon = ("stay", True) if place == "a daemon" else ("leave", False)
        program += f"thread = threading.Thread(target={target}, daemon={daemon})\nthread.start()\n"
        program += "done.wait()\n" if daemon else "thread.join()\n"
    run(program)


WORK = {
    "kernels": "a @ a; a.exp().sum(); a.sort()",
    "kernels of a library": "fb.linalg.svd(d); d @ d",
    "convolutions": "fb.nn.functional.conv2d(images, weights)",
    "training": "net(a).sum().backward()",
    "hooks": """
    with fb.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
        (b * b.exp()).sum().backward()
    """,
    "overrides": "kind(a) + 1; fb.stack([kind(a), a])",
    "functions": "Twice.apply(b).sum().backward()",
    "errors": """
    try:
        fb.ones(2) + fb.ones(3)
    except RuntimeError:
        pass
    """,
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK)
def test_daemons_that_compute_until_the_end(work: str) -> None:
    """They must neither crash nor keep the program from ending."""
    loop = textwrap.indent(textwrap.dedent(work), " " * 8)
    program = f"""
import sys, threading, time
import flambeau as fb
fb.set_num_threads(2)
sys.setswitchinterval(1e-5)

class Kind(fb.Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {{}})

def kind(x):
    return x.as_subclass(Kind)

class Twice(fb.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2
    @staticmethod
    def backward(ctx, grad):
        return grad * 2

def compute(started):
    a, d = fb.randn(200, 200), fb.randn(60, 60, dtype=fb.float64)
    b = fb.randn(200, 200, requires_grad=True)
    images, weights = fb.randn(1, 8, 32, 32), fb.randn(8, 8, 3, 3)
    net = fb.nn.Sequential(fb.nn.Linear(200, 200), fb.nn.ReLU(), fb.nn.Linear(200, 10))
    started.set()
    while True:
{loop}

for _ in range(3):
    started = threading.Event()
    threading.Thread(target=compute, args=(started,), daemon=True).start()
    started.wait()
time.sleep(0.05)
"""
    run(program, times=4)


def test_a_thread_that_ends_in_a_mode_leaves_no_trace() -> None:
    """Every call looks for modes as long as one thread is said to have one."""

    class Mode(fb.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            raise AssertionError("called from another thread")

    def leave() -> None:
        Mode().__enter__()

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert fb.add(fb.ones(2), 1).tolist() == [2.0, 2.0]
    assert _C._len_torch_function_stack() == 0


def test_hooks_of_a_thread_end_with_it() -> None:
    ended: list[int] = []

    class Hook:
        def __call__(self, x):
            return x

        def __del__(self):
            ended.append(threading.get_ident())

    def leave() -> None:
        fb.autograd.graph.saved_tensors_hooks(Hook(), Hook()).__enter__()

    thread = threading.Thread(target=leave)
    thread.start()
    thread.join()
    assert len(ended) == 2
