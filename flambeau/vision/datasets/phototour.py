"""Patches of photographs of landmarks, in pairs (http://matthewalunbrown.com/patchdata/)."""

from __future__ import annotations

import os
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.datasets._published import PathLike, Resource, prepare, read_lines, reading
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["PhotoTour"]

_HARRIS = "http://matthewalunbrown.com/patchdata/"
_DETECTED = "http://icvl.ee.ic.ac.uk/vbalnt/"
_SIDE = 64  # pixels of a patch; an image holds 16 × 16 of them


class PhotoTour(VisionDataset):
    """Patches of 64 × 64 pixels of the landmark ``name``, in ``root/name``.

    With ``train`` a sample is a patch. Otherwise it is two patches and whether they show the same
    point. The patches are cached in ``root/name.pt``.
    """

    data: Tensor
    labels: Tensor
    matches: Tensor
    urls: dict[str, list[str]] = {
        "notredame_harris": [
            f"{_HARRIS}notredame_harris.zip",
            "notredame_harris.zip",
            "69f8c90f78e171349abdf0307afefe4d",
        ],
        "yosemite_harris": [
            f"{_HARRIS}yosemite_harris.zip",
            "yosemite_harris.zip",
            "a73253d1c6fbd3ba2613c45065c00d46",
        ],
        "liberty_harris": [
            f"{_HARRIS}liberty_harris.zip",
            "liberty_harris.zip",
            "c731fcfb3abb4091110d0ae8c7ba182c",
        ],
        "notredame": [
            f"{_DETECTED}notredame.zip",
            "notredame.zip",
            "509eda8535847b8c0a90bbb210c83484",
        ],
        "yosemite": [
            f"{_DETECTED}yosemite.zip",
            "yosemite.zip",
            "533b2e8eb7ede31be40abc317b2fd4f0",
        ],
        "liberty": [f"{_DETECTED}liberty.zip", "liberty.zip", "fdd9152f138ea5ef2091746689176414"],
    }
    means: dict[str, float] = {
        "notredame": 0.4854,
        "yosemite": 0.4844,
        "liberty": 0.4437,
        "notredame_harris": 0.4854,
        "yosemite_harris": 0.4844,
        "liberty_harris": 0.4437,
    }
    stds: dict[str, float] = {
        "notredame": 0.1864,
        "yosemite": 0.1818,
        "liberty": 0.2019,
        "notredame_harris": 0.1864,
        "yosemite_harris": 0.1818,
        "liberty_harris": 0.2019,
    }
    lens: dict[str, int] = {
        "notredame": 468159,
        "yosemite": 633587,
        "liberty": 450092,
        "liberty_harris": 379587,
        "yosemite_harris": 450912,
        "notredame_harris": 325295,
    }
    image_ext = "bmp"
    info_file = "info.txt"
    matches_files = "m50_100000_100000_0.txt"

    def __init__(
        self,
        root: PathLike,
        name: str,
        train: bool = True,
        transform: Transform = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transform=transform)
        home = os.fspath(self.root or "")
        self.name = name
        self.data_dir: str = os.path.join(home, name)
        self.data_down: str = os.path.join(home, f"{name}.zip")
        self.data_file: str = os.path.join(home, f"{name}.pt")
        self.train = train
        self.mean: float = self.means[name]
        self.std: float = self.stds[name]
        if not os.path.isfile(self.data_file):
            url, file, md5 = self.urls[name]
            source = Resource(url, md5, file, into=name)
            needed = [f"{name}/{self.info_file}", f"{name}/{self.matches_files}"]
            prepare(home, needed, [source], download)
            with reading(self.data_dir):
                content = self._fb_read()
            fb.save(content, self.data_file)
        self.data, self.labels, self.matches = fb.load(self.data_file, weights_only=True)

    def _fb_read(self) -> tuple[Tensor, Tensor, Tensor]:
        labels = [int(line.split()[0]) for line in self._fb_lines(self.info_file)]
        # In a row: a patch and its point, an unused number, and the same for the other patch.
        rows = [line.split() for line in self._fb_lines(self.matches_files)]
        matches = [[int(row[0]), int(row[3]), int(row[1] == row[4])] for row in rows]
        return self._fb_patches(len(labels)), fb.tensor(labels), fb.tensor(matches)

    def _fb_lines(self, name: str) -> list[str]:
        return read_lines(os.path.join(self.data_dir, name))

    def _fb_patches(self, count: int) -> Tensor:
        import numpy as np

        names = sorted(name for name in os.listdir(self.data_dir) if name.endswith(self.image_ext))
        parts = []
        for name in names:
            picture = np.asarray(open_image(os.path.join(self.data_dir, name)).convert("L"))
            rows, columns = picture.shape[0] // _SIDE, picture.shape[1] // _SIDE
            grid = picture[: rows * _SIDE, : columns * _SIDE].reshape(rows, _SIDE, columns, _SIDE)
            parts.append(grid.transpose(0, 2, 1, 3).reshape(-1, _SIDE, _SIDE))
        return fb.from_numpy(np.concatenate(parts)[:count].copy())

    def __getitem__(self, index: int) -> Any:
        if self.train:
            return self._fb_patch(index)
        first, second, same = self.matches[index]
        return self._fb_patch(first), self._fb_patch(second), same

    def _fb_patch(self, index: Any) -> Any:
        patch = self.data[index]
        return patch if self.transform is None else self.transform(patch)

    def __len__(self) -> int:
        return len(self.data if self.train else self.matches)

    def extra_repr(self) -> str:
        return f"Split: {'Train' if self.train else 'Test'}"
