"""Optical flow data sets: two frames, and the motion of each pixel of the first."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from glob import escape, glob
from itertools import pairwise
from typing import Any

from flambeau.vision.datasets._dense_files import read_flo, read_pfm, read_rgb16
from flambeau.vision.datasets._published import Loader, PathLike, read_lines
from flambeau.vision.datasets.folder import default_loader
from flambeau.vision.datasets.utils import verify_str_arg
from flambeau.vision.datasets.vision import VisionDataset

__all__ = ["HD1K", "FlyingChairs", "FlyingThings3D", "KittiFlow", "Sintel"]

_PASSES = {"clean": ["clean"], "final": ["final"], "both": ["clean", "final"]}


def matching(*parts: str, pattern: str) -> list[str]:
    """The files of a folder whose names match, sorted."""
    return sorted(glob(os.path.join(escape(os.path.join(*parts)), pattern)))


class FlowDataset(VisionDataset):
    """Pairs of frames with their flow, an array (2, H, W), or None where it is not published.

    ``transforms`` takes and returns both frames, the flow, and its validity mask. The mask is part
    of a sample if the data set has one.
    """

    _has_builtin_flow_mask = False

    def __init__(
        self,
        root: PathLike,
        transforms: Callable[..., Any] | None = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root)
        self.transforms = transforms
        self._loader = loader
        self._flow_list: list[str] = []
        self._image_list: list[Sequence[str]] = []

    def _fb_home(self, *parts: str) -> str:
        return os.path.join(os.fspath(self.root or ""), *parts)

    def _fb_require(self, name: str) -> None:
        if not self._image_list:
            raise FileNotFoundError(
                f"Could not find the {name} images in {self._fb_home()}. Please make sure the "
                "directory structure is correct."
            )

    def _read_flow(self, path: str) -> tuple[Any, Any]:
        """Read the flow of a file and its validity mask, or None."""
        return read_flo(path), None

    def __getitem__(self, index: int) -> tuple[Any, ...]:
        first, second = (self._loader(path) for path in self._image_list[index])
        flow, valid = self._read_flow(self._flow_list[index]) if self._flow_list else (None, None)
        if self.transforms is not None:
            first, second, flow, valid = self.transforms(first, second, flow, valid)
        if self._has_builtin_flow_mask or valid is not None:
            return first, second, flow, valid
        return first, second, flow

    def __len__(self) -> int:
        return len(self._image_list)

    def __rmul__(self, times: int) -> Any:
        from flambeau.utils.data import ConcatDataset

        return ConcatDataset([self] * times)


class Sintel(FlowDataset):
    """Scenes of an animated movie (http://sintel.is.tue.mpg.de), in ``root/Sintel``.

    ``split`` is train or test; ``pass_name`` says how it was rendered: clean, final or both.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        pass_name: str = "clean",
        transforms: Callable[..., Any] | None = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", ("train", "test"))
        verify_str_arg(pass_name, "pass_name", _PASSES)
        folder = self._fb_home("Sintel", "training" if split == "train" else split)
        for drawn in _PASSES[pass_name]:
            for scene in os.listdir(os.path.join(folder, drawn)):
                pictures = matching(folder, drawn, scene, pattern="*.png")
                self._image_list += pairwise(pictures)
                if split == "train":
                    self._flow_list += matching(folder, "flow", scene, pattern="*.flo")


class _Valid(FlowDataset):
    """Flow in PNG files that include a validity mask."""

    _has_builtin_flow_mask = True

    def _read_flow(self, path: str) -> tuple[Any, Any]:
        values = read_rgb16(path).transpose(2, 0, 1).astype("float32")
        return (values[:2] - 2**15) / 64, values[2].astype(bool)


class KittiFlow(_Valid):
    """Street scenes (https://www.cvlibs.net/datasets/kitti), in ``root/KittiFlow``.

    ``split`` is train or test.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transforms: Callable[..., Any] | None = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", ("train", "test"))
        folder = self._fb_home("KittiFlow", f"{split}ing")
        first, second = (
            matching(folder, "image_2", pattern=f"*_{number}.png") for number in (10, 11)
        )
        self._image_list = list(zip(first, second, strict=False))
        self._fb_require("Kitti flow")
        if split == "train":
            self._flow_list = matching(folder, "flow_occ", pattern="*_10.png")


class HD1K(_Valid):
    """Street scenes (http://hci-benchmark.iwr.uni-heidelberg.de), in ``root/hd1k``.

    ``split`` is train or test.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transforms: Callable[..., Any] | None = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", ("train", "test"))
        folder = self._fb_home("hd1k")
        if split == "test":
            tested = os.path.join(folder, "hd1k_challenge", "image_2")
            pairs = (matching(tested, pattern=f"*{number}.png") for number in (10, 11))
            self._image_list = list(zip(*pairs, strict=False))
        for sequence in range(36 if split == "train" else 0):
            pattern = f"{sequence:06d}_*.png"
            flows = matching(folder, "hd1k_flow_gt", "flow_occ", pattern=pattern)
            pictures = matching(folder, "hd1k_input", "image_2", pattern=pattern)
            self._flow_list += flows[:-1]
            self._image_list += list(pairwise(pictures))[: len(flows) - 1]
        self._fb_require("HD1K")


class FlyingChairs(FlowDataset):
    """Chairs over photographs (https://lmb.informatik.uni-freiburg.de/resources/datasets).

    The pairs are in ``root/FlyingChairs/data``, and FlyingChairs_train_val.txt, beside that folder,
    says which belong to ``split`` train or val.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        transforms: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(root, transforms)
        verify_str_arg(split, "split", ("train", "val"))
        folder = self._fb_home("FlyingChairs")
        listed = os.path.join(folder, "FlyingChairs_train_val.txt")
        if not os.path.exists(listed):
            raise FileNotFoundError(
                f"{listed} was not found - please download it from the dataset page: "
                "https://lmb.informatik.uni-freiburg.de/resources/datasets/FlyingChairs.en.html"
            )
        wanted = "1" if split == "train" else "2"
        pictures = matching(folder, "data", pattern="*.ppm")
        flows = matching(folder, "data", pattern="*.flo")
        for number, (flow, part) in enumerate(zip(flows, read_lines(listed), strict=False)):
            if part == wanted:
                self._flow_list.append(flow)
                self._image_list.append(pictures[2 * number : 2 * number + 2])


class FlyingThings3D(FlowDataset):
    """Flying objects (https://lmb.informatik.uni-freiburg.de/resources/datasets).

    They are in ``root/FlyingThings3D``. ``split`` is train or test; ``pass_name`` is clean, final
    or both; ``camera`` is left, right or both.
    """

    def __init__(
        self,
        root: PathLike,
        split: str = "train",
        pass_name: str = "clean",
        camera: str = "left",
        transforms: Callable[..., Any] | None = None,
        loader: Loader = default_loader,
    ) -> None:
        super().__init__(root, transforms, loader)
        verify_str_arg(split, "split", ("train", "test"))
        verify_str_arg(pass_name, "pass_name", _PASSES)
        verify_str_arg(camera, "camera", ("left", "right", "both"))
        for drawn in _PASSES[pass_name]:
            for side in ("left", "right") if camera == "both" else (camera,):
                for direction in ("into_future", "into_past"):
                    self._fb_add(f"frames_{drawn}pass", split.upper(), side, direction)
        self._fb_require("FlyingThings3D flow")

    def _fb_add(self, drawn: str, split: str, side: str, direction: str) -> None:
        home = self._fb_home("FlyingThings3D")
        scenes = matching(home, drawn, split, pattern="*/*")
        moved = matching(home, "optical_flow", split, pattern="*/*")
        for scene, its_flow in zip(scenes, moved, strict=False):
            pictures = matching(scene, side, pattern="*.png")
            flows = matching(its_flow, direction, side, pattern="*.pfm")
            for number in range(len(flows) - 1):
                pair = pictures[number : number + 2]
                is_future = direction == "into_future"
                self._image_list.append(pair if is_future else pair[::-1])
                self._flow_list.append(flows[number if is_future else number + 1])

    def _read_flow(self, path: str) -> tuple[Any, Any]:
        return read_pfm(path, 2), None
