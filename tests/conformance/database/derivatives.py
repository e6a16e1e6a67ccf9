"""An operator's derivatives in both modes, and the operator under vmap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from tests.conformance.database.case import Case
from tests.conformance.database.compare import difference
from tests.conformance.database.run import attempt, ours
from tests.conformance.database.translate import map_tensors
from tests.ops.check import is_tensor, outputs


def _differentiable(value: Any) -> list[Any]:
    return [each for each in outputs(value) if is_tensor(each) and each.requires_grad]


def leaves(module: Any, value: Any) -> list[Any]:
    """The tensors in a value that require gradients."""
    found: list[Any] = []

    def keep(tensor: Any) -> Any:
        if tensor.requires_grad:
            found.append(tensor)
        return tensor

    map_tensors(keep, value, module)
    return found


def weight(module: Any, like: Any, seed: int) -> Any:
    """Numbers of the shape and dtype of a tensor: the same for both modules."""
    values = np.random.default_rng(seed)
    made = values.uniform(-1, 1, tuple(like.shape))
    if like.is_complex():
        made = made + 1j * values.uniform(-1, 1, tuple(like.shape))
    return module.from_numpy(np.asarray(made)).to(like.dtype)


def check_gradient(case: Case) -> str | None:
    """Reverse mode: the gradients of a weighted sum of the results."""

    def call(module: Any) -> Any:
        args, kwargs = case.arguments(module)
        found = leaves(module, (args, kwargs))
        result = case.differentiated(module, args, kwargs)
        roots = _differentiable(result)
        if not roots or not found:
            return None
        weights = [weight(module, each, i) for i, each in enumerate(roots)]
        gradients = module.autograd.grad(roots, found, weights, allow_unused=True)
        return [
            module.zeros_like(leaf) if each is None else each
            for leaf, each in zip(found, gradients, strict=True)
        ]

    return _where_torch_can(call)


def check_forward_mode(case: Case) -> str | None:
    """Forward mode: the tangents of the results."""
    if not case.info.supports_forward_ad:
        return None

    def call(module: Any) -> Any:
        forward = module.autograd.forward_ad
        args, kwargs = case.arguments(module)
        count = 0

        def dual(tensor: Any) -> Any:
            nonlocal count
            if not tensor.requires_grad:
                return tensor
            count += 1
            plain = tensor.detach()
            return forward.make_dual(plain, weight(module, plain, count))

        with forward.dual_level():
            args, kwargs = (map_tensors(dual, each, module) for each in (args, kwargs))
            result = case.differentiated(module, args, kwargs)
            parts = [each for each in outputs(result) if is_tensor(each)]
            parts = [each for each in parts if each.is_floating_point() or each.is_complex()]
            tangents = [forward.unpack_dual(each).tangent for each in parts]
            return [
                module.zeros_like(part) if each is None else each.clone()
                for part, each in zip(parts, tangents, strict=True)
            ]

    return _where_torch_can(call)


def check_vmap(case: Case) -> str | None:
    """A batch of two at once."""

    def call(module: Any) -> Any:
        args, kwargs = case.arguments(module)
        tensors: list[Any] = []

        def keep(tensor: Any) -> Any:
            tensors.append(_batch(module, tensor.detach()))
            return tensor

        map_tensors(keep, (args, kwargs), module)
        if not tensors:
            return None

        def one(*parts: Any) -> Any:
            left = iter(parts)
            mine, named = map_tensors(lambda _: next(left), (args, kwargs), module)
            return case.unique(case.function(module)(*mine, **named))

        return module.func.vmap(one, randomness="same")(*tensors)

    return _where_torch_can(call)


def _batch(module: Any, tensor: Any) -> Any:
    """A tensor and another like it: what is positive or small stays so."""
    other = tensor * 0.75 if tensor.is_floating_point() or tensor.is_complex() else tensor
    return module.stack([tensor, other.to(tensor.dtype)])


def _where_torch_can(call: Callable[[Any], Any]) -> str | None:
    theirs = attempt(lambda: call(torch))
    if isinstance(theirs, Exception) or theirs is None:
        return None
    return difference(ours(call, theirs), theirs, strides=False, scaled=True)


DERIVATIVES = {
    "gradient": check_gradient,
    "forward mode": check_forward_mode,
    "vmap": check_vmap,
}
