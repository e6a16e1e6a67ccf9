"""Files of scripts and traces, which need no code to run."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import flambeau as torch
from flambeau import jit
from tests.compatibility.networks import Choice, Net, images, network

ROOT = Path(__file__).parents[2]


@pytest.fixture
def net():
    return network()


def test_saved_module(net, tmp_path):
    path = tmp_path / "net.pt"
    jit.save(jit.trace(net, images()), path)
    loaded = jit.load(path)
    assert torch.allclose(loaded(images(3)), net(images(3)))
    assert list(loaded.state_dict()) == list(net.state_dict())
    assert not loaded.training
    assert loaded.original_name == "Net"
    with pytest.raises(NotImplementedError, match="only the outermost module of a trace runs"):
        loaded.conv(images())


def test_a_file_needs_no_code(net, tmp_path):
    path = tmp_path / "net.pt"
    jit.trace(net, images()).save(str(path))
    program = (
        "import sys, flambeau as torch\n"
        f"net = torch.jit.load({str(path)!r})\n"
        "x = torch.linspace(-1, 1, 48).reshape(3, 1, 4, 4)\n"
        "print(net(x).sum().item(), 'tests' in sys.modules)\n"
    )
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    value, has_tests = result.stdout.split()
    x = torch.linspace(-1, 1, 48).reshape(3, 1, 4, 4)
    assert float(value) == pytest.approx(net(x).sum().item(), rel=1e-6)
    assert has_tests == "False"


def test_buffers_and_extra_files(net):
    traced = jit.trace(net, images())
    buffer = io.BytesIO()
    jit.save(traced, buffer, _extra_files={"labels.txt": "a\nb"})
    buffer.seek(0)
    extra = {"labels.txt": "", "other.txt": ""}
    loaded = jit.load(buffer, map_location="cpu", _extra_files=extra)
    assert extra == {"labels.txt": "a\nb", "other.txt": ""}
    assert torch.equal(loaded(images()), traced(images()))
    assert jit.load(io.BytesIO(traced.save_to_buffer()))(images()).shape == (2, 3)


def test_saved_function(tmp_path):
    traced = jit.trace(lambda x: x[..., :2] * 2, torch.ones(3))
    traced.save(tmp_path / "function.pt")
    loaded = jit.load(tmp_path / "function.pt")
    assert loaded(torch.arange(4.0)).tolist() == [0, 2]


def test_a_saved_script_is_a_trace_of_it(net, tmp_path):
    scripted = jit.script(net)
    with pytest.raises(RuntimeError, match="not known before it has been called"):
        scripted.save(tmp_path / "net.pt")
    scripted(images())
    scripted.save(tmp_path / "net.pt")
    loaded = jit.load(tmp_path / "net.pt")
    assert torch.allclose(loaded(images(4)), net(images(4)))


def test_a_script_that_elements_decide_about_is_not_saved(tmp_path):
    scripted = jit.script(Choice())
    scripted(torch.ones(2))
    with pytest.raises(RuntimeError, match="may depend on its elements"):
        scripted.save(tmp_path / "choice.pt")


def test_a_loaded_module_learns_and_is_saved_again(net, tmp_path):
    jit.trace(net, images()).save(tmp_path / "net.pt")
    loaded = jit.load(tmp_path / "net.pt")
    optimizer = torch.optim.SGD(loaded.parameters(), 0.1)
    loaded(images()).sum().backward()
    optimizer.step()
    loaded.save(tmp_path / "again.pt")
    again = jit.load(tmp_path / "again.pt")
    assert torch.equal(again(images()), loaded(images()))


def test_files_that_are_something_else(tmp_path):
    with pytest.raises(ValueError, match="there is no file"):
        jit.load(tmp_path / "nothing.pt")
    torch.save({"weight": torch.ones(1)}, tmp_path / "checkpoint.pt")
    with pytest.raises(RuntimeError, match=r"a checkpoint, not a script; torch\.load reads it"):
        jit.load(tmp_path / "checkpoint.pt")
    with zipfile.ZipFile(tmp_path / "script.pt", "w") as archive:
        archive.writestr("archive/code/__torch__/net.py", "class Net: ...")
        archive.writestr("archive/data.pkl", b"")
    with pytest.raises(NotImplementedError, match="holds TorchScript code"):
        jit.load(tmp_path / "script.pt")
    with pytest.raises(AttributeError, match=r"expected a script, got Net"):
        jit.save(Net(), tmp_path / "net.pt")


def test_a_file_cannot_call_what_is_no_operator(tmp_path):
    jit.trace(lambda x: x + 1, torch.ones(1)).save(tmp_path / "function.pt")
    content = torch.load(tmp_path / "function.pt")
    name, *others = content["programs"]["forward"]["steps"][0]
    assert "add" in name
    content["programs"]["forward"]["steps"][0] = ("os.system", *others)
    torch.save(content, tmp_path / "hostile.pt")
    with pytest.raises(RuntimeError, match=r"there is no operator called 'os\.system'"):
        jit.load(tmp_path / "hostile.pt")
