"""An audit sees the names of a program, and says which are missing."""

from __future__ import annotations

import json
import os
import textwrap
from pathlib import Path

import pytest

from flambeau import cli
from flambeau.compat import audit

PROGRAM = """
    import torch
    import torch.nn as nn
    import numpy as np
    from torch.nn import functional as F, Linear as Dense
    from torch.nothing import Something
    import torch.absent

    class Net(nn.Module):
        def __init__(self, nn_size=torch.pi):
            self.layer = nn.Linear(3, nn.nothing)

        def forward(self, x, torch_like):
            x = F.relu(self.layer(x)) + F.no_such(x)
            return np.no_such(x), torch.no_such(x).whatever

    def shadow(torch, F):
        return torch.unknown(F.unknown)

    functional = torch.nn.functional
    functional.gone(functional.gelu)
    make = torch.zeros
    make(3).also_unknown()
    optim = torch.optim
"""
MISSING = {
    "torch.nothing.Something": (1, 6),
    "torch.absent": (1, 7),
    "torch.nn.nothing": (1, 11),
    "torch.nn.functional.no_such": (1, 14),
    "torch.no_such": (1, 15),
    "torch.nn.functional.gone": (1, 21),
}


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(textwrap.dedent(PROGRAM))
    return path


def test_missing_names(program: Path):
    found = audit(program)
    assert {each.name: (each.uses, each.first.line) for each in found.missing} == MISSING
    assert found.names["torch.nn.functional.gelu"] == 1
    assert found.names["torch.optim"] == 1
    assert not any("unknown" in name or "whatever" in name for name in found.names)
    assert found.coverage == pytest.approx(1 - len(MISSING) / found.names.total())


def test_what_is_not_flambeau_s_to_have(tmp_path: Path):
    path = tmp_path / "program.py"
    path.write_text("import torch\ntorch.npu.synchronize()\ntorch.torch.ones(3)\n")
    assert not audit(path).missing


def test_what_is_there_only_to_say_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "program.py"
    path.write_text(
        "import torch, torch.onnx\nfrom torch.distributed.fsdp import FullyShardedDataParallel\n"
        "torch.onnx.export()\ntorch.cuda.synchronize()\ntorch.ones(2)\n"
        "from torchvision.datasets import MNIST, Kinetics\n"
    )
    found = audit(path)
    assert not found.missing
    names = {each.name for each in found.refused}
    assert names == {
        "torch.onnx.export",
        "torch.distributed.fsdp.FullyShardedDataParallel",
        "torchvision.datasets.Kinetics",
    }
    assert cli.main(["run", "--audit", str(path)]) == 0
    output = capsys.readouterr().out
    assert "raising an error that says what to use instead" in output
    assert "nothing is missing" not in output


def test_what_is_taken_without_effect(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "program.py"
    path.write_text(
        "import torch\nfrom torch.export import export as ex\nf = torch.compile(print)\n"
        "torch.compile(print, fullgraph=True)\ntorch.compile(print, fullgraph=False)\n"
        "ex(f, (), strict=f)\ntorch.ones(2, requires_grad=True)\n"
    )
    found = audit(path)
    assert {each.name: (each.uses, each.first.line) for each in found.accepted} == {
        "torch.compile": (3, 3),
        "torch.compile(fullgraph)": (1, 4),
        "torch.export.export(strict)": (1, 6),
    }
    assert not found.missing
    assert found.working_uses == found.names.total() - 4
    assert cli.main(["run", "--audit", str(path)]) == 0
    output = capsys.readouterr().out
    assert "accepted, but without effect" in output
    assert "3 of 4 names of torch in 1 file work: 42.9% of 7 uses" in output
    assert "nothing is missing" not in output
    assert cli.main(["run", "--audit", "--json", str(path)]) == 0
    assert len(json.loads(capsys.readouterr().out)["accepted"]) == 3


def test_folders_and_notebooks(tmp_path: Path, program: Path):
    cells = [
        {"cell_type": "markdown", "source": ["torch.not_code"]},
        {
            "cell_type": "code",
            "source": ["%matplotlib inline\n", "!pip install x\n", "import torch"],
        },
        {"cell_type": "code", "source": ["torch.from_a_notebook"]},
    ]
    (tmp_path / "book.ipynb").write_text(json.dumps({"cells": cells}))
    (tmp_path / "bad.py").write_text("def (:")
    hidden = tmp_path / ".venv"
    hidden.mkdir()
    (hidden / "other.py").write_text("import torch; torch.hidden")
    found = audit(tmp_path)
    assert {each.name for each in found.missing} == {*MISSING, "torch.from_a_notebook"}
    assert found.files == 3
    assert [file.name for file in found.unreadable] == ["bad.py"]


def test_command(program: Path, capsys: pytest.CaptureFixture[str]):
    assert cli.main(["run", "--audit", str(program)]) == 1
    output = capsys.readouterr().out
    for name, (_, line) in MISSING.items():
        assert any(name in text and f"net.py:{line}" in text for text in output.splitlines())
    assert cli.main(["run", "--audit", "--json", str(program)]) == 1
    content = json.loads(capsys.readouterr().out)
    assert {each["name"] for each in content["missing"]} == set(MISSING)


def test_command_with_nothing_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    path = tmp_path / "good.py"
    path.write_text("import torch\nprint(torch.ones(3))\n")
    assert cli.main(["run", "--audit", str(path)]) == 0
    assert "nothing is missing" in capsys.readouterr().out
    path.write_text("print(1)\n")
    assert cli.main(["run", "--audit", str(path)]) == 0
    assert "no name of torch" in capsys.readouterr().out
    assert cli.main(["run", "--audit", str(tmp_path / "none.py")]) == 1
    assert "there is no" in capsys.readouterr().err


def test_sources_that_nobody_can_read(tmp_path):
    deep = [
        "x=" + "(" * 5000 + ")" * 5000,
        "x=" + "-" * 50000 + "1",
        "import torch\nx=torch" + ".a" * 20000,
    ]
    for number, text in enumerate(deep):
        (tmp_path / f"deep{number}.py").write_text(text)
    (tmp_path / "binary.py").write_bytes(bytes(range(256)))
    (tmp_path / "deep.ipynb").write_text("[" * 100_000)
    (tmp_path / "folder.py").mkdir()
    (tmp_path / "nowhere.py").symlink_to("missing.py")
    (tmp_path / "loop").symlink_to(".")
    os.mkfifo(tmp_path / "pipe.py")
    found = audit(tmp_path)
    assert len(found.unreadable) == found.files == 8
