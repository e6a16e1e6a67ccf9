"""What ``import flambeau`` brings, and what it leaves for later."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import flambeau as fb

ROOT = Path(__file__).parents[2]
# Each costs milliseconds and is loaded by what needs it.
LEFT_FOR_LATER = {"numpy", "dataclasses", "inspect", "pickle", "json", "flambeau.testing"}
# Packages that load modules and names when somebody asks for them.
LAZY = {
    "flambeau",
    "flambeau.autograd",
    "flambeau.cpu",
    "flambeau.cuda",
    "flambeau.distributed",
    "flambeau.distributed.checkpoint",
    "flambeau.distributed.fsdp",
    "flambeau.distributed.tensor",
    "flambeau.nn",
    "flambeau.utils",
    "flambeau.vision",
}
UNTYPED = {
    "_amp_foreach_non_finite_check_and_unscale_",
    "_amp_update_scale_",
    "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo",
    "_fused_adagrad_",
    "_fused_adam_",
    "_fused_adamw_",
    "_fused_sgd_",
    "_tensor_str",
}


def test_import_is_light():
    program = "import sys, flambeau; print(*sys.modules)"
    result = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert not LEFT_FOR_LATER & set(result.stdout.split())


def test_lazy_modules():
    assert fb.testing.assert_close
    assert not hasattr(fb, "no_such_name")


@pytest.mark.parametrize("name", sorted(LAZY))
def test_lazy_names_are_those_that_type_checkers_see(name):
    package = importlib.import_module(name)
    tree = ast.parse(Path(package.__file__).read_text(encoding="utf-8"))
    (block,) = (
        node
        for node in tree.body
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)
    )
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    declared = {alias.asname or alias.name for node in imports for alias in node.names}
    if "*" in declared:
        starred = (node.module for node in imports if node.names[0].name == "*")
        declared |= {each for module in starred for each in importlib.import_module(module).__all__}
    lazy = vars(package).get("_later", package.__getattr__).names
    assert declared - {"*"} - vars(package).keys() <= lazy
    assert lazy - UNTYPED <= declared
    for each in lazy:
        assert getattr(package, each) is not None


def test_version_is_the_packages():
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{fb.__version__}"' in project.splitlines()


def test_public_names_are_of_the_package():
    """Helpers of the modules that make up the package do not leak into it."""
    leaked = {
        "Any",
        "annotations",
        "math",
        "warnings",
        "Callable",
        "Iterator",
        "Sequence",
        "typing",
    }
    assert not leaked & set(vars(fb))
