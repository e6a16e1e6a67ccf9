"""iNaturalist (https://github.com/visipedia/inat_comp): plants, animals and fungi."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from flambeau.vision.datasets._published import (
    Loader,
    PathLike,
    Resource,
    bring,
    prepare,
    target_types,
    targets_of,
)
from flambeau.vision.datasets.folder import open_image
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import Transform, VisionDataset

__all__ = ["INaturalist"]

CATEGORIES_2021 = ["kingdom", "phylum", "class", "order", "family", "genus"]
_HOME = "https://ml-inat-competition-datasets.s3.amazonaws.com/"
# Of each version: the archive, its MD5 sum, and the folder it unpacks to.
_ARCHIVES = {
    "2017": ("2017/train_val_images", "7c784ea5e424efaec655bd392f87301f"),
    "2018": ("2018/train_val2018", "b1c6952ce38f31868cc50ea72d066cc3"),
    "2019": ("2019/train_val2019", "c60a6e2962c9b8ccbd458d12c8582644"),
    "2021_train": ("2021/train", "e0526d53c7f7b2e3167b2b43bb2690ed"),
    "2021_train_mini": ("2021/train_mini", "db6ed8330e634445efc8fec83ae81442"),
    "2021_valid": ("2021/val", "f6f6e0e242e3d4c9569ba56400938afc"),
}


class INaturalist(VisionDataset):
    """Photographs of species in ``root/version``.

    ``target_type`` is full, the species, or one of kingdom, phylum, class, order, family and genus
    (2021), or super (before), or several of them.
    """

    def __init__(
        self,
        root: PathLike,
        version: str = "2021_train",
        target_type: str | Sequence[str] = "full",
        transform: Transform = None,
        target_transform: Transform = None,
        download: bool = False,
        loader: Loader | None = None,
    ) -> None:
        self.version: str = verify_str_arg(version, "version", _ARCHIVES)
        home = os.path.expanduser(os.fspath(root))
        super().__init__(
            os.path.join(home, version), transform=transform, target_transform=target_transform
        )
        self.loader = loader
        self._fb_folder = os.path.join(home, version)
        if download:
            self._fb_download(home)
        prepare(home, [version], [self._fb_archive()])
        is_new = version.startswith("2021")
        known = ["full", *(CATEGORIES_2021 if is_new else ["super"])]
        self.target_type: list[str] = target_types(target_type, "target_type", known)
        self.all_categories: list[str] = []
        self.categories_index: dict[str, dict[str, int]] = {}
        self.categories_map: list[dict[str, int]] = []
        self._init_2021() if is_new else self._init_pre2021()
        self.index: list[tuple[int, str]] = [
            (number, name)
            for number, folder in enumerate(self.all_categories)
            for name in os.listdir(os.path.join(self._fb_folder, folder))
        ]

    def _fb_archive(self) -> Resource:
        name, md5 = _ARCHIVES[self.version]
        return Resource(f"{_HOME}{name}.tar.gz", md5)

    def _fb_download(self, home: str) -> None:
        if not os.path.isdir(self._fb_folder):
            bring(self._fb_archive(), home)
            name = _ARCHIVES[self.version][0].split("/")[1]
            os.rename(os.path.join(home, name), self._fb_folder)

    def _init_2021(self) -> None:
        """Folders ``00001_Kingdom_Phylum_Class_Order_Family_Genus_species``."""
        self.all_categories = sorted(os.listdir(self._fb_folder))
        self.categories_index = {level: {} for level in CATEGORIES_2021}
        for number, folder in enumerate(self.all_categories):
            pieces = folder.split("_")
            if len(pieces) != 8 or pieces[0] != f"{number:05d}":
                raise RuntimeError(
                    f"{os.path.join(self._fb_folder, folder)}: {number:05d}_ and seven names "
                    "expected"
                )
            numbers = {}
            for level, name in zip(CATEGORIES_2021, pieces[1:7], strict=True):
                index = self.categories_index[level]
                numbers[level] = index.setdefault(name, len(index))
            self.categories_map.append(numbers)

    def _init_pre2021(self) -> None:
        """Folders ``Super/species``, with numbers for names after 2017."""
        self.categories_index = {"super": {}}
        found: dict[int, tuple[int, str]] = {}
        for number, group in enumerate(sorted(os.listdir(self._fb_folder))):
            self.categories_index["super"][group] = number
            for name in sorted(os.listdir(os.path.join(self._fb_folder, group))):
                place = os.path.join(group, name)
                if self.version != "2017" and not name.isdigit():
                    raise RuntimeError(
                        f"{os.path.join(self._fb_folder, place)}: a number expected as name"
                    )
                species = len(found) if self.version == "2017" else int(name)
                if species in found:
                    raise RuntimeError(f"{place} and {found[species][1]} have one number")
                found[species] = (number, place)
        for species in range(len(found)):
            if species not in found:
                raise RuntimeError(f"{self._fb_folder}: has no folder of the number {species}")
            number, place = found[species]
            self.categories_map.append({"super": number})
            self.all_categories.append(place)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        number, name = self.index[index]
        path = os.path.join(self._fb_folder, self.all_categories[number], name)
        image = open_image(path) if self.loader is None else self.loader(path)
        labels = {"full": number, **self.categories_map[number]}
        return self._fb_transformed(image, targets_of(self.target_type, labels.__getitem__))

    def __len__(self) -> int:
        return len(self.index)

    def category_name(self, category_type: str, category_id: int) -> str:
        """Return the name of a category by its type and index."""
        if category_type == "full":
            return self.all_categories[category_id]
        if category_type not in self.categories_index:
            raise ValueError(f"Invalid category type '{category_type}'")
        for name, number in self.categories_index[category_type].items():
            if number == category_id:
                return name
        raise ValueError(f"Invalid category id {category_id} for {category_type}")
