"""Models by name, and the weights that are published for them."""

from __future__ import annotations

import fnmatch
import functools
import inspect
import os
import sys
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, TypeVar

import flambeau as fb
from flambeau import nn
from flambeau.hub import get_dir, load_state_dict_from_url

__all__ = [
    "Weights",
    "WeightsEnum",
    "builder",
    "get_model",
    "get_model_builder",
    "get_model_weights",
    "get_weight",
    "list_models",
]

FOLDER_VARIABLE = "FLAMBEAU_WEIGHTS"
_Builder = Callable[..., nn.Module]
_B = TypeVar("_B", bound=_Builder)
_builders: dict[str, _Builder] = {}


@dataclass(eq=False)
class Weights:
    """Where weights are, what images go through first, and what is known about them."""

    url: str
    transforms: Callable[..., Any]
    meta: dict[str, Any]


class WeightsEnum(Enum):
    """The weights published for one model; ``DEFAULT`` is the best of them."""

    @classmethod
    def verify(cls, obj: Any) -> Any:
        """Return a member, also from its name; TypeError for weights of another model."""
        if isinstance(obj, str):
            return cls[obj.replace(f"{cls.__name__}.", "")]
        if obj is not None and not isinstance(obj, cls):
            raise TypeError(
                f"Invalid Weight class provided; expected {cls.__name__} but received "
                f"{type(obj).__name__}."
            )
        return obj

    def get_state_dict(self, *args: Any, **kwargs: Any) -> Mapping[str, Any]:
        """Load the weights: from ``$FLAMBEAU_WEIGHTS``, from the cache, or from the network."""
        name = os.path.basename(self.url)
        folder = os.environ.get(FOLDER_VARIABLE)
        if folder and os.path.isfile(local := os.path.join(os.path.expanduser(folder), name)):
            state: Mapping[str, Any] = fb.load(local, map_location="cpu", weights_only=True)
            return state
        try:
            return load_state_dict_from_url(self.url, *args, **kwargs)
        except OSError as error:
            cached = os.path.join(get_dir(), "checkpoints", name)
            raise RuntimeError(
                f"{self.url} cannot be fetched ({error}). Without a network, put the file at "
                f"{cached}, or into a folder that the environment variable {FOLDER_VARIABLE} names"
            ) from error

    @property
    def url(self) -> str:
        """The address of the file."""
        return self.value.url  # type: ignore[no-any-return]

    @property
    def transforms(self) -> Callable[..., Any]:
        """Makes the transform of images for these weights."""
        return self.value.transforms  # type: ignore[no-any-return]

    @property
    def meta(self) -> dict[str, Any]:
        """Classes, accuracies, sizes."""
        return self.value.meta  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self._name_}"

    __str__ = __repr__


def builder(
    weights: type[WeightsEnum],
    *,
    pretrained: Mapping[str, Any] | None = None,
    usual: Mapping[str, Any] | None = None,
    optional: Iterable[str] = (),
    sized: bool = False,
) -> Callable[[_B], _B]:
    """Register a function that makes a model, and let it take published weights.

    ``pretrained`` holds arguments that the model has whenever weights are loaded into it, ``usual``
    those that it has unless told otherwise; a ``sized`` one is then made for images of the size of
    the training. Of ``optional`` parts that it was made without, the weights are left out.
    """

    def register(make: _B) -> _B:
        @functools.wraps(make)
        def build(*args: Any, **kwargs: Any) -> nn.Module:
            chosen, progress, options = _arguments(make.__name__, weights, args, kwargs)
            if chosen is None:
                return make(**options)
            size = {"image_size": chosen.meta["min_size"][0]} if sized else {}
            _fix(options, {**(pretrained or {}), **size, **_classes_of(chosen)})
            model = make(**{**(usual or {}), **options})
            state = chosen.get_state_dict(progress=progress, check_hash=True)
            absent = {part for part in optional if getattr(model, part) is None}
            model.load_state_dict(
                {name: v for name, v in state.items() if name.split(".")[0] not in absent}
                if absent
                else state
            )
            return model

        build.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
            [
                inspect.Parameter("weights", inspect.Parameter.KEYWORD_ONLY, default=None),
                inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=True),
                inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD),
            ]
        )
        build.weights_enum = weights  # type: ignore[attr-defined]
        _builders[make.__name__] = build
        return build  # type: ignore[return-value]

    return register


