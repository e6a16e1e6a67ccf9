"""Which parts of the code may use which: docs/design.md, "The house"."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CSRC = ROOT / "csrc"
MAY_INCLUDE = {
    "core": {"core", "scalar"},
    "scalar": {"scalar"},
    "kernel": {"core", "scalar", "kernel", "gen/kernel"},
    "cpu": {"core", "scalar", "kernel", "cpu"},
    "cuda": {"core", "scalar", "kernel", "cuda"},
    "ops": {"core", "kernel", "ops", "gen/ops", "autograd"},
    "autograd": {"core", "kernel", "ops", "gen/ops", "autograd"},
    "tape": {"core", "ops", "gen/ops", "gen/op_id.h", "autograd", "tape"},
    "image": {"core", "ops", "gen/ops", "cpu", "image"},
    "shadow": {"core", "kernel", "cpu", "shadow"},
}


def folder_of(include: str) -> str:
    first, *rest = include.split("/")
    return f"gen/{rest[0]}" if first == "gen" and rest else first


@pytest.mark.parametrize("folder", sorted(MAY_INCLUDE))
def test_a_folder_includes_only_what_it_stands_on(folder: str) -> None:
    files = [p for p in (CSRC / folder).rglob("*") if p.suffix in (".h", ".cpp", ".inc")]
    assert files
    found = [
        f"{path.relative_to(CSRC)} includes {include}"
        for path in files
        for include in re.findall(r'#include "([^"]+)"', path.read_text())
        if folder_of(include) not in MAY_INCLUDE[folder]
    ]
    assert not found, "\n".join(found)


@pytest.mark.parametrize("folder", ["ops", "autograd"])
def test_operators_name_no_device(folder: str) -> None:
    words = re.compile(r"\bcpu::|\bcuda::|FB_KERNEL|parallel_for|\bkGrain\b")
    found = [
        f"{path.relative_to(CSRC)}:{number}: {line.strip()}"
        for path in (CSRC / folder).rglob("*")
        if path.suffix in (".h", ".cpp")
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if words.search(line)
    ]
    assert not found, "\n".join(found)


def test_only_the_binding_knows_python() -> None:
    found = [
        str(path.relative_to(CSRC))
        for path in CSRC.rglob("*")
        if path.suffix in (".h", ".cpp")
        and path.relative_to(CSRC).parts[0] != "bind"
        and re.search(r"#include <(Python\.h|nanobind/)", path.read_text())
    ]
    assert not found, found


# What a function imports from a line below its own when it is called.
DOWNWARDS = {
    ("_core.native_names", "nn.modules._conversion"): "a function that PyTorch has in its _C",
    ("_core.settings", "_meta.tensors"): "set_default_device('meta') enters a mode",
    ("_core.settings", "backends._precision"): "one setting with two names",
    ("_core.settings", "utils.deterministic"): "one setting with two names",
    ("_core.storage", "serialization._names"): "the names of storage classes in files",
    ("_core.tensor", "storage"): "Tensor.storage_type gives a public class",
    ("nn.modules.module", "compiler._compile"): "Module.compile is torch.compile of a module",
    ("nn.parallel.distributed", "distributed._group"): "the group of processes if there is one",
    ("utils.collect_env", "cli.info"): "it prints what the command does",
    ("utils.hooks", "nn.modules._functions"): "the class stands where PyTorch has it",
}


def lines() -> dict[str, int]:
    """The line of each module or package in the picture of the Python half."""
    section = (ROOT / "docs" / "design.md").read_text().split("## The house")[1]
    picture = section.split("```")[3].strip().splitlines()
    return {
        name: number for number, line in enumerate(picture) for name in line.split("   ")[0].split()
    }


def modules() -> dict[str, Path]:
    """The files of the package by name, without the package's own."""
    files = (path.relative_to(ROOT).with_suffix("") for path in (ROOT / "flambeau").rglob("*.py"))
    names = {".".join(path.parts[1:]).removesuffix("__init__").rstrip("."): path for path in files}
    return {name: ROOT / path.with_suffix(".py") for name, path in names.items() if name}


def imports(path: Path, known: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports, but for the sake of types alone."""
    pending: list[ast.AST] = [ast.parse(path.read_text())]
    while pending:
        node = pending.pop()
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            pending += node.orelse
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole.removeprefix("flambeau.") in known else str(node.module)
        else:
            pending += ast.iter_child_nodes(node)


def line_of(name: str, named: dict[str, int]) -> int | None:
    """The line of a module, which is that of the innermost package around it in the picture."""
    parts = name.split(".")
    around = (".".join(parts[:end]) for end in range(len(parts), 0, -1))
    return next((named[package] for package in around if package in named), None)


def test_every_module_is_in_the_picture() -> None:
    named, known = lines(), modules()
    assert not [name for name in known if line_of(name, named) is None]
    assert not [name for name in named if name not in known]


def test_a_module_imports_only_lines_above_its_own() -> None:
    named, known = lines(), modules()
    found = {
        (name, used.removeprefix("flambeau."))
        for name, path in known.items()
        for used in imports(path, known)
        if used.startswith("flambeau.") and not used.startswith("flambeau._C")
        if line_of(used.removeprefix("flambeau."), named) > line_of(name, named)  # type: ignore[operator]
    }
    assert not found - DOWNWARDS.keys()
    assert not DOWNWARDS.keys() - found, "exceptions that nothing needs any more"


def test_the_root_of_the_package_is_no_attic() -> None:
    files = [path.name for path in (ROOT / "flambeau").glob("_[a-z]*.py")]
    assert len(files) <= 12, sorted(files)
