"""Image preprocessing: from the bytes of a JPEG file to normalised numbers.

The same work four times, each in a process of its own with one thread: Pillow and NumPy by hand,
torchvision on PIL images, Flambeau on PIL images, Flambeau on tensors. A worker is told over its
standard input what to do: `{"check": pipeline}` or `{"measure": pipeline, "threads": n}`.
"""

import concurrent.futures
import functools
import importlib
import io
import json
import math
import random
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from benchmarks.process import Process

Pipeline = Callable[[bytes], Any]

WIDTH, HEIGHT = 500, 375
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
CROP, SHORTER = 224, 256
BATCH_SECONDS = 0.25
# Allowed differences between tensors and PIL images: the decoder may round differently, and the
# weights of a resized tensor have fewer bits. In levels of 255, the largest of any pixel and the
# mean.
MOST_SHADES, MEAN_SHADES = 3.0, 0.5
COLUMNS = ("Pillow+NumPy", "torchvision", "PIL images", "tensors")
ROWS = (("evaluation", 1), ("evaluation", 2), ("training", 1), ("training", 2))  # with threads
# Least images a second, in those of torchvision on one thread.
BARS = {"PIL images": 1.2, "tensors": 2.0}


@functools.cache
def picture() -> bytes:
    """A JPEG file like a photograph: soft shapes, some edges, a little noise."""
    noise = np.random.default_rng(0)
    coarse = noise.integers(0, 256, (12, 16, 3), dtype=np.uint8)
    image = Image.fromarray(coarse).resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
    draw = ImageDraw.Draw(image)
    for _ in range(30):
        left, top = noise.integers(0, WIDTH), noise.integers(0, HEIGHT)
        box = (left, top, left + noise.integers(5, 120), top + noise.integers(5, 120))
        draw.ellipse([int(side) for side in box], tuple(noise.integers(0, 256, 3).tolist()))
    grain = noise.normal(0, 4, (HEIGHT, WIDTH, 3))
    pixels = (np.asarray(image) + grain).clip(0, 255).astype(np.uint8)
    file = io.BytesIO()
    Image.fromarray(pixels).save(file, "JPEG", quality=90)
    return file.getvalue()


# --- the pipelines of each column. A fixed crop is the whole picture, mirrored.


def _open(file: bytes) -> Any:
    return Image.open(io.BytesIO(file)).convert("RGB")


def _by_numpy(name: str, fixed: bool) -> Pipeline:
    mean, std = np.array(MEAN, np.float32), np.array(STD, np.float32)

    def numbers(image: Any) -> Any:
        values = (np.asarray(image).astype(np.float32) / np.float32(255) - mean) / std
        return np.ascontiguousarray(values.transpose(2, 0, 1))

    def evaluation(file: bytes) -> Any:
        image = _open(file)
        scale = SHORTER / min(image.size)
        size = int(image.width * scale), int(image.height * scale)
        left, top = round((size[0] - CROP) / 2), round((size[1] - CROP) / 2)
        image = image.resize(size, Image.Resampling.BILINEAR)
        return numbers(image.crop((left, top, left + CROP, top + CROP)))

    def training(file: bytes) -> Any:
        image = _open(file)
        image = image.crop((0, 0, WIDTH, HEIGHT) if fixed else _drawn_box(image))
        image = image.resize((CROP, CROP), Image.Resampling.BILINEAR)
        if fixed or random.random() < 0.5:
            image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        return numbers(image)

    return {"evaluation": evaluation, "training": training}[name]


def _drawn_box(image: Any) -> tuple[int, int, int, int]:
    for _ in range(10):
        area = image.width * image.height * random.uniform(0.08, 1.0)
        shape = math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
        width, height = round(math.sqrt(area * shape)), round(math.sqrt(area / shape))
        if width <= image.width and height <= image.height:
            left = random.randint(0, image.width - width)
            top = random.randint(0, image.height - height)
            return left, top, left + width, top + height
    return 0, 0, image.width, image.height


