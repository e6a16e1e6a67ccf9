"""An image classifier, made from a model's name or from a file of weights."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from pickle import UnpicklingError

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision import models
from flambeau.vision._commands.checkpoint import Checkpoint, names_of, read_checkpoint
from flambeau.vision._commands.mistake import Mistake
from flambeau.vision.io import ImageReadMode, read_image
from flambeau.vision.models._recognition import Fit, classifiers, fit, loaded, recognised
from flambeau.vision.transforms._presets import ImageClassification

__all__ = ["DEFAULT_MODEL", "Classifier", "image_endings", "read_picture"]

DEFAULT_MODEL = "resnet18"
_IMAGENET = 1000  # classes
_SHOWN = 3  # misfits in a message


@dataclass
class Classifier:
    """A network, the preprocessing of its images, and the names of its classes."""

    name: str
    weights: str
    model: nn.Module
    prepare: Callable[[Tensor], Tensor]
    classes: list[str]

    def __post_init__(self) -> None:
        self.model.eval()

    @classmethod
    def made(cls, model: str | None, weights: str) -> Classifier:
        """Make a classifier from published weights, by name, or from a file."""
        published = _published(model, weights)
        if published is not None:
            return cls._of_published(*published)
        return cls._of_file(model, Path(weights))

    @classmethod
    def _of_published(cls, name: str, weights: models.WeightsEnum) -> Classifier:
        try:
            state = weights.get_state_dict(progress=True, check_hash=True)
        except (OSError, RuntimeError, UnpicklingError) as error:
            raise Mistake(str(error)) from error
        found = _fitted(name, Checkpoint(state), Path(weights.local_file() or weights.url))
        prepare, names = weights.transforms(), weights.meta["categories"]
        return cls(name, str(weights), loaded(found, state), prepare, names)

    @classmethod
    def _of_file(cls, name: str | None, path: Path) -> Classifier:
        checkpoint = read_checkpoint(path)
        found = _fitted(name, checkpoint, path)
        prepare = _preparation(checkpoint, found, path)
        names = checkpoint.classes or _usual_names(found.classes)
        model = loaded(found, checkpoint.state)
        return cls(found.model, str(path), model, prepare, names)._checked(found.classes)

    def named(self, classes: Path) -> Classifier:
        """Return the same classifier with class names from a file, one per line or as JSON."""
        count = len(self.classes)
        self.classes = _names_in(classes)
        return self._checked(count, f" in {classes}")

    def sized(self, size: int) -> Classifier:
        """Return the same classifier for images of another size than the weights' own."""
        prepare = self.prepare
        if isinstance(prepare, ImageClassification):
            ratio = prepare.resize_size[0] / prepare.crop_size[0]
            prepare.resize_size, prepare.crop_size = [round(size * ratio)], [size]
        try:
            self(fb.zeros(3, size, size, dtype=fb.uint8))
        except (AssertionError, RuntimeError, ValueError) as error:
            text = f"{self.name} cannot take images of {size}×{size} pixels: {error}"
            raise Mistake(text) from error
        return self

    @fb.inference_mode()
    def __call__(self, image: Tensor) -> Tensor:
        """The probability of each class for one image."""
        scores: Tensor = self.model(self.prepare(image).unsqueeze(0))
        return scores[0].softmax(0)

    def _checked(self, outputs: int, where: str = "") -> Classifier:
        if len(self.classes) != outputs:
            raise Mistake(
                f"{self.weights} has {outputs} classes, but there are "
                f"{len(self.classes)} names{where}"
            )
        return self


def image_endings() -> tuple[str, ...]:
    """The file name extensions of images."""
    from flambeau.vision.datasets.folder import IMG_EXTENSIONS  # data sets take a while to import

    return (*IMG_EXTENSIONS, ".gif")


