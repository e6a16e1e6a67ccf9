"""``import torch`` gives Flambeau once the hook is installed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import flambeau
from flambeau.compat._packages import PACKAGES

ROOT = Path(__file__).parents[2]


def python(program: str) -> list[str]:
    """The lines that a program prints which begins by installing the hook."""
    program = f"import flambeau.compat\nflambeau.compat.install()\n{program}"
    command = [sys.executable, "-W", "error", "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert result.returncode == 0, result.stderr
    return result.stdout.splitlines()


def test_modules_are_flambeau_s_own():
    program = """
import torch, torch.nn as nn, torch.nn.functional as F, torch.utils.data.dataloader
from torch import optim
from torch.utils.data import DataLoader
print(nn is flambeau.nn, F is flambeau.nn.functional, optim is flambeau.optim)
print(torch.add is flambeau.add, torch.Tensor is flambeau.Tensor, torch.nn is nn)
print(torch.utils.data.dataloader.DataLoader is DataLoader)
print(F.relu(torch.tensor([-1.0, 2.0])))
"""
    assert python(program) == ["True True True", "True True True", "True", "tensor([0., 2.])"]


def test_a_served_module_keeps_its_own_name_and_spec():
    program = """
import torch.nn.functional
print(flambeau.nn.functional.__name__, flambeau.nn.functional.__spec__.name)
import importlib
importlib.reload(importlib.import_module("flambeau.nn.grad"))
"""
    assert python(program) == ["flambeau.nn.functional flambeau.nn.functional"]


def test_version_is_one_that_scripts_accept():
    program = """
import torch, importlib.metadata, importlib.util
print(torch.__version__, importlib.metadata.version("torch"))
print(torch.__version__ >= (2, 1), torch.__version__ >= "2.13.0", torch.__version__ < "2.14")
print(torch.__version__.split(".")[:2], torch.version.cuda)
print(importlib.util.find_spec("torch") is not None, importlib.util.find_spec("torch.nothing"))
print(importlib.util.find_spec("torch.__main__"))
"""
    version = PACKAGES["torch"].version
    assert version.startswith(flambeau.version.torch)
    assert python(program) == [
        f"{version} {version}",
        "True True True",
        "['2', '13'] None",
        "True None",
        "None",
    ]


def test_other_distributions_are_still_found():
    program = """
import importlib.metadata
print(importlib.metadata.version("numpy") == __import__("numpy").__version__)
names = [each.metadata["Name"] for each in importlib.metadata.distributions()]
print(names.count("torch") >= 1)
try:
    importlib.metadata.version("no-such-package")
except importlib.metadata.PackageNotFoundError:
    print("not found")
"""
    assert python(program) == ["True", "True", "not found"]


@pytest.mark.parametrize("name", ["torch.nothing", "torch.nn.Nothing", "torch.fft.nothing"])
def test_missing_names_say_so(name: str):
    program = f"""
import torch
try:
    {name}
except AttributeError as error:
    print(error)
"""
    module, _, attribute = name.rpartition(".")
    [message] = python(program)
    assert message.startswith(f"module {module!r} has no attribute {attribute!r}: {module} is ")
    assert f"Flambeau {flambeau.__version__} here, which does not provide {name}." in message
    assert "flambeau run --audit" in message


def test_missing_modules_are_not_found():
    program = """
for name in "torch.nothing", "torch.nn.nothing", "torch.nothing.more":
    try:
        __import__(name)
    except ModuleNotFoundError as error:
        print(error.name)
"""
    assert python(program) == ["torch.nothing", "torch.nn.nothing", "torch.nothing"]


def test_everything_else_of_python_works_on_the_facade():
    program = """
import torch
print("nn" in dir(torch), "Tensor" in dir(torch), hasattr(torch, "nothing"))
torch.of_the_program = 3
print(torch.of_the_program, hasattr(flambeau, "of_the_program"))
from torch import *
print(tensor([1]).dtype is torch.int64)
import copy, pickle
print(pickle.loads(pickle.dumps(torch.nn.Linear(2, 3))))
"""
    assert python(program) == [
        "True True False",
        "3 False",
        "True",
        "Linear(in_features=2, out_features=3, bias=True)",
    ]


def test_install_twice_and_uninstall():
    program = """
import sys, torch
flambeau.compat.install()
print(flambeau.compat.is_installed(), sys.meta_path.count(flambeau.compat._hook._finder))
flambeau.compat.uninstall()
flambeau.compat.uninstall()
print(flambeau.compat.is_installed(), [n for n in sys.modules if n.split(".")[0] == "torch"])
print("__getattr__" in vars(flambeau.fft))
try:
    flambeau.nn.nothing
except AttributeError as error:
    print("torch" in str(error))
flambeau.compat.install()
import torch
print(torch.ones(1))
"""
    assert python(program) == ["True 1", "False []", "False", "False", "tensor([1.])"]


def test_a_torch_that_is_there_already_is_not_replaced():
    program = (
        "import sys, types; sys.modules['torch'] = types.ModuleType('torch')\n"
        "import flambeau.compat\n"
        "try: flambeau.compat.install()\n"
        "except RuntimeError as error: print(error)"
    )
    command = [sys.executable, "-c", program]
    result = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=True)
    assert "torch has been imported already" in result.stdout
    assert "flambeau run" in result.stdout


def test_installing_loads_nothing_heavy():
    program = """
import sys
print([name for name in ("numpy", "torch", "flambeau.nn", "asyncio") if name in sys.modules])
"""
    assert python(program) == ["[]"]
