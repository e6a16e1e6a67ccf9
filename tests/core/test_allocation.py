"""Every allocation names its device: nothing in the C++ sources has a default."""

import re
from pathlib import Path

import pytest

import flambeau as torch
from opgen.__main__ import load_table
from opgen.emit import operators
from opgen.model import TABLE

CSRC = Path(__file__).parents[2] / "csrc"
GIVEN_A_VALUE = re.compile(r"\bDevice>?\s+\w+\s*=")


def defaults(text: str) -> list[str]:
    """Parameters of type Device that have a default; members and variables end at a semicolon."""
    found = []
    for match in GIVEN_A_VALUE.finditer(text):
        depth, end = 0, match.end()
        while text[end] != ";" and not (depth == 0 and text[end] in ",)"):
            depth += (text[end] in "({[") - (text[end] in ")}]")
            end += 1
        if text[end] != ";":
            found.append(text[match.start() : end])
    return found


def test_a_default_is_seen():
    assert defaults("Tensor a(Device device = {});") == ["Device device = {}"]
    assert defaults("Tensor a(DType d = {},\n  std::optional<Device> on = f(1, 2), int n);") == [
        "Device> on = f(1, 2)"
    ]
    assert defaults("const Device device = like(a, b).device(); Device member = kHost;") == []


def test_no_declaration_has_a_device_by_default():
    sources = [*CSRC.rglob("*.h"), *CSRC.rglob("*.cpp")]
    assert len(sources) > 100
    found = [f"{path}: {text}" for path in sources for text in defaults(path.read_text("utf-8"))]
    assert found == []


def test_nor_has_a_factory_of_the_table():
    load_table()
    headers = "".join(
        text for path, text in operators.emit(TABLE).items() if path.endswith(".h")
    ).splitlines()
    factories = [line for line in headers if "<Device> device" in line and "Tensor& " not in line]
    assert {"zeros", "full", "arange", "rand", "normal"} <= {
        line.split("(")[0].removeprefix("Tensor ") for line in factories
    }
    assert [line for line in factories if defaults(line)] == []


@pytest.mark.parametrize("layout", [torch.strided, torch.sparse_coo])
@pytest.mark.parametrize("factory", [torch.empty_like, torch.zeros_like])
def test_a_device_beside_a_tensor_is_not_dropped(layout, factory):
    tensor = torch.eye(3)
    if layout == torch.sparse_coo:
        tensor = tensor.to_sparse()
    assert factory(tensor, device="cpu:0").device == torch.device("cpu")
    with pytest.raises(AssertionError, match="no device cuda"):
        factory(tensor, device="cuda")