def read_picture(path: Path) -> Tensor:
    """Read an image file as bytes (3, H, W), rotated as its EXIF orientation says."""
    if path.is_dir():
        raise Mistake(f"there is no image in {path} ({', '.join(image_endings())})")
    if not path.exists():
        raise Mistake(f"there is no file {path}")
    if not path.stat().st_size:
        raise Mistake(f"{path} is empty")
    try:
        image = read_image(path, ImageReadMode.RGB, apply_exif_orientation=True)
    except (ImportError, OSError, RuntimeError, ValueError) as error:
        text = str(error)
        raise Mistake(text if str(path) in text else f"{path}: {text}") from error
    if image.dtype != fb.uint8:  # a PNG file of 16 bits
        image = (image >> 8).to(fb.uint8)
    return image[0] if image.ndim == 4 else image  # the first frame of several


def _published(model: str | None, weights: str) -> tuple[str, models.WeightsEnum] | None:
    """The model and the weights that a name stands for, unless it is a file."""
    enum_name, _, member = weights.rpartition(".")
    name = model or _model_of(enum_name) or DEFAULT_MODEL
    enum = models.get_model_weights(name)
    if member in enum.__members__ and enum_name in ("", enum.__name__):
        chosen: models.WeightsEnum = enum[member]
        if chosen.meta["categories"] is None:
            raise Mistake(f"{chosen} contain features only and predict no classes")
        return name, chosen
    if os.path.exists(weights):
        return None
    known = ", ".join(f"{enum.__name__}.{each}" for each in enum.__members__)
    raise Mistake(f"there is no file {weights}, and the weights of {name} are called {known}")


def _model_of(enum_name: str) -> str | None:
    return next(
        (name for name in classifiers() if models.get_model_weights(name).__name__ == enum_name),
        None,
    )


def _fitted(name: str | None, checkpoint: Checkpoint, path: Path) -> Fit:
    """The model that was asked for, that the file names, or that its weights fit."""
    asked = name or (checkpoint.model if checkpoint.model in classifiers() else None)
    found = fit(asked, checkpoint.state) if asked else None
    if found is not None and not found.problems:
        return found
    other = recognised(checkpoint.state)
    fits = other is not None and not other.problems
    if found is not None:
        advice = f". It fits {other.model}: --model {other.model}" if other and fits else ""
        raise Mistake(f"{path} does not fit {found.model}: {_misfits(found)}{advice}")
    if other is not None and fits:
        return other
    nearest = f"nearest is {other.model}: {_misfits(other)}" if other else _beginning(checkpoint)
    raise Mistake(f"{path} fits none of the networks that `flambeau models` lists; {nearest}")


def _misfits(found: Fit) -> str:
    more = len(found.problems) - _SHOWN
    return "; ".join(found.problems[:_SHOWN]) + (f"; and {more} more" if more > 0 else "")


def _beginning(checkpoint: Checkpoint) -> str:
    return f"it begins with {', '.join(list(checkpoint.state)[:_SHOWN])}"


def _preparation(checkpoint: Checkpoint, found: Fit, path: Path) -> Callable[[Tensor], Tensor]:
    """The preprocessing that the file, its published weights or its model asks for."""
    if checkpoint.transforms is not None:
        try:
            return ImageClassification(**checkpoint.transforms)
        except TypeError as error:
            raise Mistake(f"{path}: 'transforms' cannot be used: {error}") from error
    same = (each for each in type(found.weights) if os.path.basename(each.url) == path.name)
    weights: models.WeightsEnum = next(same, found.weights)
    prepare: Callable[[Tensor], Tensor] = weights.transforms()
    return prepare


def _usual_names(count: int) -> list[str]:
    if count == _IMAGENET:
        weights = models.get_model_weights(DEFAULT_MODEL)["DEFAULT"]
        names: list[str] = weights.meta["categories"]
        return names
    return [f"class {number}" for number in range(count)]


def _names_in(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Mistake(f"the classes cannot be read: {path}: {error}") from error
    if path.suffix == ".json":
        try:
            return names_of(json.loads(text), str(path))
        except (RecursionError, ValueError) as error:
            raise Mistake(f"{path} is no JSON: {error}") from error
    return [line.strip() for line in text.splitlines() if line.strip()]
