"""Recognition of the network that a state dict belongs to, by names and shapes alone."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import flambeau as fb
from flambeau import Tensor, nn
from flambeau.vision.models._api import (
    WeightsEnum,
    get_model_builder,
    list_models,
    without_absent_parts,
)

__all__ = ["Fit", "classifiers", "fit", "loaded", "recognised"]

State = Mapping[str, Tensor]

_PROBE = 1009  # classes; no layer has this many channels, so the size identifies the heads


@dataclass
class Fit:
    """How well a state dict fits a model: the closest published weights, and what does not fit."""

    model: str
    weights: WeightsEnum
    classes: int
    problems: list[str] = field(default_factory=list)


def classifiers() -> list[str]:
    """Return the names of the classification networks."""
    import flambeau.vision.models as models

    return list_models(module=models)


def fit(model: str, state: State) -> Fit:
    """Compare a state dict with a model for the same number of classes."""
    return min(
        (_fit(model, weights, state) for weights in _forms(model)),
        key=lambda each: len(each.problems),
    )


def recognised(state: State) -> Fit | None:
    """Return the model that a state dict fits, or the closest one with a head of that name."""
    size = sum(value.numel() for value in state.values())
    nearest: Fit | None = None
    for name in sorted(classifiers(), key=lambda name: abs(_parameters(name) - size)):
        if _classes(name, state) is None:
            continue
        found = fit(name, state)
        if not found.problems:
            return found
        if nearest is None or len(found.problems) < len(nearest.problems):
            nearest = found
    return nearest


def loaded(found: Fit, state: State) -> nn.Module:
    """Return the model with the state dict loaded."""
    optional = get_model_builder(found.model).optional  # type: ignore[attr-defined]
    model = _blank(found.model, found.weights, found.classes)
    usable = without_absent_parts(model, state, optional)
    # The tensors of the state dict become its parameters: none are initialised and thrown away.
    keys = model.load_state_dict(usable, strict=False, assign=True)
    for part in {name.partition(".")[0] for name in keys.missing_keys}:
        setattr(model, part, None)  # an optional part
    return model.float()


def _forms(model: str) -> Iterator[WeightsEnum]:
    """Weights for different image sizes, the default first: the networks differ."""
    weights = get_model_builder(model).weights_enum  # type: ignore[attr-defined]
    seen = set()
    for each in (weights.DEFAULT, *weights):
        if each.meta["min_size"] not in seen and each.meta["categories"] is not None:
            seen.add(each.meta["min_size"])
            yield each


def _parameters(model: str) -> int:
    weights = get_model_builder(model).weights_enum  # type: ignore[attr-defined]
    return int(weights.DEFAULT.meta["num_params"])


def _fit(model: str, weights: WeightsEnum, state: State) -> Fit:
    found = Fit(model, weights, _classes(model, state) or len(weights.meta["categories"]))
    blank = _blank(model, weights, found.classes)
    optional = get_model_builder(model).optional  # type: ignore[attr-defined]
    expected = blank.state_dict()
    found.problems += [
        f"{name} is {_shape(state[name])} instead of {_shape(value)}"
        for name, value in expected.items()
        if name in state and state[name].shape != value.shape
    ]
    found.problems += [
        f"{name} is of {state[name].dtype} instead of {value.dtype}"
        for name, value in expected.items()
        if name in state and not _can_hold(value, state[name])
    ]
    fitting = {
        name: value
        for name, value in without_absent_parts(blank, state, optional).items()
        if name not in expected
        or (value.shape == expected[name].shape and _can_hold(expected[name], value))
    }
    # The network itself maps older names of its parts.
    keys = blank.load_state_dict(fitting, strict=False, assign=True)
    missing = [
        name
        for name in keys.missing_keys
        if name not in state and name.partition(".")[0] not in optional
    ]
    found.problems += [f"{name} is missing" for name in missing]
    found.problems += [f"{name} has no place" for name in keys.unexpected_keys]
    return found


def _can_hold(expected: Tensor, value: Tensor) -> bool:
    """Whether values can be converted: floating point to any type, integers to integers."""
    return value.is_floating_point() or not expected.is_floating_point()


def _blank(model: str, weights: WeightsEnum, classes: int) -> nn.Module:
    """Make the model on the meta device: it has only names and shapes."""
    with fb.device("meta"):
        blank: nn.Module = get_model_builder(model).blank(weights, num_classes=classes)  # type: ignore[attr-defined]
    return blank


def _classes(model: str, state: State) -> int | None:
    """Return the number of classes of a state dict, by the shape of a head, if it has one."""
    heads = (state[name] for name in _heads(model) if name in state)
    return next((int(head.shape[0]) for head in heads if head.ndim), None)


@functools.cache
def _heads(model: str) -> list[str]:
    """Return the names of the tensors of a model that have an element or a row per class."""
    probe = _blank(model, next(_forms(model)), _PROBE).state_dict()
    return [name for name, value in probe.items() if value.ndim and value.shape[0] == _PROBE]


def _shape(value: Tensor) -> str:
    return "×".join(map(str, value.shape)) or "one number"
