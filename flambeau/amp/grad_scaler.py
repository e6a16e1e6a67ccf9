"""Loss scaling, so that 16-bit gradients do not underflow."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.amp._unscaling import unscale

if TYPE_CHECKING:
    from flambeau.optim import Optimizer

__all__ = ["GradScaler", "OptState"]


class OptState(Enum):
    """The progress of an optimiser since the last update of the scale."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


class GradScaler:
    """Scale losses so that gradients in float16 do not underflow.

    The scale grows while gradients are finite; after one that is not, the step is skipped and
    the scale shrinks.

    Args:
        device: Kind of device. Default: `"cuda"`.
        init_scale: First scale. Default: 65536.
        growth_factor: Factor by which the scale grows. Default: 2.
        backoff_factor: Factor by which it shrinks after an infinite gradient. Default: 0.5.
        growth_interval: Number of good steps before it grows. Default: 2000.
        enabled: Whether to scale at all. Default: True.

    Example:
        >>> model = nn.Linear(4, 1)
        >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        >>> scaler = torch.amp.GradScaler("cpu")
        >>> loss = model(torch.ones(1, 4)).sum()
        >>> scaler.scale(loss).backward()
        >>> _ = scaler.step(optimizer)
        >>> scaler.update()
        >>> scaler.get_scale()
        65536.0

    See also:
        `torch.autocast`.
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda" and not fb.cuda.is_available():
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.",
                stacklevel=2,
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._scale: Tensor | None = None  # made when it is first needed
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        self._growth_tracker: Tensor | None = None  # steps since the scale changed
        self._per_optimizer_states: dict[int, dict[str, Any]] = defaultdict(
            _refresh_per_optimizer_state
        )

    # --- the loss

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or all tensors in lists and tuples, by the scale.

        Args:
            outputs: A tensor, usually the loss, or a container of tensors.

        Example:
            >>> model = nn.Linear(4, 1)
            >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = torch.amp.GradScaler("cpu")
            >>> loss = model(torch.ones(1, 4)).sum()
            >>> scaler.scale(loss).backward()
            >>> model.bias.grad
            tensor([65536.])
        """
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            return outputs * self._fb_scale_now(outputs.device).to(outputs.device)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(each) for each in outputs)
        if isinstance(outputs, Iterable):
            return map(self.scale, outputs)
        raise ValueError("outputs must be a Tensor or an iterable of Tensors")

    def _fb_scale_now(self, device: fb.device) -> Tensor:
        """The scale, made on this device if there is none yet."""
        if self._scale is None:
            self._lazy_init_scale_growth_tracker(device)
        assert self._scale is not None
        return self._scale

    def _lazy_init_scale_growth_tracker(self, dev: fb.device) -> None:
        if self._growth_tracker is not None:
            raise AssertionError("_growth_tracker initialized before _scale")
        self._scale = fb.full((), self._init_scale, dtype=fb.float32, device=dev)
        self._growth_tracker = fb.full((), self._init_growth_tracker, dtype=fb.int32, device=dev)

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        hint = "call scaler.scale(loss) before backward."
        if self._scale is None:
            raise AssertionError(f"{funcname} needs a scale, but there is none yet: {hint}")
        if self._growth_tracker is None:
            raise AssertionError(
                f"{funcname} needs a count of steps, but there is none yet: {hint}"
            )
        return self._scale, self._growth_tracker

    # --- the gradients

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimiser's parameters by the scale, as before clipping them.

        Args:
            optimizer: The optimiser; its `step` then does not divide again.

        Example:
            >>> model = nn.Linear(4, 1)
            >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = torch.amp.GradScaler("cpu")
            >>> loss = model(torch.ones(1, 4)).sum()
            >>> scaler.scale(loss).backward()
            >>> scaler.unscale_(optimizer)
            >>> model.bias.grad
            tensor([1.])
        """
        if not self._enabled:
            return
        self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        scale, _ = self._check_scale_growth_tracker("unscale_")
        inverse = scale.double().reciprocal().float()
        found_inf = fb.full((), 0.0, dtype=fb.float32, device=scale.device)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found_inf, False)
        state["stage"] = OptState.UNSCALED

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[fb.device, Tensor]:
        """Multiply all gradients in one pass; return for each device whether one was not finite."""
        gradients = []
        for group in optimizer.param_groups:
            for param in group["params"]:
                if param.grad is None:
                    continue
                if param.grad.dtype == fb.float16 and not allow_fp16:
                    raise ValueError("Attempting to unscale FP16 gradients.")
                gradients.append(_elements(param))
        return unscale(gradients, inv_scale, found_inf)

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Call the optimiser's step, unless a gradient is infinite or NaN.

        Gradients are divided by the scale first, if `unscale_` has not done so.

        Args:
            optimizer: The optimiser.
            *args: Arguments of its step.
            **kwargs: Keyword arguments of its step.

        Returns:
            What the step returned; None if it was skipped.

        Example:
            >>> model = nn.Linear(4, 1)
            >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = torch.amp.GradScaler("cpu")
            >>> loss = model(torch.ones(1, 4)).sum()
            >>> scaler.scale(loss).backward()
            >>> _ = scaler.step(optimizer)
            >>> model.bias.grad
            tensor([1.])
        """
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            result = self._fb_scaled_step(optimizer, state, args, kwargs)
        else:
            result = self._fb_plain_step(optimizer, state, args, kwargs)
        state["stage"] = OptState.STEPPED
        return result

    def _fb_plain_step(
        self, optimizer: Optimizer, state: dict[str, Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        if state["stage"] is OptState.READY:
            self.unscale_(optimizer)
        if not state["found_inf_per_device"]:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        return self._maybe_opt_step(optimizer, state, *args, **kwargs)

    def _maybe_opt_step(
        self, optimizer: Optimizer, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def _fb_scaled_step(
        self, optimizer: Any, state: dict[str, Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        """The step of an optimiser that unscales gradients itself."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(
                "a step with the argument grad_scaler is deprecated: let it read the attributes "
                "grad_scale and found_inf of the optimizer, which are set while it runs",
                FutureWarning,
                stacklevel=3,
            )
            return optimizer.step(*args, **kwargs, grad_scaler=self)
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        found = list(state["found_inf_per_device"].values())
        optimizer.grad_scale = None if state["stage"] is OptState.UNSCALED else self._scale
        optimizer.found_inf = self._fb_together(found) if found else None
        try:
            return optimizer.step(*args, **kwargs)
        finally:
            del optimizer.grad_scale, optimizer.found_inf

    def _check_inf_per_device(self, optimizer: Optimizer) -> dict[fb.device, Tensor]:
        """Check gradients for infinities and NaN, without changing them."""
        scale, _ = self._check_scale_growth_tracker("_check_inf_per_device")
        one = fb.full((), 1.0, dtype=fb.float32, device=scale.device)
        found = fb.full((), 0.0, dtype=fb.float32, device=scale.device)
        per_device = self._unscale_grads_(optimizer, one, found, True)
        self._per_optimizer_states[id(optimizer)]["found_inf_per_device"] = per_device
        return per_device

    def _found_inf_per_device(self, optimizer: Optimizer) -> dict[fb.device, Tensor]:
        found: dict[fb.device, Tensor] = self._per_optimizer_states[id(optimizer)][
            "found_inf_per_device"
        ]
        return found

    # --- the scale

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adjust the scale at the end of an iteration.

        Args:
            new_scale: Scale to set. Default: grow or shrink by what the steps found.

        Example:
            >>> model = nn.Linear(4, 1)
            >>> optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
            >>> scaler = torch.amp.GradScaler("cpu")
            >>> loss = model(torch.ones(1, 4)).sum()
            >>> scaler.scale(loss).backward()
            >>> _ = scaler.step(optimizer)
            >>> scaler.update()
        """
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if new_scale is not None:
            self._fb_set_scale(scale, new_scale)
        else:
            found = [
                each
                for state in self._per_optimizer_states.values()
                for each in state["found_inf_per_device"].values()
            ]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            _C._amp_update_scale_(
                scale,
                tracker,
                self._fb_together(found),
                self._growth_factor,
                self._backoff_factor,
                self._growth_interval,
            )
        self._per_optimizer_states = defaultdict(_refresh_per_optimizer_state)

    def _fb_together(self, found: list[Tensor]) -> Tensor:
        """The check results of all devices, on the device of the scale."""
        scale, _ = self._check_scale_growth_tracker("update")
        first, *others = (each.to(scale.device) for each in found)
        return sum(others, first)

    def _fb_set_scale(self, scale: Tensor, value: float | Tensor) -> None:
        if isinstance(value, float):
            scale.fill_(value)
            return
        if value.numel() != 1 or value.requires_grad:
            raise AssertionError(
                "new_scale should be a float or a 1-element tensor that does not require gradients"
            )
        scale.copy_(value)

    def get_scale(self) -> float:
        """The scale; 1 if the scaler is not enabled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def _get_scale_async(self) -> Tensor | None:
        return self._scale

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        if self._growth_tracker is None:
            return self._init_growth_tracker
        return int(self._growth_tracker.item())

    # --- options

    def get_growth_factor(self) -> float:
        """The factor by which the scale grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """The factor by which the scale shrinks after gradients that were not finite."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set the factor by which the scale shrinks after gradients that were not finite."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """The number of successful steps before the scale grows."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set the number of successful steps before the scale grows."""
        self._growth_interval = new_interval

    def is_enabled(self) -> bool:
        """Whether losses are scaled at all."""
        return self._enabled

    # --- checkpoints

    def state_dict(self) -> dict[str, Any]:
        """Return scale and options; nothing if the scaler is not enabled.

        Example:
            >>> torch.amp.GradScaler("cpu").state_dict()["scale"]
            65536.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restore what `state_dict` returned.

        Args:
            state_dict: Scale and options.

        Example:
            >>> scaler = torch.amp.GradScaler("cpu")
            >>> scaler.load_state_dict(scaler.state_dict() | {"scale": 8.0})
            >>> scaler.get_scale()
            8.0
        """
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved from a disabled "
                "instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        if self._scale is not None:
            self._scale.fill_(state_dict["scale"])
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(state_dict["_growth_tracker"])

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler can only be pickled between iterations: after update(), or "
                    "before the first step()."
                )
            # Numbers, of which the tensors are made anew.
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = None
            state["_growth_tracker"] = None
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)


def _elements(param: Tensor) -> Tensor:
    """The values of a gradient: of a sparse one, its stored values."""
    grad = param.grad
    assert grad is not None
    if not grad.is_sparse:
        return grad
    if grad.dtype == fb.float16:
        # Values at one index may overflow when they are added.
        grad = param.grad = grad.coalesce()
    return grad._values()
