"""Where memory is short, an operator raises an error; it does not end the process."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")

PREPARE = """
    import resource
    import flambeau as fb

    fb.set_num_threads(1)

    def leave(mebibytes):
        # So much memory can be had from now on.
        with open("/proc/self/statm") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.setrlimit(resource.RLIMIT_AS, (used + mebibytes * 2**20,) * 2)

    a = fb.randn(150, 150, dtype=fb.float64) + 20 * fb.eye(150, dtype=fb.float64)
    z = a.to(fb.complex128)
"""

CALLS = {
    "mm": "a @ a",
    "complex mm": "z @ z",
    "bmm": "fb.bmm(a[None], a[None])",
    "inv": "fb.linalg.inv(z)",
    "solve": "fb.linalg.solve(z, z)",
    "solve_triangular": "fb.linalg.solve_triangular(a, a, upper=True)",
    "cholesky": "fb.linalg.cholesky(a @ a.T)",
    "qr": "fb.linalg.qr(z)",
    "svd": "fb.linalg.svd(a)",
    "eigh": "fb.linalg.eigh(a)",
    "eig": "fb.linalg.eig(z)",
    "lstsq": "fb.linalg.lstsq(a, a)",
    "lu": "fb.linalg.lu(z)",
}


def run(program: str) -> str:
    text = textwrap.dedent(PREPARE) + textwrap.dedent(program)
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_libraries_that_would_end_the_process(call: str) -> None:
    """OpenBLAS prints a line and exits where it cannot have a buffer."""
    answers = run(f"""
        for room in (16, 8, 2):
            leave(room)
            try:
                {call}
            except fb.OutOfMemoryError:
                print("refused")
    """)
    assert answers.split() == ["refused"] * 3


def test_buffers_that_are_there_already() -> None:
    """The first call has made one, and the next need no more."""
    answer = run("""
        out = fb.empty_like(a)
        fb.mm(a, a, out=out)
        leave(4)
        fb.mm(a, a, out=out)
        print(fb.linalg.det(a).item() != 0)
    """)
    assert answer.split() == ["True"]


def test_elements() -> None:
    answers = run("""
        leave(64)
        for make in (
            lambda: fb.empty(2**28),
            lambda: fb.randn(2**13, 2**13),
            lambda: fb.ones(2**12).expand(2**12, 2**12).contiguous(),
            lambda: fb.arange(2**27),
            lambda: a.repeat(2**10, 2**6),
            lambda: fb.cat([a] * 2**12),
        ):
            try:
                make()
            except fb.OutOfMemoryError:
                print("refused")
    """)
    assert answers.split() == ["refused"] * 6
