"""Signals that come while a kernel computes: see csrc/cpu/signal_stack.h.

Each program runs without Python's fault handler, which brings a stack for signal handlers along.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap

import pytest


def run(program: str, isa: str) -> None:
    """It must end by itself, without a word."""
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": isa, "OPENBLAS_NUM_THREADS": "1"}
    environment.pop("PYTHONFAULTHANDLER", None)
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program)],
        capture_output=True,
        text=True,
        timeout=300,
        env=environment,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.parametrize("isa", ["DEFAULT", "AVX2"])
def test_handlers_while_the_main_thread_multiplies(isa: str) -> None:
    program = """
        import signal, time
        import flambeau as fb

        rung = 0
        def ring(number, frame):
            global rung
            rung += 1

        fb.set_num_threads(1)
        signal.signal(signal.SIGALRM, ring)
        a, b = fb.randn(256, 256), fb.randn(256, 256)
        expected = a @ b
        signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
        while rung < 500:
            assert fb.equal(a @ b, expected)
        signal.setitimer(signal.ITIMER_REAL, 0)
        time.sleep(0.1)  # for one that is under way
    """
    run(program, isa)


@pytest.mark.parametrize("isa", ["DEFAULT", "AVX2"])
def test_handlers_while_another_thread_multiplies(isa: str) -> None:
    program = """
        import signal, threading, time
        import flambeau as fb

        fb.set_num_threads(1)
        signal.signal(signal.SIGUSR1, lambda number, frame: None)
        wrong, done = [], threading.Event()

        def multiply():
            a, b = fb.randn(256, 256), fb.randn(256, 256)
            expected = a @ b
            while not done.is_set():
                wrong.extend([] if fb.equal(a @ b, expected) else [True])

        for _ in range(3):
            done.clear()
            thread = threading.Thread(target=multiply)
            thread.start()
            for _ in range(500):
                time.sleep(1e-4)
                signal.pthread_kill(thread.ident, signal.SIGUSR1)
            done.set()
            thread.join()
        assert not wrong
    """
    run(program, isa)


PRODUCTS = "fb.mm(a, b)"
CONVOLUTION = "fb.autograd.grad(y, weight, g, retain_graph=True)[0]"


@pytest.mark.parametrize(
    ("work", "isa"),
    [(PRODUCTS, "DEFAULT"), (PRODUCTS, "AVX2"), (CONVOLUTION, "AVX2")],
    ids=["products", "products, AVX2", "a convolution's gradient"],
)
def test_signals_do_not_come_to_the_pool(work: str, isa: str) -> None:
    """They wait until the main thread takes them."""
    program = f"""
        import signal, time
        import flambeau as fb

        rung = 0
        def ring(number, frame):
            global rung
            rung += 1

        fb.set_num_threads(3)
        signal.signal(signal.SIGALRM, ring)
        a, b = fb.randn(512, 256), fb.randn(256, 512)
        weight = fb.randn(9, 7, 3, 3, requires_grad=True)
        y = fb.nn.functional.conv2d(fb.randn(8, 7, 40, 40), weight, dilation=2)
        g = fb.randn(y.shape)
        expected = {work}
        signal.pthread_sigmask(signal.SIG_BLOCK, {{signal.SIGALRM}})
        signal.setitimer(signal.ITIMER_REAL, 1e-4, 1e-4)
        for _ in range(200):
            assert fb.equal({work}, expected)
        assert rung == 0
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {{signal.SIGALRM}})
        while rung == 0:
            time.sleep(1e-3)
    """
    run(program, isa)


def test_interrupts_while_the_main_thread_multiplies() -> None:
    """Again and again: a program may go on after one."""
    program = """
        import signal
        import flambeau as fb

        signal.signal(signal.SIGALRM, signal.default_int_handler)  # which is that of Ctrl-C
        fb.set_num_threads(1)
        a, b = fb.randn(256, 256), fb.randn(256, 256)
        expected = a @ b
        for moment in range(200):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-3 + moment * 1e-6)
                while True:
                    assert fb.equal(a @ b, expected)
            except KeyboardInterrupt:
                pass
    """
    run(program, "DEFAULT")
