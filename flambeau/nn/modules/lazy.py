"""Modules whose sizes the first input tells."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau.nn.parameter import is_lazy

__all__ = ["LazyModuleMixin"]


class LazyModuleMixin:
    """Makes a module lazy: it is given its sizes by the first input, or by a state dict.

    A lazy class derives from this one and from the class that ``cls_to_become`` names. It creates
    ``UninitializedParameter`` objects and gives them their sizes in `initialize_parameters`. When
    that is done its objects become objects of the other class.
    """

    cls_to_become: type[Any] | None = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def _save_to_state_dict(self: Any, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Put the state into ``destination``: what has no size yet as it is."""
        for name, tensor in self._fb_saved_tensors().items():
            keep = keep_vars or is_lazy(tensor)
            destination[prefix + name] = tensor if keep else tensor.detach()

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *args: Any) -> None:
        """Take the sizes from a state dict that is about to be loaded."""
        for name, tensor in [*self._parameters.items(), *self._buffers.items()]:
            given = state_dict.get(prefix + name)
            if is_lazy(tensor) and given is not None and not is_lazy(given):
                with fb.no_grad():
                    tensor.materialize(given.shape)

    def initialize_parameters(self: Any, *args: Any, **kwargs: Any) -> None:
        """Give every uninitialized parameter and buffer its size, from the first input."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer of this module alone has no size yet."""
        return any(is_lazy(each) for each in [*self._parameters.values(), *self._buffers.values()])

    def _infer_parameters(
        self: Any, module: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None
    ) -> None:
        """Take the sizes from the first input, before it goes in."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _replicate_for_data_parallel(self: Any) -> Any:
        raise RuntimeError(
            "Modules with uninitialized parameters can't be used with `DataParallel`. Run a dummy "
            "forward pass to correctly initialize the modules"
        )
