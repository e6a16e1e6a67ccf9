"""Models by name, and their published weights."""

from __future__ import annotations

import fnmatch
import functools
import os
import sys
import typing
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from types import ModuleType
from typing import Any, TypeVar
from urllib.error import HTTPError, URLError

import flambeau as fb
from flambeau import nn
from flambeau.hub import get_dir, load_state_dict_from_url
from flambeau.hub._transfer import DownloadError
from flambeau.vision.models._legacy import Spelling
from flambeau.vision.models._utils import _ovewrite_value_param

__all__ = [
    "Weights",
    "WeightsEnum",
    "builder",
    "get_model",
    "get_model_builder",
    "get_model_weights",
    "get_weight",
    "list_models",
    "register_model",
]

FOLDER_VARIABLE = "FLAMBEAU_WEIGHTS"
_Builder = Callable[..., nn.Module]
_B = TypeVar("_B", bound=_Builder)
_M = TypeVar("_M", bound=nn.Module)
_builders: dict[str, _Builder] = {}


@dataclass(eq=False)
class Weights:
    """The URL of weights, the preprocessing of images, and metadata."""

    url: str
    transforms: Callable[..., Any]
    meta: dict[str, Any]


class WeightsEnum(Enum):
    """The weights published for one model; ``DEFAULT`` is the best of them."""

    @classmethod
    def verify(cls, obj: Any) -> Any:
        """Return a member, also by its name; TypeError for weights of another model."""
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
        local = self.local_file()
        if local is not None:
            state: Mapping[str, Any] = fb.load(local, map_location="cpu", weights_only=True)
            return state
        try:
            return load_state_dict_from_url(self.url, *args, **kwargs)
        except URLError as error:
            # An HTTPError is one too, with more attributes: only its text changes.
            advice = f", or into a folder that the environment variable {FOLDER_VARIABLE} names"
            if isinstance(error, HTTPError):
                error.msg += advice
                raise
            raise DownloadError(f"{error}{advice}") from error

    def local_file(self) -> str | None:
        """Return the local file, in ``$FLAMBEAU_WEIGHTS`` or in the cache, if it is there."""
        return next(filter(os.path.isfile, self._places()), None)

    def _places(self) -> list[str]:
        name = os.path.basename(self.url)
        folders = [os.path.join(get_dir(), "checkpoints")]
        if chosen := os.environ.get(FOLDER_VARIABLE):
            folders.insert(0, os.path.expanduser(chosen))
        return [os.path.join(folder, name) for folder in folders]

    @property
    def url(self) -> str:
        """The URL of the file."""
        return self.value.url  # type: ignore[no-any-return]

    @property
    def transforms(self) -> Callable[..., Any]:
        """The function that makes the image transform for these weights."""
        return self.value.transforms  # type: ignore[no-any-return]

    @property
    def meta(self) -> dict[str, Any]:
        """Metadata: classes, accuracies, sizes."""
        return self.value.meta  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"{type(self).__name__}.{self._name_}"

    __str__ = __repr__

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        """Copied by name: a copy of the metadata would not be a member."""
        return getattr, (type(self), self._name_)


def builder(
    weights: type[WeightsEnum],
    *,
    name: str = "",
    legacy: str = "IMAGENET1K_V1",
    backbone: WeightsEnum | None = None,
    plain: type[WeightsEnum] | None = None,
    pretrained: Mapping[str, Any] | None = None,
    usual: Mapping[str, Any] | None = None,
    optional: Iterable[str] = (),
    sized: bool = False,
    adapt: Callable[[nn.Module, Any], None] | None = None,
) -> Callable[[_B], _B]:
    """Register a function that makes a model, and let it take published weights.

    ``pretrained`` holds arguments that are fixed when weights are loaded, ``usual`` those that are
    defaults; a ``sized`` model is then made for the image size of the training. The weights of
    ``optional`` parts that the model was made without are left out.
    ``backbone`` is the default of ``weights_backbone`` unless there are weights for the whole
    model; ``legacy`` are the weights that ``pretrained=True`` once meant.
    ``adapt`` is called with a model and the weights that it is about to get. Parameters whose names
    begin with an underscore are for ``pretrained`` alone.
    ``plain`` are the weights of the model without its option ``quantize``.
    """

    def register(make: _B) -> _B:
        spelling = Spelling(make, weights, legacy, backbone, plain)

        def blank(chosen: WeightsEnum, **options: Any) -> nn.Module:
            size = {"image_size": chosen.meta["min_size"][0]} if sized else {}
            _fix(options, {**(pretrained or {}), **size})
            model = make(**{**(usual or {}), **options})
            if adapt is not None:
                adapt(model, chosen)
            return model

        @functools.wraps(make)
        def build(*args: Any, **kwargs: Any) -> nn.Module:
            chosen, progress, options = spelling.read(args, kwargs)
            if chosen is None:
                return make(**options)
            _fix(options, _classes_of(chosen))
            model = blank(chosen, **options)
            state = chosen.get_state_dict(progress=progress, check_hash=True)
            model.load_state_dict(without_absent_parts(model, state, optional))
            return model

        build.__signature__ = spelling.signature()  # type: ignore[attr-defined]
        build.weights_enum = weights  # type: ignore[attr-defined]
        # The model that weights are being loaded into, and its optional parts.
        build.blank, build.optional = blank, tuple(optional)  # type: ignore[attr-defined]
        _builders[name or make.__name__] = build
        return build  # type: ignore[return-value]

    return register


