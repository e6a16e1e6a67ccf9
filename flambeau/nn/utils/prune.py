"""Pruning: elements of parameters that are set to zero and stay zero.

A pruned `weight` becomes the parameter `weight_orig` and the buffer `weight_mask`; a hook
multiplies them before each call. The methods themselves are in `_pruning_methods`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module
from flambeau.nn.utils._pruning import BasePruningMethod, PruningContainer, pruning_hook
from flambeau.nn.utils._pruning_methods import (
    CustomFromMask,
    Identity,
    L1Unstructured,
    LnStructured,
    RandomStructured,
    RandomUnstructured,
)
from flambeau.nn.utils.convert_parameters import parameters_to_vector

__all__ = [
    "BasePruningMethod",
    "CustomFromMask",
    "Identity",
    "L1Unstructured",
    "LnStructured",
    "PruningContainer",
    "RandomStructured",
    "RandomUnstructured",
    "custom_from_mask",
    "global_unstructured",
    "identity",
    "is_pruned",
    "l1_unstructured",
    "ln_structured",
    "random_structured",
    "random_unstructured",
    "remove",
]


def identity(module: Module, name: str) -> Module:
    """Prepare a parameter for pruning without pruning anything.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.

    Returns:
        The module; its parameter is now `<name>_orig`, and `<name>_mask` is a buffer.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.identity(layer, "weight")
        >>> layer.weight_mask.sum()
        tensor(20.)
    """
    Identity.apply(module, name)
    return module


def random_unstructured(module: Module, name: str, amount: float) -> Module:
    """Prune elements at random.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.
        amount: Number of elements, or as a float their share.

    Returns:
        The module; its parameter is now `<name>_orig`, and `<name>_mask` is a buffer.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.random_unstructured(layer, "weight", amount=3)
        >>> int((layer.weight == 0).sum())
        3
    """
    RandomUnstructured.apply(module, name, amount)
    return module


def l1_unstructured(
    module: Module, name: str, amount: float, importance_scores: Tensor | None = None
) -> Module:
    """Prune the elements of the smallest magnitude.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.
        amount: Number of elements, or as a float their share.
        importance_scores: Scores to use instead of the parameter. Default: None.

    Returns:
        The module; its parameter is now `<name>_orig`, and `<name>_mask` is a buffer.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.l1_unstructured(layer, "weight", amount=0.5)
        >>> int((layer.weight == 0).sum())
        10

    See also:
        `prune.remove`, `prune.global_unstructured`.
    """
    L1Unstructured.apply(module, name, amount, importance_scores=importance_scores)
    return module


def random_structured(module: Module, name: str, amount: float, dim: int) -> Module:
    """Prune slices along a dimension at random.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.
        amount: Number of slices, or as a float their share.
        dim: The dimension.

    Returns:
        The module; its parameter is now `<name>_orig`, and `<name>_mask` is a buffer.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.random_structured(layer, "weight", amount=1, dim=1)
        >>> int((layer.weight == 0).all(0).sum())
        1
    """
    RandomStructured.apply(module, name, amount, dim)
    return module


def ln_structured(
    module: Module,
    name: str,
    amount: float,
    n: Any,
    dim: int,
    importance_scores: Tensor | None = None,
) -> Module:
    """Prune the slices along a dimension that have the smallest norm.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.
        amount: Number of slices, or as a float their share.
        n: Order of the norm.
        dim: The dimension.
        importance_scores: Scores to use instead of the parameter. Default: None.

    Returns:
        The module; its parameter is now `<name>_orig`, and `<name>_mask` is a buffer.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.ln_structured(layer, "weight", amount=2, n=2, dim=0)
        >>> int((layer.weight == 0).all(1).sum())
        2
    """
    LnStructured.apply(module, name, amount, n, dim, importance_scores=importance_scores)
    return module


def custom_from_mask(module: Module, name: str, mask: Tensor) -> Module:
    """Prune the elements where a mask is 0.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.
        mask: Mask of the parameter's shape.

    Returns:
        The module; its parameter is now `<name>_orig`, and `<name>_mask` is a buffer.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.custom_from_mask(layer, "bias", torch.tensor([1, 0, 1, 0, 1]))
        >>> int((layer.bias == 0).sum())
        2
    """
    CustomFromMask.apply(module, name, mask)
    return module


def global_unstructured(
    parameters: Iterable[tuple[Module, str]],
    pruning_method: type[BasePruningMethod],
    importance_scores: Mapping[tuple[Module, str], Tensor] | None = None,
    **kwargs: Any,
) -> None:
    """Prune several parameters together: an amount is a share of all their elements.

    Args:
        parameters: Pairs of module and name.
        pruning_method: Class of the method, such as `prune.L1Unstructured`.
        importance_scores: Scores by pair, instead of the parameters. Default: None.
        **kwargs: Arguments of the method.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> pairs = [(layer, "weight"), (layer, "bias")]
        >>> prune.global_unstructured(pairs, prune.L1Unstructured, amount=0.2)
        >>> int((layer.weight == 0).sum() + (layer.bias == 0).sum())
        5
    """
    if not isinstance(parameters, Iterable):
        raise TypeError("global_unstructured(): parameters is not an Iterable")
    scores = {} if importance_scores is None else importance_scores
    if not isinstance(scores, Mapping):
        raise TypeError("global_unstructured(): importance_scores is not a dict")
    targets = list(parameters)
    method = pruning_method(**kwargs)
    if method.PRUNING_TYPE != "unstructured":
        raise TypeError(
            'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. '
            f"Found method {pruning_method} of type {method.PRUNING_TYPE}"
        )
    tensors = [getattr(module, name) for module, name in targets]
    importance = parameters_to_vector(
        [scores.get(target, tensor) for target, tensor in zip(targets, tensors, strict=True)]
    )
    before = parameters_to_vector(
        [
            getattr(module, name + "_mask", flambeau.ones_like(tensor))
            for (module, name), tensor in zip(targets, tensors, strict=True)
        ]
    )
    method._tensor_name = "temp"
    mask = PruningContainer(method).compute_mask(importance, before)
    parts = mask.split([tensor.numel() for tensor in tensors])
    for (module, name), tensor, part in zip(targets, tensors, parts, strict=True):
        custom_from_mask(module, name, part.view_as(tensor))


def remove(module: Module, name: str) -> Module:
    """Make pruning permanent: the zeros become part of an ordinary parameter.

    Args:
        module: Module with the parameter.
        name: Name of the parameter.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> _ = prune.l1_unstructured(layer, "weight", amount=0.5)
        >>> _ = prune.remove(layer, "weight")
        >>> prune.is_pruned(layer)
        False
    """
    key = pruning_hook(module, name)
    if key is None:
        raise ValueError(
            f"Parameter '{name}' of module {module} has to be pruned before pruning can be removed"
        )
    hook = module._forward_pre_hooks.pop(key)
    assert isinstance(hook, BasePruningMethod)
    hook.remove(module)
    return module


def is_pruned(module: Module) -> bool:
    """Return whether a parameter of a module, or of one within it, is pruned.

    Args:
        module: The module.

    Example:
        >>> from flambeau.nn.utils import prune
        >>> layer = nn.Linear(4, 5)
        >>> prune.is_pruned(layer)
        False
    """
    return any(
        isinstance(hook, BasePruningMethod)
        for each in module.modules()
        for hook in each._forward_pre_hooks.values()
    )
