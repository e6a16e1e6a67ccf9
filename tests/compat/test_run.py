"""``flambeau run``: a program sees what it would see under ``python``."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def run(*arguments: str, command: str = "flambeau.compat") -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", command, *arguments]
    return subprocess.run(whole, capture_output=True, text=True, cwd=ROOT)


@pytest.fixture
def script(tmp_path: Path):
    def write(text: str, name: str = "train.py") -> str:
        path = tmp_path / name
        path.write_text(textwrap.dedent(text))
        return str(path)

    return write


def test_arguments_name_and_path(script, tmp_path):
    script("value = 7\n", "neighbour.py")
    path = script("""
        import argparse, sys, torch, neighbour
        parser = argparse.ArgumentParser()
        parser.add_argument("--epochs", type=int)
        print(parser.parse_args().epochs, sys.argv[0] == __file__, __name__, neighbour.value)
        print(torch.__version__.split("+")[1])
    """)
    for result in (
        run(path, "--epochs", "3"),
        run("run", path, "--epochs", "3", command="flambeau"),
    ):
        assert result.returncode == 0, result.stderr
        assert result.stdout.splitlines() == ["3 True __main__ 7", "flambeau"]


def test_module_with_arguments(script, tmp_path):
    script("import sys, torch\nprint(sys.argv[1:], __name__, torch.ones(1))", "program.py")
    result = subprocess.run(
        [sys.executable, "-m", "flambeau.compat", "-m", "program", "-m", "x"],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == "['-m', 'x'] __main__ tensor([1.])\n"


def test_modules_of_torch_that_are_run(script):
    path = script("""
        import sys, torch.distributed as dist
        dist.init_process_group("gloo")
        print(dist.get_world_size(), sys.argv[1:], __name__)
    """)
    result = run("-m", "torch.distributed.run", "--nproc_per_node=1", path, "--epochs", "3")
    assert result.returncode == 0, result.stderr
    assert result.stdout == "1 ['--epochs', '3'] __main__\n"


def test_errors_show_the_program_alone(script):
    path = script("""
        import torch
        def product():
            return torch.ones(2) @ torch.ones(3)
        product()
    """)
    result = run(path)
    assert result.returncode == 1
    lines = result.stderr.splitlines()
    assert lines[0] == "Traceback (most recent call last):"
    assert lines[1] == f'  File "{path}", line 5, in <module>'
    assert "flambeau/compat" not in result.stderr
    assert lines[-1].startswith("RuntimeError: matmul")


@pytest.mark.parametrize(
    ("statement", "code"), [("raise SystemExit(5)", 5), ("import sys; sys.exit()", 0)]
)
def test_exit_codes(script, statement: str, code: int):
    assert run(script(statement)).returncode == code


def test_operating_system_errors_keep_their_traceback(script):
    result = run(script("open('/no/such/file')"))
    assert result.returncode == 1
    assert "FileNotFoundError" in result.stderr
    assert "Traceback" in result.stderr


def test_missing_modules_are_explained(script):
    path = script("import torch.nothing")
    result = run(path)
    assert result.returncode == 1
    assert "No module named 'torch.nothing'" in result.stderr
    assert "flambeau run --audit" in result.stderr
    assert "flambeau run --audit" not in run(script("import nothing_at_all")).stderr


@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_start_afresh_have_the_hook(script, method: str):
    path = script(f"""
        import torch
        import torch.multiprocessing as mp

        def double(x):
            return torch.__version__, x * 2

        if __name__ == "__main__":
            with mp.get_context("{method}").Pool(1) as pool:
                print(pool.map(double, [21]))
    """)
    result = run(path)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "[('2.13.0+flambeau', 42)]\n"


def test_bad_scripts(script, tmp_path):
    missing = run(str(tmp_path / "none.py"))
    assert missing.returncode == 1
    assert "cannot read" in missing.stderr
    assert "Traceback" not in missing.stderr
    folder = run(str(tmp_path))
    assert folder.returncode == 1
    assert "is a folder" in folder.stderr
    broken = run(script("def f(:\n"))
    assert broken.returncode == 1
    assert "SyntaxError" in broken.stderr
    assert "flambeau/compat" not in broken.stderr