def _composed(t: Any, name: str, fixed: bool, to_float: list[Any]) -> Any:
    """The pipeline of `t`, a module of transforms."""
    whole = {"scale": (1.0, 1.0), "ratio": (WIDTH / HEIGHT, WIDTH / HEIGHT)} if fixed else {}
    places = {
        "evaluation": [t.Resize(SHORTER), t.CenterCrop(CROP)],
        "training": [
            t.RandomResizedCrop(CROP, **whole),
            t.RandomHorizontalFlip(1.0 if fixed else 0.5),
        ],
    }
    return t.Compose([*places[name], *to_float, t.Normalize(MEAN, STD)])


def _by_pil(vision: Any, name: str, fixed: bool) -> Pipeline:
    t = vision.transforms
    transform = _composed(t, name, fixed, [t.ToTensor()])
    return lambda file: transform(_open(file))


def _by_tensors(name: str, fixed: bool) -> Pipeline:
    import flambeau as fb
    from flambeau.vision import io as pictures
    from flambeau.vision.transforms import v2

    transform = _composed(v2, name, fixed, [v2.ToDtype(fb.float32, scale=True)])

    def run(file: bytes) -> Any:
        return transform(pictures.decode_jpeg(fb.frombuffer(bytearray(file), dtype=fb.uint8)))

    return run


def _pipeline(column: str, name: str, fixed: bool = False) -> Pipeline:
    if column == "Pillow+NumPy":
        return _by_numpy(name, fixed)
    if column == "torchvision":
        oracle = importlib.import_module("tests.conformance.vision_oracle")
        importlib.import_module("torch").set_num_threads(1)
        return _by_pil(oracle.load(), name, fixed)
    importlib.import_module("flambeau").set_num_threads(1)
    if column == "tensors":
        return _by_tensors(name, fixed)
    return _by_pil(importlib.import_module("flambeau.vision"), name, fixed)


# --- the process of a column


def _rate(pipeline: Pipeline, threads: int) -> float:
    """Images a second."""
    file = picture()
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        count, seconds = 4, 0.0
        while seconds < BATCH_SECONDS:
            count *= 2
            start = time.perf_counter()
            for _ in pool.map(pipeline, [file] * count):
                pass
            seconds = time.perf_counter() - start
    return count / seconds


def _answer(column: str, request: dict[str, Any]) -> dict[str, Any]:
    if "check" in request:
        result = np.asarray(_pipeline(column, request["check"], fixed=True)(picture()))
        return {"values": result.ravel().tolist()}
    return {"rate": _rate(_pipeline(column, request["measure"]), request["threads"])}


def main() -> None:
    column = sys.argv[1]
    for line in sys.stdin:
        try:
            answer = _answer(column, json.loads(line))
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


# --- the side of the harness


class Column(Process):
    """The process of a column."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "images", name, threads=1)


def agreeing(name: str, columns: list[Column]) -> dict[str, str]:
    """What is wrong with a column, if it is: it fails, or its numbers are not the first one's.

    They are the same exactly, but for tensors.
    """
    wrong: dict[str, str] = {}
    expected: Any = None
    for column in columns:
        try:
            values = np.array(column.ask(check=name)["values"])
        except RuntimeError as error:
            wrong[column.name] = str(error)
            continue
        expected = values if expected is None else expected
        shades = np.abs(values - expected) * min(STD) * 255
        most, mean = (MOST_SHADES, MEAN_SHADES) if column.name == "tensors" else (0.0, 0.0)
        if shades.max() > most or shades.mean() > mean:
            wrong[column.name] = f"{column.name}: {name} is off by {shades.max():.2f} shades"
    return wrong


def is_good(rates: dict[str, float], threads: int) -> bool | None:
    """Whether the targets are met, if they apply and torchvision is installed."""
    if threads > 1 or "torchvision" not in rates:
        return None
    least = rates["torchvision"]
    return all(rates.get(name, 0.0) >= bar * least for name, bar in BARS.items())


def rates(name: str, threads: int, columns: list[Column], rounds: int) -> dict[str, float]:
    """Images a second of every column, the best of rounds in turn."""
    best = dict.fromkeys((column.name for column in columns), 0.0)
    for _ in range(rounds):
        for column in columns:
            rate = float(column.ask(measure=name, threads=threads)["rate"])
            best[column.name] = max(best[column.name], rate)
    return best


if __name__ == "__main__":
    main()
