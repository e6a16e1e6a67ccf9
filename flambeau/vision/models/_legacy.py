"""Arguments of model builders, in today's spelling and in older ones."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any

__all__ = ["Spelling", "modern", "named"]

_CALLER = 4  # stack frames between a warning and the program that calls the builder


def named(
    function: str, names: Sequence[str], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """Return all arguments by name, with a warning about positional ones."""
    if not args:
        return dict(kwargs)
    if len(args) > len(names):
        raise TypeError(
            f"{function}() takes at most {len(names)} positional arguments "
            f"({', '.join(names)}) but {len(args)} were given"
        )
    given = dict(zip(names, args, strict=False))
    if twice := sorted(set(given) & set(kwargs)):
        raise TypeError(f"{function}() got multiple values for argument '{twice[0]}'")
    warnings.warn(
        f"Using {', '.join(map(repr, given))} as positional parameter(s) is deprecated since "
        "0.13 and may be removed in the future. Please use keyword parameter(s) instead.",
        stacklevel=_CALLER,
    )
    return given | kwargs


def modern(function: str, options: dict[str, Any], name: str, old: str, meant: Any) -> None:
    """Replace ``pretrained=True`` or ``weights=True`` by the weights that are meant."""
    given = options.get(name)
    if old in options:
        warnings.warn(
            f"The parameter '{old}' is deprecated since 0.13 and may be removed in the future, "
            f"please use '{name}' instead.",
            stacklevel=_CALLER,
        )
        given = options.pop(old)
    elif given is None or isinstance(given, (Enum, str)):
        return
    if given and not isinstance(meant, Enum):
        raise ValueError(f"No weights available for model {function}")
    options[name] = meant if given else None
    warnings.warn(
        f"Arguments other than a weight enum or `None` for '{name}' are deprecated since 0.13 "
        "and may be removed in the future. The current behavior is equivalent to passing "
        f"`{name}={options[name]}`.",
        stacklevel=_CALLER,
    )


class Spelling:
    """The signature of a model builder: today's arguments and older ones."""

    def __init__(
        self,
        make: Callable[..., Any],
        weights: Any,
        legacy: str,
        backbone: Any,
        plain: Any,
    ) -> None:
        self._name = make.__name__
        self._weights = weights
        self._plain = weights if plain is None else plain
        self._legacy = self._plain.__members__.get(legacy)
        self._backbone = backbone
        self._own = [
            parameter.replace(default=backbone)
            if parameter.name == "weights_backbone"
            else parameter
            for parameter in inspect.signature(make).parameters.values()
            if not parameter.name.startswith("_")
        ]

    def signature(self) -> inspect.Signature:
        """The signature that help shows."""
        usual = [
            inspect.Parameter("weights", inspect.Parameter.KEYWORD_ONLY, default=None),
            inspect.Parameter("progress", inspect.Parameter.KEYWORD_ONLY, default=True),
        ]
        return inspect.Signature(usual + self._own)

    def read(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, bool, dict[str, Any]]:
        """Return the requested weights, whether to show progress, and the model's own arguments."""
        names = [p.name for p in self.signature().parameters.values() if p.kind != p.VAR_KEYWORD]
        options = named(self._name, names, args, kwargs)
        progress = bool(options.pop("progress", True))
        modern(self._name, options, "weights", "pretrained", self._legacy)
        published = self._weights if options.get("quantize") else self._plain
        chosen = published.verify(options.pop("weights", None))
        if self._backbone is not None:
            modern(self._name, options, "weights_backbone", "pretrained_backbone", self._backbone)
            wanted = options.get("weights_backbone", self._backbone)
            options["weights_backbone"] = (
                None if chosen is not None else type(self._backbone).verify(wanted)
            )
        return chosen, progress, options
