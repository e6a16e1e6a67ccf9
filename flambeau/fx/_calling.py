"""The form in which calls are recorded: as PyTorch writes them, so that the code is the same."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from flambeau.fx._naming import torch_names
from flambeau.fx._signatures import signature_of


def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    return signature_of(_SIGNATURES.get(torch_names()[function], function))


# For functions with overloads: the form that all of them have in PyTorch.
_SIGNATURES: dict[str, Callable[..., Any]] = {
    "torch.functional.norm": lambda input, p="fro", dim=None, keepdim=False, out=None, dtype=None: (
        None
    ),
    "torch.functional.meshgrid": lambda *tensors, indexing=None: None,
}


def canonical_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[str, Any, tuple[Any, ...], dict[str, Any]]:
    """Return op, target, args and kwargs of the node for a call.

    Functions that PyTorch writes in Python get their required arguments by position, and
    all others by keyword, even those that were left out.
    """
    name = torch_names().get(function, "")
    if not name.startswith(("torch.nn.functional.", "torch.functional.")):
        return "call_function", function, args, kwargs
    signature = _signature(function)
    if signature is None or name == "torch.functional.einsum":
        return "call_function", function, args, kwargs
    try:
        bound = signature.bind(*args, **kwargs)
    except TypeError:
        return "call_function", function, args, kwargs
    bound.apply_defaults()
    positional: list[Any] = []
    named: dict[str, Any] = {}
    for parameter in signature.parameters.values():
        value = bound.arguments[parameter.name]
        if parameter.kind is parameter.VAR_POSITIONAL:
            positional += value
        elif parameter.default is parameter.empty and parameter.kind is not parameter.KEYWORD_ONLY:
            positional.append(value)
        else:
            named[parameter.name] = value
    return "call_function", function, tuple(positional), named