def family(make: Callable[..., _M], **building: Any) -> Callable[..., Callable[..., _M]]:
    """Make builders of models that differ only in the arguments of ``make``, one per call.

    A call takes the weights, which have the model's name, the model's description, and the
    arguments of ``make``; keyword arguments are defaults of the model. ``building`` is passed to
    `builder`.
    """

    def row(
        weights: type[WeightsEnum], what: str, /, *args: Any, **options: Any
    ) -> Callable[..., _M]:
        def model(**kwargs: Any) -> _M:
            return make(*args, **{**options, **kwargs})

        model.__name__ = model.__qualname__ = weights.__name__.removesuffix("_Weights").lower()
        model.__module__ = make.__module__
        model.__doc__ = f"Make {what}."
        return builder(weights, **building)(model)

    return row


def register_model(name: str | None = None) -> Callable[[_B], _B]:
    """Register a user's function, so that `get_model` and `list_models` know it."""

    def register(make: _B) -> _B:
        key = name if name is not None else make.__name__
        if key in _builders:
            raise ValueError(f"An entry is already registered under the name '{key}'.")
        _builders[key] = make
        return make

    return register


def without_absent_parts(
    model: nn.Module, state: Mapping[str, Any], optional: Iterable[str]
) -> Mapping[str, Any]:
    """Return a state dict without the entries of optional parts that a model was made without."""
    absent = {part for part in optional if getattr(model, part) is None}
    if not absent:
        return state  # kept as it is, with its version metadata
    return {name: value for name, value in state.items() if name.split(".")[0] not in absent}


def _classes_of(weights: WeightsEnum) -> dict[str, Any]:
    categories = weights.meta.get("categories")
    return {} if categories is None else {"num_classes": len(categories)}


def _fix(options: dict[str, Any], fixed: Mapping[str, Any]) -> None:
    """Set the arguments that the weights were trained with; ValueError if others were given."""
    for name, value in fixed.items():
        options[name] = _ovewrite_value_param(name, options.get(name), value)


def list_models(
    module: ModuleType | None = None,
    include: Iterable[str] | str | None = None,
    exclude: Iterable[str] | str | None = None,
) -> list[str]:
    """Return the names of the models.

    Args:
        module: Module of the models, such as `models.detection`. Default: all.
        include: Patterns, one of which a name must match. Default: all.
        exclude: Patterns, none of which a name may match. Default: none.

    Example:
        >>> from flambeau.vision.models import list_models
        >>> list_models(include="resnet*")
        ['resnet101', 'resnet152', 'resnet18', 'resnet34', 'resnet50']
    """
    names = set(_builders)
    if module is not None:
        home = module.__name__
        names = {n for n in names if _builders[n].__module__.rpartition(".")[0] == home}
    if include:
        names &= _matching(names, include)
    if exclude:
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
    """Make a model by its name.

    Args:
        name: Name of the model.
        **config: Arguments of its function, such as `weights`.

    Example:
        >>> from flambeau.vision.models import get_model
        >>> model = get_model("squeezenet1_1", num_classes=10)
    """
    return get_model_builder(name)(**config)


def get_model_weights(name: _Builder | str) -> type[WeightsEnum]:
    """Return the weights published for a model."""
    build = get_model_builder(name) if isinstance(name, str) else name
    enum = getattr(build, "weights_enum", None)
    return _annotated(build) if enum is None else enum


def _annotated(build: _Builder) -> type[WeightsEnum]:
    """The enumeration that annotates ``weights`` in a user's function."""
    hint = typing.get_type_hints(build).get("weights")
    for each in (hint, *typing.get_args(hint)):
        if isinstance(each, type) and issubclass(each, WeightsEnum):
            return each
    raise ValueError(
        "The WeightsEnum class for the specific method couldn't be retrieved. Make sure the typing "
        "info of its parameter 'weights' is correct."
    )


def get_weight(name: str) -> WeightsEnum:
    """Return weights by their full name, ``ResNet50_Weights.DEFAULT``."""
    enum_name, _, member = name.partition(".")
    models = sys.modules["flambeau.vision.models"]
    packages = [each for each in vars(models).values() if isinstance(each, ModuleType)]
    for package in (models, *packages):
        enum = getattr(package, enum_name, None)
        if isinstance(enum, type) and issubclass(enum, WeightsEnum):
            return enum[member]
    raise ValueError(f"The weight enum '{enum_name}' couldn't be found.")
