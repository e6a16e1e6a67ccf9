"""What the options of optimisers have in common: checks, defaults of old pickles, numbers."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor

__all__ = [
    "LATER_OPTIONS",
    "check_betas",
    "check_fused",
    "check_fused_param",
    "check_lr",
    "check_range",
    "complete_groups",
    "decayed",
    "number",
    "scalar_dtype",
    "scalar_zero",
    "shrunk",
    "step_of",
    "to_scalar",
]


# What most optimisers have learned since the first pickles of them, see
# Optimizer._fb_later_options.
LATER_OPTIONS: dict[str, Any] = {
    "foreach": None,
    "maximize": False,
    "differentiable": False,
    "capturable": False,
}


def check_lr(lr: Any) -> None:
    """Refuse a learning rate that is no number from 0 on."""
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError("Tensor lr must be 1-element")
    if not lr >= 0.0:
        raise ValueError(f"Invalid learning rate: {lr}")


def check_range(holds: Any, what: str, value: Any) -> None:
    """Refuse an option whose condition does not hold."""
    if not holds:
        raise ValueError(f"Invalid {what}: {value}")


def check_betas(betas: Any) -> None:
    """Refuse weights of running averages outside of [0, 1)."""
    for index in (0, 1):
        check_range(0.0 <= betas[index] < 1.0, f"beta parameter at index {index}", betas[index])


def check_fused(optimizer: Any, fused: Any, foreach: Any, differentiable: Any) -> None:
    """Refuse options of which PyTorch allows one at a time; here all steps are fused."""
    if not fused:
        return
    # A GradScaler leaves it to the step to scale gradients back.
    optimizer._step_supports_amp_scaling = True
    if differentiable:
        raise RuntimeError("`fused` does not support `differentiable`")
    if foreach:
        raise RuntimeError("`fused` and `foreach` cannot be `True` together.")


def check_fused_param(param: Tensor, group: dict[str, Any]) -> None:
    """Refuse a parameter that ``fused=True`` promises not to have."""
    if group.get("fused") and not param.is_floating_point():
        devices = ["mps", "cuda", "xpu", "hpu", "cpu", "mtia"]
        raise RuntimeError(
            "`fused=True` requires all the params to be floating point Tensors of supported "
            f"devices: {devices} but {param.dtype} and {param.device.type}"
        )


def complete_groups(optimizer: Any, defaults: dict[str, Any]) -> None:
    """Give groups that were pickled by an older version the options that they lack.

    Numbers in the state, which were plain numbers once, become tensors.
    """
    for group in optimizer.param_groups:
        for name, value in defaults.items():
            group.setdefault(name, value)
        for param in group["params"]:
            state = optimizer.state.get(param) or {}
            for name in ("step", "mu_product", "eta", "mu"):
                if name in state and not isinstance(state[name], Tensor):
                    dtype = scalar_dtype(group.get("fused"))
                    state[name] = fb.tensor(float(state[name]), dtype=dtype)


def scalar_dtype(fused: Any = None) -> fb.dtype:
    """The type in which steps are counted."""
    is_double = not fused and fb.get_default_dtype() == fb.float64
    return fb.float64 if is_double else fb.float32


def scalar_zero(group: dict[str, Any]) -> Tensor:
    """The number of steps of a parameter that has made none."""
    return fb.zeros((), dtype=scalar_dtype(group.get("fused")))


def step_of(state: dict[str, Any]) -> float:
    """Count a step, and return how many there are now."""
    state["step"] += 1
    return float(state["step"])


def to_scalar(value: Any) -> Any:
    """A tensor of one element without dimensions; numbers stay as they are."""
    return value.squeeze() if isinstance(value, Tensor) and value.dim() != 0 else value


def number(value: Any) -> Any:
    """A tensor's only element; one that a gradient is wanted of in a recorded step is refused."""
    if not isinstance(value, Tensor):
        return value
    if value.requires_grad and fb.is_grad_enabled():
        raise RuntimeError(
            "differentiable: this optimizer takes its options as numbers, through which no "
            "gradient flows; detach() the learning rate and other options, or use SGD, Adam, NAdam "
            "or RAdam"
        )
    return value.item()


def decayed(param: Tensor, grad: Tensor, group: dict[str, Any]) -> Tensor:
    """The gradient of what is minimised: turned round to maximise, with the weights' share."""
    if group["maximize"]:
        grad = -grad
    weight_decay = group["weight_decay"]
    if isinstance(weight_decay, Tensor) and weight_decay.requires_grad:
        return grad.addcmul(param.clone(), weight_decay)
    return grad.add(param, alpha=number(weight_decay)) if weight_decay != 0 else grad


def shrunk(param: Tensor, grad: Tensor, group: dict[str, Any]) -> tuple[Tensor, Tensor]:
    """The parameter and its gradient after weight decay, decoupled from the gradient or not."""
    if not group["decoupled_weight_decay"]:
        return param, decayed(param, grad, group)
    if group["weight_decay"] != 0:
        kept = 1 - to_scalar(group["lr"]) * group["weight_decay"]
        # A share with a gradient keeps the parameter for it, which the step is about to change.
        is_learned = isinstance(kept, Tensor) and kept.requires_grad
        param = (param.clone() if is_learned else param).mul(kept)
    return param, -grad if group["maximize"] else grad
