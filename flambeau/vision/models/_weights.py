"""The published weights (``weights.tsv``) of each package as one enumeration for each model."""

from __future__ import annotations

import csv
import functools
from collections.abc import Callable
from pathlib import Path
from typing import Any

from flambeau.vision.models._api import Weights, WeightsEnum
from flambeau.vision.models._meta import classes
from flambeau.vision.transforms import _presets
from flambeau.vision.transforms._image import InterpolationMode

__all__ = ["weights_of"]

_HOME = "https://download.pytorch.org/models/"
_FOLDER = Path(__file__).parent
# For each package: the preprocessing of its images, and the file of its class names.
_TASKS: dict[str, tuple[Callable[..., Any], str]] = {
    "": (_presets.ImageClassification, "imagenet.txt"),
    "detection": (_presets.ObjectDetection, "coco.txt"),
    "optical_flow": (_presets.OpticalFlow, ""),
    "quantization": (_presets.ImageClassification, "imagenet.txt"),
    "segmentation": (_presets.SemanticSegmentation, "voc.txt"),
    "video": (_presets.VideoClassification, "kinetics400.txt"),
}


def weights_of(model: str, package: str = "", unquantized: Any = None) -> Any:
    """The enumeration of a model's weights, each with a link to the weights it was made from."""
    rows = _table(package)[model]
    name = rows[0]["enum"]
    members = {row["weights"]: _weights(row, package) for row in rows}
    if unquantized is not None:
        for row in rows:
            made_of = {"backend": row["backend"], "unquantized": unquantized[row["unquantized"]]}
            members[row["weights"]].meta.update(made_of)
    # An alias of a member comes last and has the same value.
    default = next(row["weights"] for row in rows if row["default"])
    enum = WeightsEnum(name, {**members, "DEFAULT": members[default]})  # type: ignore[call-arg]
    enum.__module__ = f"flambeau.vision.models.{package}".rstrip(".")
    return enum


@functools.cache
def _table(package: str) -> dict[str, list[dict[str, str]]]:
    models: dict[str, list[dict[str, str]]] = {}
    with (_FOLDER / package / "weights.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            models.setdefault(row["model"], []).append(row)
    return models


def _weights(row: dict[str, str], package: str) -> Weights:
    preset, file = _TASKS[package]
    meta: dict[str, Any] = {
        "num_params": int(row["parameters"]),
        "min_size": _sizes(row["min_size"]),
        "recipe": row["recipe"],
        "_metrics": _metrics(row["metrics"]),
        "_ops": float(row["gflops"]),
        "_file_size": float(row["megabytes"]),
    }
    if file:
        only_features = row["weights"].endswith("_FEATURES")
        meta["categories"] = None if only_features else classes(file)
    if row.get("classes"):
        meta["categories"] = row["classes"].split(",")
    if row.get("keypoints"):
        meta["keypoint_names"] = row["keypoints"].split(",")
    if row.get("license"):
        meta["license"] = row["license"]
    if row.get("frames"):
        meta["min_temporal_size"] = int(row["frames"])
    return Weights(_HOME + row["file"], functools.partial(preset, **_options(row)), meta)


def _options(row: dict[str, str]) -> dict[str, Any]:
    """Parse the preprocessing, where it differs from the default."""
    options: dict[str, Any] = {}
    for column in ("crop", "resize"):
        if row.get(column):
            sizes = _sizes(row[column])
            options[f"{column}_size"] = sizes if len(sizes) > 1 else sizes[0]
    if row.get("interpolation"):
        options["interpolation"] = InterpolationMode(row["interpolation"])
    for column in ("mean", "std"):
        if row.get(column):
            options[column] = tuple(float(value) for value in row[column].split(","))
    return options


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(","))


def _metrics(text: str) -> dict[str, dict[str, float]]:
    """``Data: name value, name value; Data: ...`` as dictionaries."""
    metrics: dict[str, dict[str, float]] = {}
    for part in text.split("; "):
        data, _, values = part.partition(": ")
        pairs = (value.split(" ") for value in values.split(", "))
        metrics[data] = {name: float(number) for name, number in pairs}
    return metrics
