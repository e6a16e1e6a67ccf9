"""The published weights (``weights.tsv``) as one enumeration for each model."""

from __future__ import annotations

import csv
import functools
from pathlib import Path
from typing import Any

from flambeau.vision.models._api import Weights, WeightsEnum
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms._presets import ImageClassification

__all__ = ["weights_of"]

_HOME = "https://download.pytorch.org/models/"
_FOLDER = Path(__file__).parent


def weights_of(model: str) -> Any:
    """The enumeration of the weights of a model."""
    rows = _table()[model]
    name = rows[0]["enum"]
    members = {row["weights"]: _weights(row) for row in rows}
    # A second name of a member: it comes last and has the same value.
    default = next(row["weights"] for row in rows if row["default"])
    enum = WeightsEnum(name, {**members, "DEFAULT": members[default]})  # type: ignore[call-arg]
    enum.__module__ = "flambeau.vision.models"
    return enum


@functools.cache
def _table() -> dict[str, list[dict[str, str]]]:
    models: dict[str, list[dict[str, str]]] = {}
    with (_FOLDER / "weights.tsv").open(newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter="\t"):
            models.setdefault(row["model"], []).append(row)
    return models


@functools.cache
def _imagenet() -> list[str]:
    return (_FOLDER / "imagenet.txt").read_text(encoding="utf-8").splitlines()


def _weights(row: dict[str, str]) -> Weights:
    options: dict[str, Any] = {"crop_size": int(row["crop"])}
    if row["resize"]:
        options["resize_size"] = int(row["resize"])
    if row["interpolation"]:
        options["interpolation"] = InterpolationMode(row["interpolation"])
    for name in ("mean", "std"):
        if row[name]:
            options[name] = tuple(float(value) for value in row[name].split(","))
    only_features = row["weights"].endswith("_FEATURES")
    meta = {
        "categories": None if only_features else _imagenet(),
        "num_params": int(row["parameters"]),
        "min_size": tuple(int(side) for side in row["min_size"].split(",")),
        "recipe": row["recipe"],
        "_metrics": {
            "ImageNet-1K": {"acc@1": float(row["accuracy1"]), "acc@5": float(row["accuracy5"])}
        },
        "_ops": float(row["gflops"]),
        "_file_size": float(row["megabytes"]),
    }
    return Weights(_HOME + row["file"], functools.partial(ImageClassification, **options), meta)
