"""The base of pruning methods, and several of them applied in sequence."""

from __future__ import annotations

import abc
from collections.abc import Iterable, Iterator
from typing import Any

import flambeau
from flambeau import Tensor
from flambeau.nn.modules.module import Module

__all__ = ["BasePruningMethod", "PruningContainer", "pruning_hook"]


def pruning_hook(module: Module, name: str) -> int | None:
    """The key of the hook that prunes this parameter of the module."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, BasePruningMethod) and hook._tensor_name == name:
            return key
    return None


class BasePruningMethod(abc.ABC):
    """Hook of a pruned parameter. A subclass computes its mask in `compute_mask`.

    `PRUNING_TYPE` is "unstructured" if it prunes single elements, "structured" if whole slices
    along `dim`, and "global" if a further mask must see the elements that are already pruned.
    """

    PRUNING_TYPE: str
    _tensor_name: str

    def __call__(self, module: Module, inputs: Any) -> None:
        setattr(module, self._tensor_name, self.apply_mask(module))

    @abc.abstractmethod
    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask for a tensor of importance; `default_mask` is the pruning so far."""

    def apply_mask(self, module: Module) -> Tensor:
        """Return the parameter with zeros where the mask has them."""
        name = getattr(self, "_tensor_name", None)
        if name is None:
            raise AssertionError(f"Module {module} has to be pruned")
        mask, original = getattr(module, name + "_mask"), getattr(module, name + "_orig")
        pruned: Tensor = mask.to(dtype=original.dtype) * original
        return pruned

    @classmethod
    def apply(
        cls,
        module: Module,
        name: str,
        *args: Any,
        importance_scores: Tensor | None = None,
        **kwargs: Any,
    ) -> BasePruningMethod:
        """Prune a parameter, in addition to earlier pruning; the arguments are the method's."""
        method: BasePruningMethod = cls(*args, **kwargs)
        method._tensor_name = name
        key = pruning_hook(module, name)
        tensor = getattr(module, name)
        scores = tensor if importance_scores is None else importance_scores
        if scores.shape != tensor.shape:
            raise AssertionError(
                "importance_scores should have the same shape as parameter "
                f"{name} of {module}: {tuple(tensor.shape)}, got {tuple(scores.shape)}"
            )
        if key is None:
            mask = method.compute_mask(scores, flambeau.ones_like(tensor))
            del module._parameters[name]
            module.register_parameter(name + "_orig", tensor)
        else:
            method = _joined(module._forward_pre_hooks[key], method)
            mask = method.compute_mask(scores, getattr(module, name + "_mask").detach().clone())
            del module._forward_pre_hooks[key]
        module.register_buffer(name + "_mask", mask)
        setattr(module, name, method.apply_mask(module))
        module.register_forward_pre_hook(method)
        return method

    def prune(
        self,
        t: Tensor,
        default_mask: Tensor | None = None,
        importance_scores: Tensor | None = None,
    ) -> Tensor:
        """Return a tensor pruned by this method, once."""
        scores = t if importance_scores is None else importance_scores
        if scores.shape != t.shape:
            raise AssertionError("importance_scores should have the same shape as tensor t")
        before = flambeau.ones_like(t) if default_mask is None else default_mask
        return t * self.compute_mask(scores, default_mask=before)

    def remove(self, module: Module) -> None:
        """Make the parameter an ordinary one again, with the zeros in it."""
        name = self._tensor_name
        weight = self.apply_mask(module)
        if hasattr(module, name):
            delattr(module, name)
        original = module._parameters.pop(name + "_orig")
        assert original is not None
        original.data = weight.data
        del module._buffers[name + "_mask"]
        setattr(module, name, original)


class PruningContainer(BasePruningMethod):
    """Methods that were applied to one parameter, the latest last."""

    _pruning_methods: tuple[BasePruningMethod, ...]

    def __init__(self, *args: Any) -> None:
        self._pruning_methods = ()
        methods = args[0] if len(args) == 1 and isinstance(args[0], Iterable) else args
        for method in methods:
            if not self._pruning_methods and isinstance(method, BasePruningMethod):
                self._tensor_name = method._tensor_name
            self.add_pruning_method(method)

    def add_pruning_method(self, method: BasePruningMethod) -> None:
        """Add a method for the same parameter."""
        if not isinstance(method, BasePruningMethod):
            raise TypeError(f"{type(method)} is not a BasePruningMethod subclass")
        name = getattr(self, "_tensor_name", None)
        if name is not None and name != method._tensor_name:
            raise ValueError(
                "Can only add pruning methods acting on the parameter named "
                f"'{name}' to PruningContainer {self}. Found '{method._tensor_name}'"
            )
        self._pruning_methods += (method,)

    def __len__(self) -> int:
        return len(self._pruning_methods)

    def __iter__(self) -> Iterator[BasePruningMethod]:
        return iter(self._pruning_methods)

    def __getitem__(self, index: int) -> BasePruningMethod:
        return self._pruning_methods[index]

    def compute_mask(self, t: Tensor, default_mask: Tensor) -> Tensor:
        """Return the mask of the latest method, applied to what the others left."""
        method = self._pruning_methods[-1]
        left = _left_by(method, default_mask)
        mask = default_mask.clone()
        mask[left] = method.compute_mask(t[left], default_mask=mask[left]).to(mask.dtype)
        return mask


def _joined(before: Any, method: BasePruningMethod) -> PruningContainer:
    container = before if isinstance(before, PruningContainer) else PruningContainer(before)
    container.add_pruning_method(method)
    return container


def _left_by(method: BasePruningMethod, mask: Tensor) -> Any:
    """Return the index of what a method may still prune."""
    if method.PRUNING_TYPE == "unstructured":
        return mask == 1
    if method.PRUNING_TYPE == "global":
        return (slice(None),) * mask.ndim
    if method.PRUNING_TYPE == "structured":
        dim = method.dim % mask.ndim  # type: ignore[attr-defined]
        others = [d for d in range(mask.ndim) if d != dim]
        return (*[slice(None)] * dim, mask.sum(dim=others) != 0)
    raise ValueError(f"Unrecognized PRUNING_TYPE {method.PRUNING_TYPE}")
