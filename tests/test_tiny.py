"""The shortest proof of life: runs in a second, and against an installed wheel."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import flambeau as torch


def test_arithmetic() -> None:
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert (x @ x + 1).tolist() == [[8.0, 11.0], [16.0, 23.0]]
    assert x.sum().item() == 10.0
    assert x[:, 1].tolist() == [2.0, 4.0]


def test_in_place_writes_through_views() -> None:
    x = torch.zeros(2, 3)
    x.t()[0].add_(1)
    assert x.tolist() == [[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]]


def test_same_random_numbers_as_pytorch() -> None:
    torch.manual_seed(0)
    assert torch.allclose(torch.rand(3), torch.tensor([0.4963, 0.7682, 0.0885]), atol=1e-4)


def test_prints_as_pytorch_does() -> None:
    assert repr(torch.arange(3) / 2) == "tensor([0.0000, 0.5000, 1.0000])"
    assert str(torch.zeros(5, 3).shape) == "torch.Size([5, 3])"


def test_lapack() -> None:
    a = torch.tensor([[4.0, 1.0], [1.0, 3.0]])
    b = torch.tensor([1.0, 2.0])
    assert torch.allclose(a @ torch.linalg.solve(a, b), b)


def test_import_brings_no_numpy() -> None:
    """NumPy is imported when first needed, so that starting is quick."""
    script = "import sys, flambeau; sys.exit('numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=False)
    assert done.returncode == 0


def test_package_is_typed() -> None:
    folders = (Path(torch.__file__).parent, Path(sysconfig.get_paths()["platlib"]) / "flambeau")
    assert any((folder / "py.typed").exists() for folder in folders)
    stubs = ("_C.pyi", "_C/__init__.pyi")
    assert any((folder / name).exists() for folder in folders for name in stubs)
