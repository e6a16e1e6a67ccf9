"""Images in folders: what is found, what is read, what is refused."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError

from flambeau.vision import datasets, transforms
from flambeau.vision.datasets.folder import default_loader, find_classes, make_dataset


def _write(root: Path, *names: str) -> Path:
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (8, 6), "red").save(root / name)
    return root


def _names(data: datasets.DatasetFolder, root: Path) -> list[str]:
    return [os.path.relpath(path, root) for path, _ in data.samples]


def test_order(tmp_path: Path) -> None:
    """Folders by their whole paths, files by their names."""
    names = ["b/z.png", "b/a/y.png", "b/a-/x.png", "b/A.PNG", "a/é.png", "a/ü/1.png", "a/10.png"]
    _write(tmp_path, *names)
    (tmp_path / "loose.png").write_bytes(b"")
    data = datasets.ImageFolder(tmp_path)
    assert _names(data, tmp_path) == [
        "a/10.png",
        "a/é.png",
        "a/ü/1.png",
        "b/A.PNG",
        "b/z.png",
        "b/a/y.png",
        "b/a-/x.png",
    ]
    assert data.targets == [0, 0, 0, 1, 1, 1, 1]


def test_links(tmp_path: Path) -> None:
    """They are followed, but not in circles."""
    root = _write(tmp_path / "data", "cat/a.png")
    _write(tmp_path / "elsewhere", "b.png", "deep/c.png")
    os.symlink(tmp_path / "elsewhere", root / "dog")
    os.symlink(tmp_path / "elsewhere" / "b.png", root / "cat" / "link.png")
    os.symlink(root / "cat", root / "cat" / "again")
    os.symlink(root, root / "cat" / "up")
    os.symlink("nowhere", root / "cat" / "broken")
    found = _names(datasets.ImageFolder(root), root)
    assert [name for name in found if not name.startswith("cat/up")] == [
        "cat/a.png",
        "cat/link.png",
        "dog/b.png",
        "dog/deep/c.png",
    ]
    assert len(found) == 6, "the folder above is looked through once"


def test_other_classes(tmp_path: Path) -> None:
    class Merged(datasets.ImageFolder):
        def find_classes(
            self, directory: str | os.PathLike[str]
        ) -> tuple[list[str], dict[str, int]]:
            return ["animal", "car"], {"cat": 0, "dog": 0, "car": 1}

    _write(tmp_path, "cat/a.png", "dog/b.png", "car/c.png", "other/d.png")
    data = Merged(tmp_path)
    assert (data.classes, data.targets) == (["animal", "car"], [1, 0, 0])
    one = datasets.ImageFolder(
        tmp_path, is_valid_file=lambda path: path.endswith("a.png"), allow_empty=True
    )
    assert _names(one, tmp_path) == ["cat/a.png"]
    assert find_classes(tmp_path)[1] == {"car": 0, "cat": 1, "dog": 2, "other": 3}


def test_refusals(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=f"class folder in {tmp_path}"):
        datasets.ImageFolder(tmp_path)
    with pytest.raises(FileNotFoundError, match="nowhere"):
        datasets.ImageFolder(tmp_path / "nowhere")
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "notes.txt").write_text("no image")
    with pytest.raises(FileNotFoundError, match=r"classes cat in .*extensions are: \.jpg.*webp"):
        datasets.ImageFolder(tmp_path)
    assert len(datasets.ImageFolder(tmp_path, allow_empty=True)) == 0
    with pytest.raises(ValueError, match="Both extensions and is_valid_file"):
        make_dataset(tmp_path, {"cat": 0})
    with pytest.raises(ValueError, match="at least one entry"):
        make_dataset(tmp_path, {}, ".png")


def test_damaged_images(tmp_path: Path) -> None:
    _write(tmp_path, "a/0.png", "a/1.jpg", "a/2.bmp")
    data = datasets.ImageFolder(tmp_path)
    for path, _ in data.samples:
        whole = Path(path).read_bytes()
        for content in (b"", b"text", whole[: len(whole) // 2]):
            Path(path).write_bytes(content)
            with pytest.raises(UnidentifiedImageError, match=rf"{path}: not a whole image"):
                data[data.samples.index((path, 0))]
        os.remove(path)
        with pytest.raises(FileNotFoundError, match=path):
            data[data.samples.index((path, 0))]


def test_an_image_that_would_fill_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.bmp"
    Image.new("RGB", (4, 4)).save(path)
    data = bytearray(path.read_bytes())
    data[18:26] = (60000).to_bytes(4, "little") * 2
    path.write_bytes(data)
    with pytest.raises(Image.DecompressionBombError, match=f"{path}: Image size"):
        default_loader(str(path))


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "I", "F"])
def test_modes(mode: str, tmp_path: Path) -> None:
    """Every image is read as three channels of bytes."""
    path = tmp_path / "a" / "0.tiff"
    path.parent.mkdir()
    if mode == "I;16":
        image = Image.fromarray(np.arange(12, dtype=np.uint16).reshape(3, 4))
    else:
        image = Image.new("RGB", (4, 3), "yellow").convert(mode)
    if mode == "LA":
        path = path.with_suffix(".png")
    image.save(path)
    pixels, _ = datasets.ImageFolder(tmp_path, transforms.PILToTensor())[0]
    assert pixels.shape == (3, 3, 4)
    if mode in ("RGB", "RGBA", "P", "CMYK"):
        assert pixels[:, 0, 0].tolist() == [255, 255, 0]
