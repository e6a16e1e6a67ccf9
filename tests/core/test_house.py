"""Which folder of the native half may include which: docs/design.md, "The house"."""

import re
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"
MAY_INCLUDE = {
    "core": {"core", "scalar"},
    "scalar": {"scalar"},
    "kernel": {"core", "kernel", "gen/kernel"},
    "cpu": {"core", "scalar", "kernel", "cpu"},
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
