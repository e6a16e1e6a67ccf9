"""Stereo matching data sets: left and right images, with the disparity of each pixel."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau.vision.datasets._dense_files import read_pfm, read_png16
from flambeau.vision.datasets._optical_flow import matching
from flambeau.vision.datasets._published import PathLike, Resource, bring, read_json, reading
from flambeau.vision.datasets.folder import open_image, pil_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import VisionDataset

__all__ = [
    "CREStereo",
    "CarlaStereo",
    "ETH3DStereo",
    "FallingThingsStereo",
    "InStereo2k",
    "Kitti2012Stereo",
    "Kitti2015Stereo",
    "Middlebury2014Stereo",
    "SceneFlowStereo",
    "SintelStereo",
]

_Transforms = Callable[..., Any] | None
_PASSES = {
    "clean": ["frames_cleanpass"],
    "final": ["frames_finalpass"],
    "both": ["frames_cleanpass", "frames_finalpass"],
}


class StereoMatchingDataset(VisionDataset):
    """Left and right images with the disparity of the left one, an array (1, H, W).

    A validity mask is part of a sample if the data set has one. ``transforms`` takes and returns
    pairs: images, disparities and masks.
    """

    _has_built_in_disparity_mask = False

    def __init__(self, root: PathLike, transforms: _Transforms = None) -> None:
        super().__init__(root)
        self.transforms = transforms
        self._images: list[tuple[str, str]] = []
        self._disparities: list[tuple[str | None, str | None]] = []

    def _fb_home(self, *parts: str) -> str:
        return os.path.join(os.fspath(self.root or ""), *parts)

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        """Read the disparity of a file and its validity mask, or None."""
        return abs(read_pfm(path, 1)), None

    def _fb_add(self, folder: str, left: str, right: str) -> None:
        self._images += _pairs(folder, left, right)

    def _fb_add_disparities(self, folder: str, left: str, right: str | None) -> None:
        if right is None:
            self._disparities += [(path, None) for path in _found(folder, left)]
        else:
            self._disparities += _pairs(folder, left, right)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        pictures = tuple(pil_loader(path) for path in self._images[index])
        paths = self._disparities[index] if self._disparities else (None, None)
        read = [(None, None) if path is None else self._read_disparity(path) for path in paths]
        maps, masks = (tuple(each) for each in zip(*read, strict=True))
        if self.transforms is not None:
            pictures, maps, masks = self.transforms(pictures, maps, masks)
        if self._has_built_in_disparity_mask or masks[0] is not None:
            return pictures[0], pictures[1], maps[0], masks[0]
        return pictures[0], pictures[1], maps[0]

    def __len__(self) -> int:
        return len(self._images)


def _found(folder: str, pattern: str) -> list[str]:
    paths = matching(folder, pattern=pattern)
    if not paths:
        raise FileNotFoundError(f"there is no file {os.path.join(folder, pattern)}")
    return paths


def _pairs(folder: str, left: str, right: str) -> list[tuple[str, str]]:
    lefts, rights = _found(folder, left), _found(folder, right)
    if len(lefts) != len(rights):
        raise ValueError(
            f"there are {len(lefts)} left images ({os.path.join(folder, left)}) but {len(rights)} "
            f"right ones ({os.path.join(folder, right)})"
        )
    return list(zip(lefts, rights, strict=True))


class CarlaStereo(StereoMatchingDataset):
    """Simulated street scenes, in ``root/carla-highres``."""

    def __init__(self, root: PathLike, transforms: _Transforms = None) -> None:
        super().__init__(root, transforms)
        folder = self._fb_home("carla-highres", "trainingF")
        self._fb_add(folder, "*/im0.png", "*/im1.png")
        self._fb_add_disparities(folder, "*/disp0GT.pfm", "*/disp1GT.pfm")


class _KittiStereo(StereoMatchingDataset):
    _has_built_in_disparity_mask = True
    _fb_folder = ""
    _fb_eyes = ("", "")

    def __init__(
        self, root: PathLike, split: str = "train", transforms: _Transforms = None
    ) -> None:
        super().__init__(root, transforms)
        verify_str_arg(split, "split", ("train", "test"))
        folder = self._fb_home(self._fb_folder, f"{split}ing")
        self._fb_add(folder, *self._fb_eyes)
        if split == "train":
            self._fb_add_training(folder)

    def _fb_add_training(self, folder: str) -> None:
        raise NotImplementedError

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        return read_png16(path)[None] / 256.0, None


class Kitti2012Stereo(_KittiStereo):
    """Street scenes (https://www.cvlibs.net/datasets/kitti), in ``root/Kitti2012``.

    ``split`` is train or test.
    """

    _fb_folder = "Kitti2012"
    _fb_eyes = ("colored_0/*_10.png", "colored_1/*_10.png")

    def _fb_add_training(self, folder: str) -> None:
        self._fb_add_disparities(folder, "disp_noc/*.png", None)


class Kitti2015Stereo(_KittiStereo):
    """Street scenes (https://www.cvlibs.net/datasets/kitti), in ``root/Kitti2015``.

    ``split`` is train or test.
    """

    _fb_folder = "Kitti2015"
    _fb_eyes = ("image_2/*.png", "image_3/*.png")

    def _fb_add_training(self, folder: str) -> None:
        self._fb_add_disparities(folder, "disp_occ_0/*.png", "disp_occ_1/*.png")


class CREStereo(StereoMatchingDataset):
    """Rendered scenes (https://github.com/megvii-research/CREStereo), in ``root/CREStereo``."""

    _has_built_in_disparity_mask = True

    def __init__(self, root: PathLike, transforms: _Transforms = None) -> None:
        super().__init__(root, transforms)
        for kind in ("shapenet", "reflective", "tree", "hole"):
            folder = self._fb_home("CREStereo", kind)
            self._fb_add(folder, "*_left.jpg", "*_right.jpg")
            self._fb_add_disparities(folder, "*_left.disp.png", "*_right.disp.png")

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        return read_png16(path).astype("float32")[None] / 32.0, None


class FallingThingsStereo(StereoMatchingDataset):
    """NVIDIA's Falling Things, in ``root/FallingThings``; ``variant`` is single, mixed or both."""

    def __init__(
        self, root: PathLike, variant: str = "single", transforms: _Transforms = None
    ) -> None:
        super().__init__(root, transforms)
        verify_str_arg(variant, "variant", ("single", "mixed", "both"))
        for kind in ("single", "mixed") if variant == "both" else (variant,):
            folder = self._fb_home("FallingThings", kind)
            deep = "*/*" if kind == "single" else "*"
            self._fb_add(folder, f"{deep}/*.left.jpg", f"{deep}/*.right.jpg")
            self._fb_add_disparities(
                folder, f"{deep}/*.left.depth.png", f"{deep}/*.right.depth.png"
            )

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        settings = os.path.join(os.path.dirname(path), "_camera_settings.json")
        content = read_json(settings)
        with reading(settings):
            focal = content["camera_settings"][0]["intrinsic_settings"]["fx"]
        # The cameras are 6 cm apart; the files hold hundredths of a centimetre.
        return (6 * focal * 100 / read_png16(path).astype("float32"))[None], None


class SceneFlowStereo(StereoMatchingDataset):
    """Rendered videos (https://lmb.informatik.uni-freiburg.de/resources/datasets).

    They are in ``root/SceneFlow``. ``variant`` is FlyingThings3D, Driving or Monkaa; ``pass_name``
    is clean, final or both.
    """

    _fb_depths = {"Monkaa": "*", "FlyingThings3D": "*/*/*", "Driving": "*/*/*"}

    def __init__(
        self,
        root: PathLike,
        variant: str = "FlyingThings3D",
        pass_name: str = "clean",
        transforms: _Transforms = None,
    ) -> None:
        super().__init__(root, transforms)
        verify_str_arg(variant, "variant", self._fb_depths)
        verify_str_arg(pass_name, "pass_name", _PASSES)
        folder = self._fb_home("SceneFlow", variant)
        deep = self._fb_depths[variant]
        for drawn in _PASSES[pass_name]:
            self._fb_add(os.path.join(folder, drawn), f"{deep}/left/*.png", f"{deep}/right/*.png")
            disparity = os.path.join(folder, "disparity")
            self._fb_add_disparities(disparity, f"{deep}/left/*.pfm", f"{deep}/right/*.pfm")


class SintelStereo(StereoMatchingDataset):
    """Scenes of an animated movie (http://sintel.is.tue.mpg.de/stereo), in ``root/Sintel``.

    ``pass_name`` is final, clean or both.
    """

    _has_built_in_disparity_mask = True

    def __init__(
        self, root: PathLike, pass_name: str = "final", transforms: _Transforms = None
    ) -> None:
        super().__init__(root, transforms)
        verify_str_arg(pass_name, "pass_name", ("final", "clean", "both"))
        folder = self._fb_home("Sintel", "training")
        for drawn in ("final", "clean") if pass_name == "both" else (pass_name,):
            self._fb_add(folder, f"{drawn}_left/*/*.png", f"{drawn}_right/*/*.png")
            self._fb_add_disparities(folder, "disparities/*/*.png", None)

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        import numpy as np

        red, green, blue = np.asarray(open_image(path), dtype=np.float32).transpose(2, 0, 1)
        disparity = red * 4 + green / 2**6 + blue / 2**14
        hidden, outside = (self._fb_mask(path, kind) for kind in ("occlusions", "outofframe"))
        return disparity[None], (hidden == 0) & (outside == 0)

    def _fb_mask(self, path: str, kind: str) -> Any:
        """Return the image of another kind that belongs to a disparity file."""
        scene = os.path.dirname(path)
        folder = os.path.join(os.path.dirname(os.path.dirname(scene)), kind)
        name = os.path.join(folder, os.path.basename(scene), os.path.basename(path))
        if not os.path.exists(name):
            raise FileNotFoundError(f"Mask {name} does not exist")
        return read_png16(name)


class InStereo2k(StereoMatchingDataset):
    """Indoor scenes (https://github.com/YuhuaXu/StereoDataset), in ``root/InStereo2k``.

    ``split`` is train or test.
    """

    def __init__(
        self, root: PathLike, split: str = "train", transforms: _Transforms = None
    ) -> None:
        super().__init__(root, transforms)
        folder = self._fb_home("InStereo2k", verify_str_arg(split, "split", ("train", "test")))
        self._fb_add(folder, "*/left.png", "*/right.png")
        self._fb_add_disparities(folder, "*/left_disp.png", "*/right_disp.png")

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        return read_png16(path).astype("float32")[None] / 1024.0, None


class ETH3DStereo(StereoMatchingDataset):
    """Buildings and outdoor scenes (https://www.eth3d.net), in ``root/ETH3D``.

    ``split`` is train or test.
    """

    _has_built_in_disparity_mask = True

    def __init__(
        self, root: PathLike, split: str = "train", transforms: _Transforms = None
    ) -> None:
        super().__init__(root, transforms)
        verify_str_arg(split, "split", ("train", "test"))
        part = "two_view_training" if split == "train" else "two_view_test"
        self._fb_add(self._fb_home("ETH3D", part), "*/im0.png", "*/im1.png")
        if split == "train":
            self._fb_add_disparities(self._fb_home("ETH3D", f"{part}_gt"), "*/disp0GT.pfm", None)

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        mask = read_png16(os.path.join(os.path.dirname(path), "mask0nocc.png"))
        return abs(read_pfm(path, 1)), mask.astype(bool)


class Middlebury2014Stereo(StereoMatchingDataset):
    """Still lifes (https://vision.middlebury.edu/stereo/data/scenes2014).

    They are in ``root/Middlebury2014``. ``split`` is train, additional or test; ``calibration`` is
    perfect, imperfect or both, and None for test. ``use_ambient_views`` picks the right image at
    random from three lighting conditions.
    """

    _has_built_in_disparity_mask = True
    splits: dict[str, list[str]] = {
        "train": [
            *("Adirondack", "Jadeplant", "Motorcycle", "Piano", "Pipes"),
            *("Playroom", "Playtable", "Recycle", "Shelves", "Vintage"),
        ],
        "additional": [
            *("Backpack", "Bicycle1", "Cable", "Classroom1", "Couch", "Flowers", "Mask"),
            *("Shopvac", "Sticks", "Storage", "Sword1", "Sword2", "Umbrella"),
        ],
        "test": [
            *("Plants", "Classroom2E", "Classroom2", "Australia", "DjembeL", "CrusadeP"),
            *("Crusade", "Hoops", "Bicycle2", "Staircase", "Newkuba", "AustraliaP", "Djembe"),
            *("Livingroom", "Computer"),
        ],
    }
    _fb_suffixes = {
        None: [""],
        "perfect": ["-perfect"],
        "imperfect": ["-imperfect"],
        "both": ["-perfect", "-imperfect"],
    }
    _fb_site = "https://vision.middlebury.edu/stereo/"

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        calibration: str | None = "perfect",
        use_ambient_views: bool = False,
        transforms: _Transforms = None,
        download: bool = False,
    ) -> None:
        super().__init__(root, transforms)
        self.split: str = verify_str_arg(split, "split", ("train", "test", "additional"))
        self.use_ambient_views = use_ambient_views
        self._fb_check_calibration(calibration)
        if download:
            self._fb_download(self._fb_suffixes[calibration])
        folder = self._fb_home("Middlebury2014", split)
        if not os.path.isdir(folder):
            raise FileNotFoundError(
                f"there is no folder {folder}: pass download=True, or another root"
            )
        for suffix in self._fb_suffixes[calibration]:
            self._fb_add(folder, f"*{suffix}/im0.png", f"*{suffix}/im1.png")
            if split != "test":
                self._fb_add_disparities(folder, f"*{suffix}/disp0.pfm", f"*{suffix}/disp1.pfm")

    def _fb_check_calibration(self, calibration: str | None) -> None:
        if calibration is None and self.split != "test":
            raise ValueError(
                f"calibration must be 'perfect', 'imperfect' or 'both' for split '{self.split}', "
                "got None"
            )
        if calibration is not None:
            verify_str_arg(calibration, "calibration", ("perfect", "imperfect", "both"))
            if self.split == "test":
                raise ValueError(f"calibration must be None for split 'test', got {calibration!r}")

    def _fb_download(self, suffixes: list[str]) -> None:
        folder = self._fb_home("Middlebury2014", self.split)
        if self.split == "test":
            if not os.path.isdir(folder):
                bring(Resource(f"{self._fb_site}submit3/zip/MiddEval3-data-F.zip"), self._fb_home())
                os.makedirs(self._fb_home("Middlebury2014"), exist_ok=True)
                os.rename(self._fb_home("MiddEval3", "testF"), folder)
            return
        for scene in self.splits[self.split]:
            for suffix in suffixes:
                if not os.path.isdir(os.path.join(folder, f"{scene}{suffix}")):
                    address = f"{self._fb_site}data/scenes2014/zip/{scene}{suffix}.zip"
                    bring(Resource(address), folder)

    def _read_disparity(self, path: str) -> tuple[Any, Any]:
        disparity = abs(read_pfm(path, 1))
        disparity[disparity == float("inf")] = 0  # where it is unknown
        return disparity, (disparity > 0).squeeze(0)

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        if not self.use_ambient_views:
            return super().__getitem__(index)
        usual = self._images[index]
        try:
            self._images[index] = (usual[0], self._fb_in_any_light(usual[1]))
            return super().__getitem__(index)
        finally:
            self._images[index] = usual

    def _fb_in_any_light(self, path: str) -> str:
        lights = (path.replace("im1.png", name) for name in ("im1.png", "im1E.png", "im1L.png"))
        present = [each for each in lights if os.path.exists(each)]
        return present[int(fb.randint(len(present), ()).item())]