def _arguments(
    name: str, weights: type[WeightsEnum], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, bool, dict[str, Any]]:
    """The weights asked for, in the new spelling or the old one, and the other arguments."""
    if len(args) > 2:
        raise TypeError(f"{name}() takes at most 2 positional arguments: weights and progress")
    options = dict(zip(("weights", "progress"), args, strict=False)) | kwargs
    progress = bool(options.pop("progress", True))
    chosen = options.pop("weights", None)
    if isinstance(chosen, bool) or "pretrained" in options:
        wanted = options.pop("pretrained", chosen)
        warnings.warn(
            "The parameter 'pretrained' is deprecated since 0.13 and may be removed in the future, "
            f"please use 'weights' instead: weights={weights.__name__}.IMAGENET1K_V1 or None.",
            stacklevel=4,
        )
        chosen = weights["IMAGENET1K_V1"] if wanted is True else wanted or None
    return weights.verify(chosen), progress, options


def _classes_of(weights: WeightsEnum) -> dict[str, Any]:
    categories = weights.meta["categories"]
    return {} if categories is None else {"num_classes": len(categories)}


def _fix(options: dict[str, Any], fixed: Mapping[str, Any]) -> None:
    """Set what the weights were trained with; ValueError where something else was asked for."""
    for name, value in fixed.items():
        if options.setdefault(name, value) != value:
            raise ValueError(
                f"The parameter '{name}' expected value {value} but got {options[name]} instead: "
                "load the weights first, then replace the layer"
            )


def list_models(
    module: ModuleType | None = None,
    include: Iterable[str] | str | None = None,
    exclude: Iterable[str] | str | None = None,
) -> list[str]:
    """Return the names of models, those that match any of ``include`` and none of ``exclude``."""
    names = set(_builders)
    if module is not None:
        prefix = f"{module.__name__}."
        names = {n for n in names if f"{_builders[n].__module__}.".startswith(prefix)}
    if include is not None:
        names &= _matching(names, include)
    if exclude is not None:
        names -= _matching(names, exclude)
    return sorted(names)


def _matching(names: set[str], patterns: Iterable[str] | str) -> set[str]:
    wanted = [patterns] if isinstance(patterns, str) else patterns
    return {name for pattern in wanted for name in fnmatch.filter(names, pattern)}


def get_model_builder(name: str) -> _Builder:
    """Return the function that makes a model."""
    try:
        return _builders[name.lower()]
    except KeyError:
        near = ", ".join(list_models(include=f"*{name.lower()[:5]}*")) or "see list_models()"
        raise ValueError(f"Unknown model {name}: {near}") from None


def get_model(name: str, **config: Any) -> nn.Module:
    """Make a model by its name."""
    return get_model_builder(name)(**config)


def get_model_weights(name: _Builder | str) -> type[WeightsEnum]:
    """Return the weights published for a model."""
    build = get_model_builder(name) if isinstance(name, str) else name
    return build.weights_enum  # type: ignore[attr-defined,no-any-return]


def get_weight(name: str) -> WeightsEnum:
    """Return weights by their full name, ``ResNet50_Weights.DEFAULT``."""
    enum_name, _, member = name.partition(".")
    models = sys.modules["flambeau.vision.models"]
    enum = getattr(models, enum_name, None)
    if not (isinstance(enum, type) and issubclass(enum, WeightsEnum)):
        raise ValueError(f"The weight enum '{enum_name}' couldn't be found.")
    return enum[member]
