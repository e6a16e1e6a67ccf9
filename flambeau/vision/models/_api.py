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
from urllib.error import HTTPError, URLError

import flambeau as fb
from flambeau import nn
from flambeau.hub import get_dir, load_state_dict_from_url
from flambeau.hub._transfer import DownloadError

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
        local = self.local_file()
        if local is not None:
            state: Mapping[str, Any] = fb.load(local, map_location="cpu", weights_only=True)
            return state
        try:
            return load_state_dict_from_url(self.url, *args, **kwargs)
        except URLError as error:
            # An HTTPError is one too, with more to it: only its text changes.
            advice = f", or into a folder that the environment variable {FOLDER_VARIABLE} names"
            if isinstance(error, HTTPError):
                error.msg += advice
                raise
            raise DownloadError(f"{error}{advice}") from error

    def local_file(self) -> str | None:
        """The file on this machine, in ``$FLAMBEAU_WEIGHTS`` or in the cache, if it is there."""
        return next(filter(os.path.isfile, self._places()), None)

    def _places(self) -> list[str]:
        name = os.path.basename(self.url)
        folders = [os.path.join(get_dir(), "checkpoints")]
        if chosen := os.environ.get(FOLDER_VARIABLE):
            folders.insert(0, os.path.expanduser(chosen))
        return [os.path.join(folder, name) for folder in folders]

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
    name: str = "",
    legacy: str = "IMAGENET1K_V1",
    backbone: WeightsEnum | None = None,
    pretrained: Mapping[str, Any] | None = None,
    usual: Mapping[str, Any] | None = None,
    optional: Iterable[str] = (),
    sized: bool = False,
    adapt: Callable[[nn.Module, Any], None] | None = None,
) -> Callable[[_B], _B]:
    """Register a function that makes a model, and let it take published weights.

    ``pretrained`` holds arguments that the model has whenever weights are loaded into it, ``usual``
    those that it has unless told otherwise; a ``sized`` one is then made for images of the size of
    the training. Of ``optional`` parts that it was made without, the weights are left out.
    ``backbone`` are the weights that ``weights_backbone`` is unless told otherwise or unless there
    are weights for all of the model; ``legacy`` names those that ``pretrained=True`` once was.
    ``adapt`` is called with a model and the weights that it is about to get. Parameters whose names
    begin with an underscore are for ``pretrained`` alone.
    """

    def register(make: _B) -> _B:
        spelling = _Spelling(make, weights, legacy, backbone)

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
        # The model that some weights are loaded into, and which of its parts it can do without.
        build.blank, build.optional = blank, tuple(optional)  # type: ignore[attr-defined]
        _builders[name or make.__name__] = build
        return build  # type: ignore[return-value]

    return register


def without_absent_parts(
    model: nn.Module, state: Mapping[str, Any], optional: Iterable[str]
) -> Mapping[str, Any]:
    """A state dict less what belongs to optional parts that a model was made without."""
    absent = {part for part in optional if getattr(model, part) is None}
    if not absent:
        return state  # as it is, with what it says of its version
    return {name: value for name, value in state.items() if name.split(".")[0] not in absent}


class _Spelling:
    """How a function that makes a model is called: today's arguments and those of old programs."""

    def __init__(
        self,
        make: _Builder,
        weights: type[WeightsEnum],
        legacy: str,
        backbone: WeightsEnum | None,
    ) -> None:
        self._name = make.__name__
        self._weights = weights
        self._legacy = weights.__members__.get(legacy)
        self._backbone = backbone
        self._own = [
            parameter.replace(default=backbone)
            if parameter.name == "weights_backbone"
            else parameter
            for parameter in inspect.signature(make).parameters.values()
            if not parameter.name.startswith("_")
        ]

    def signature(self) -> inspect.Signature:
        """What help shows."""
        usual = [
            inspect.Parameter("weights", inspect.Parameter.KEYWORD_ONLY, default=None),
            inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=True),
        ]
        return inspect.Signature(usual + self._own)

    def read(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, bool, dict[str, Any]]:
        """The weights asked for, whether to show progress, and the model's own arguments."""
        options = self._named(args, kwargs)
        progress = bool(options.pop("progress", True))
        self._modern(options, "weights", "pretrained", self._legacy)
        chosen = self._weights.verify(options.pop("weights", None))
        if self._backbone is not None:
            self._modern(options, "weights_backbone", "pretrained_backbone", self._backbone)
            wanted = options.get("weights_backbone", self._backbone)
            options["weights_backbone"] = (
                None if chosen is not None else type(self._backbone).verify(wanted)
            )
        return chosen, progress, options

    def _named(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if not args:
            return dict(kwargs)
        names = [p.name for p in self.signature().parameters.values() if p.kind != p.VAR_KEYWORD]
        if len(args) > len(names):
            raise TypeError(
                f"{self._name}() takes at most {len(names)} positional arguments "
                f"({', '.join(names)}) but {len(args)} were given"
            )
        given = dict(zip(names, args, strict=False))
        if twice := sorted(set(given) & set(kwargs)):
            raise TypeError(f"{self._name}() got multiple values for argument '{twice[0]}'")
        warnings.warn(
            f"Using {', '.join(map(repr, given))} as positional parameter(s) is deprecated since "
            "0.13 and may be removed in the future. Please use keyword parameter(s) instead.",
            stacklevel=5,
        )
        return given | kwargs

    def _modern(
        self, options: dict[str, Any], name: str, old: str, meant: WeightsEnum | None
    ) -> None:
        """Put weights where a program says ``pretrained=True`` or ``weights=True``."""
        given = options.get(name)
        if old in options:
            warnings.warn(
                f"The parameter '{old}' is deprecated since 0.13 and may be removed in the future, "
                f"please use '{name}' instead.",
                stacklevel=5,
            )
            given = options.pop(old)
        elif given is None or isinstance(given, (WeightsEnum, str)):
            return
        if given and meant is None:
            raise ValueError(f"No weights available for model {self._name}")
        options[name] = meant if given else None
        warnings.warn(
            f"Arguments other than a weight enum or `None` for '{name}' are deprecated since 0.13 "
            "and may be removed in the future. The current behavior is equivalent to passing "
            f"`{name}={options[name]}`.",
            stacklevel=5,
        )


def _classes_of(weights: WeightsEnum) -> dict[str, Any]:
    categories = weights.meta.get("categories")
    return {} if categories is None else {"num_classes": len(categories)}


def _fix(options: dict[str, Any], fixed: Mapping[str, Any]) -> None:
    """Set what the weights were trained with; ValueError where something else was asked for."""
    for name, value in fixed.items():
        if options.get(name) is None:
            options[name] = value
        elif options[name] != value:
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
    packages = [each for each in vars(models).values() if isinstance(each, ModuleType)]
    for package in (models, *packages):
        enum = getattr(package, enum_name, None)
        if isinstance(enum, type) and issubclass(enum, WeightsEnum):
            return enum[member]
    raise ValueError(f"The weight enum '{enum_name}' couldn't be found.")
