"""Data sets in databases, read through stand-ins for the packages h5py and lmdb."""

from __future__ import annotations

import io
import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from flambeau.vision import datasets


class _Database(dict[Any, Any]):
    """What is opened, in a with statement or not."""

    def __enter__(self) -> _Database:
        return self

    def __exit__(self, *args: object) -> None:
        pass

    def begin(self, write: bool) -> _Database:
        assert not write
        return self

    def stat(self) -> dict[str, int]:
        return {"entries": len(self)}

    def cursor(self) -> _Database:
        return self

    def iternext(self, keys: bool, values: bool) -> Any:
        assert keys
        assert not values
        return iter(sorted(self))


@pytest.fixture
def files(monkeypatch: pytest.MonkeyPatch) -> dict[str, _Database]:
    """The content of files by their names."""
    content: dict[str, _Database] = {}

    def opened(path: str, **options: Any) -> _Database:
        if Path(path).name not in content:
            raise OSError("no such format")
        return content[Path(path).name]

    for module, function in (("h5py", "File"), ("lmdb", "open")):
        stand_in = types.ModuleType(module)
        setattr(stand_in, function, opened)
        monkeypatch.setitem(sys.modules, module, stand_in)
    return content


def test_pcam(files: dict[str, _Database], tmp_path: Path) -> None:
    folder = tmp_path / "pcam"
    folder.mkdir()
    pixels = np.random.default_rng(0).integers(0, 256, (3, 96, 96, 3), dtype=np.uint8)
    stem = "camelyonpatch_level_2_split_valid"
    for kind, values in (("x", pixels), ("y", np.array([0, 1, 1]).reshape(3, 1, 1, 1))):
        (folder / f"{stem}_{kind}.h5").write_bytes(b"")
        files[f"{stem}_{kind}.h5"] = _Database({kind: values})
    data = datasets.PCAM(tmp_path, "val")
    assert [target for _, target in data] == [0, 1, 1]
    assert (np.asarray(data[2][0]) == pixels[2]).all()
    del files[f"{stem}_x.h5"]
    with pytest.raises(RuntimeError, match=r"valid_x\.h5: damaged"):
        data[0]
    with pytest.raises(RuntimeError, match=r"test_x\.h5 is missing"):
        datasets.PCAM(tmp_path, "test")


def _packed(color: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (8, 6), color).save(data, "webp", lossless=True)
    return data.getvalue()


def test_lsun(files: dict[str, _Database], tmp_path: Path) -> None:
    for name, colors in (("bridge_val", ["red", "lime"]), ("tower_val", ["blue"])):
        (tmp_path / f"{name}_lmdb").mkdir()
        rows = {f"{number}".encode(): _packed(color) for number, color in enumerate(colors)}
        files[f"{name}_lmdb"] = _Database(rows)
    data = datasets.LSUN(str(tmp_path), ["bridge_val", "tower_val"], target_transform=str)
    assert [target for _, target in (data[number] for number in range(3))] == ["0", "0", "1"]
    assert [data[number][0].getpixel((0, 0)) for number in range(3)] == [
        (255, 0, 0),
        (0, 255, 0),
        (0, 0, 255),
    ]
    assert len(data) == 3
    assert "Classes: ['bridge_val', 'tower_val']" in repr(data)
    with pytest.raises(FileNotFoundError, match="bedroom_train_lmdb: no database"):
        datasets.LSUN(tmp_path)
    for classes, what in (
        (["house_val"], "LSUN class"),
        (["tower_x"], "postfix"),
        ("x", "classes"),
    ):
        with pytest.raises(ValueError, match=f"Unknown value '.*' for .*{what}"):
            datasets.LSUN(tmp_path, classes)
    with pytest.raises(ValueError, match="str or Iterable"):
        datasets.LSUN(tmp_path, 5)  # type: ignore[arg-type]
