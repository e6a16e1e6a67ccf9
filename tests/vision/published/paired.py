"""Pairs of pictures with optical flow or disparity."""

from __future__ import annotations

import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from tests.vision.published.files import document, image, layout, text


def noise(seed: int, *shape: int) -> Any:
    """Numbers around zero."""
    return np.random.default_rng(seed).normal(0, 9, shape).astype(np.float32)


def flo(path: Path, seed: int) -> None:
    """Write flow in Middlebury's format."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"PIEH" + struct.pack("<2i", 8, 6) + noise(seed, 6, 8, 2).tobytes())


def pfm(path: Path, seed: int, channels: int = 1, order: str = "<") -> None:
    """Write a portable float map."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kind, scale = {1: "Pf", 3: "PF"}[channels], {"<": "-1.0", ">": "1.0"}[order]
    values = noise(seed, 6, 8, channels)
    values[0, 0, 0] = np.inf
    header = f"{kind}\n8 6\n{scale}\n".encode()
    path.write_bytes(header + values.astype(f"{order}f4").tobytes())


def png16(path: Path, seed: int) -> None:
    """Write a grey PNG with 16 bits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    values = np.random.default_rng(seed).integers(1, 1 << 16, (6, 8), dtype=np.uint16)
    Image.fromarray(values).save(path)


def rgb16(path: Path, values: Any) -> None:
    """Write a PNG of three channels with 16 bits, every row filtered in another way."""
    path.parent.mkdir(parents=True, exist_ok=True)
    height, width, _ = values.shape
    rows = values.astype(">u2").tobytes()
    size = 6 * width
    above = bytes(size)
    packed = b""
    for number in range(height):
        row = rows[number * size : (number + 1) * size]
        packed += bytes([number % 5]) + _filtered(row, above, number % 5)
        above = row
    head = struct.pack(">2I5B", width, height, 16, 2, 0, 0, 0)
    parts = ((b"IHDR", head), (b"IDAT", zlib.compress(packed)), (b"IEND", b""))
    chunks = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(chunks))


def _filtered(row: bytes, above: bytes, kind: int) -> bytes:
    """A row as its differences from what the PNG standard predicts."""
    result = bytearray()
    for at, value in enumerate(row):
        left, corner = (row[at - 6], above[at - 6]) if at >= 6 else (0, 0)
        up = above[at]
        guess = min((left, up, corner), key=lambda near: abs(left + up - corner - near))
        result.append((value - (0, left, up, (left + up) // 2, guess)[kind]) % 256)
    return bytes(result)


def flow_png(path: Path, seed: int) -> None:
    """Write flow and where it is valid."""
    values = np.random.default_rng(seed).integers(0, 1 << 16, (6, 8, 3), dtype=np.uint16)
    values[..., 2] %= 2
    rgb16(path, values)


@layout
def sintel(root: Path) -> None:
    for part in ("training", "test"):
        for drawn in ("clean", "final"):
            for number in range(1, 4):
                path = root / "Sintel" / part / drawn / "alley" / f"frame_000{number}.png"
                image(path, number)
    for number in (1, 2):
        flo(root / "Sintel" / "training" / "flow" / "alley" / f"frame_000{number}.flo", number)


@layout
def kitti_flow(root: Path) -> None:
    for part in ("training", "testing"):
        for number in ("000000", "000001"):
            for time in (10, 11):
                image(root / "KittiFlow" / part / "image_2" / f"{number}_{time}.png", time)
            flow_png(root / "KittiFlow" / "training" / "flow_occ" / f"{number}_10.png", len(part))


@layout
def hd1k(root: Path) -> None:
    for sequence, count in ((0, 3), (7, 2)):
        for number in range(count):
            name = f"{sequence:06d}_{number:04d}.png"
            image(root / "hd1k" / "hd1k_input" / "image_2" / name, number)
            flow_png(root / "hd1k" / "hd1k_flow_gt" / "flow_occ" / name, number)
    for number in (10, 11):
        image(root / "hd1k" / "hd1k_challenge" / "image_2" / f"000000_00{number}.png", number)


@layout
def flying_chairs(root: Path) -> None:
    folder = root / "FlyingChairs"
    for number in range(1, 5):
        for eye in (1, 2):
            image(folder / "data" / f"0000{number}_img{eye}.ppm", number * eye)
        flo(folder / "data" / f"0000{number}_flow.flo", number)
    text(folder / "FlyingChairs_train_val.txt", ["1", "2", "1", "1"])


@layout
def flying_things(root: Path) -> None:
    folder = root / "FlyingThings3D"
    for split in ("TRAIN", "TEST"):
        for side in ("left", "right"):
            for number in range(6, 9):
                for drawn in ("frames_cleanpass", "frames_finalpass"):
                    path = folder / drawn / split / "A" / "0000" / side / f"000{number}.png"
                    image(path, number)
                for direction in ("into_future", "into_past"):
                    name = f"OpticalFlow{direction}_000{number}.pfm"
                    place = folder / "optical_flow" / split / "A" / "0000" / direction / side
                    pfm(place / name, number, 3)


@layout
def carla(root: Path) -> None:
    for scene in ("a", "b"):
        folder = root / "carla-highres" / "trainingF" / scene
        for eye in (0, 1):
            image(folder / f"im{eye}.png", eye)
            pfm(folder / f"disp{eye}GT.pfm", eye, order=">")


@layout
def kitti2012(root: Path) -> None:
    for part in ("training", "testing"):
        for number in (1, 2):
            for eye in (0, 1):
                image(root / "Kitti2012" / part / f"colored_{eye}" / f"{number}_10.png", eye)
            png16(root / "Kitti2012" / "training" / "disp_noc" / f"{number}.png", number)


@layout
def kitti2015(root: Path) -> None:
    for part in ("training", "testing"):
        for number in (1, 2):
            for eye in (0, 1):
                folder = root / "Kitti2015" / part
                image(folder / f"image_{eye + 2}" / f"{number}_10.png", eye)
                png16(folder / f"disp_occ_{eye}" / f"{number}_10.png", number)


@layout
def crestereo(root: Path) -> None:
    for kind in ("shapenet", "reflective", "tree", "hole"):
        for eye in ("left", "right"):
            image(root / "CREStereo" / kind / f"1_{eye}.jpg", len(kind + eye))
            png16(root / "CREStereo" / kind / f"1_{eye}.disp.png", len(kind + eye))


@layout
def falling_things(root: Path) -> None:
    for place in ("single/can/kitchen", "mixed/kitchen"):
        folder = root / "FallingThings" / place
        for eye in ("left", "right"):
            image(folder / f"000.{eye}.jpg", len(eye))
            png16(folder / f"000.{eye}.depth.png", len(eye))
        camera = {"intrinsic_settings": {"fx": 768.16}}
        document(folder / "_camera_settings.json", {"camera_settings": [camera]})


@layout
def scene_flow(root: Path) -> None:
    for variant, scene in (("Monkaa", "a"), ("Driving", "a/b/c"), ("FlyingThings3D", "a/b/c")):
        folder = root / "SceneFlow" / variant
        for eye in ("left", "right"):
            for drawn in ("frames_cleanpass", "frames_finalpass"):
                image(folder / drawn / scene / eye / "1.png", len(eye))
            pfm(folder / "disparity" / scene / eye / "1.pfm", len(eye))


@layout
def sintel_stereo(root: Path) -> None:
    folder = root / "Sintel" / "training"
    for number in (1, 2):
        name = f"alley/frame_000{number}.png"
        for kind in ("final_left", "final_right", "clean_left", "clean_right", "disparities"):
            image(folder / kind / name, number + len(kind))
        for kind in ("occlusions", "outofframe"):
            path = folder / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(np.eye(6, 8, number + len(kind) - 10, dtype=np.uint8) * 255).save(path)


@layout
def instereo2k(root: Path) -> None:
    for split in ("train", "test"):
        for eye in ("left", "right"):
            image(root / "InStereo2k" / split / "a" / f"{eye}.png", len(eye))
            png16(root / "InStereo2k" / split / "a" / f"{eye}_disp.png", len(eye))


@layout
def eth3d(root: Path) -> None:
    for part in ("two_view_training", "two_view_test"):
        for eye in (0, 1):
            image(root / "ETH3D" / part / "a" / f"im{eye}.png", eye)
    pfm(root / "ETH3D" / "two_view_training_gt" / "a" / "disp0GT.pfm", 1)
    image(root / "ETH3D" / "two_view_training_gt" / "a" / "mask0nocc.png", 1, "1")


@layout
def middlebury(root: Path) -> None:
    folder = root / "Middlebury2014"
    for place in ("train/Piano-perfect", "train/Piano-imperfect", "additional/Mask-perfect"):
        for eye in (0, 1):
            image(folder / place / f"im{eye}.png", eye + len(place))
            pfm(folder / place / f"disp{eye}.pfm", eye)
    for eye in (0, 1):
        image(folder / "test" / "Plants" / f"im{eye}.png", eye)
