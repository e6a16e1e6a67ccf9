"""Adam for sparse gradients: rows of a table that had no part in the loss stay as they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import _C, Tensor
from flambeau.optim._options import check_betas, check_range, number, to_scalar
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["SparseAdam", "sparse_adam"]


class SparseAdam(Optimizer):
    """Adam for sparse gradients: only the rows that have one are updated.

    Parameters are dense, gradients sparse, as those of `nn.Embedding(..., sparse=True)`.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1e-3.
        betas: Decay rates of the averages of gradient and squared gradient.
            Default: (0.9, 0.999).
        eps: Added to the denominator. Default: 1e-8.
        maximize: Whether to maximise the objective. Default: False.

    Example:
        >>> table = nn.Embedding(10, 2, sparse=True)
        >>> optimizer = torch.optim.SparseAdam(table.parameters(), lr=0.1)
        >>> before = table.weight.detach().clone()
        >>> table(torch.tensor([3])).sum().backward()
        >>> optimizer.step()
        >>> (table.weight.detach() != before).any(1).nonzero().flatten()
        tensor([3])

    See also:
        `optim.Adam`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_range(lr > 0.0, "learning rate", lr)
        check_range(eps > 0.0, "epsilon value", eps)
        check_betas(betas)
        defaults = {"lr": to_scalar(lr), "betas": betas, "eps": eps, "maximize": maximize}
        super().__init__(params, defaults)
        self._fb_check_params("Sparse", "requires dense parameter tensors", lambda p: p.is_sparse)
        self._fb_check_params(
            "Complex", "does not support complex parameters", lambda p: p.is_complex()
        )

    def _fb_check_params(self, what: str, why: str, is_wrong: Callable[[Tensor], bool]) -> None:
        places = [
            [i, j]
            for i, group in enumerate(self.param_groups)
            for j, param in enumerate(group["params"])
            if is_wrong(param)
        ]
        if places:
            raise ValueError(f"{what} params at indices {places}: SparseAdam {why}")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; a closure computes these and the loss first."""
        loss = None
        if closure is not None:
            with fb.enable_grad():
                loss = closure()
        with fb.no_grad():
            for group in self.param_groups:
                for param in group["params"]:
                    if param.grad is not None:
                        self._fb_step_one(param, param.grad, group)
        return loss

    def _fb_step_one(self, param: Tensor, grad: Tensor, group: dict[str, Any]) -> None:
        if not grad.is_sparse:
            raise RuntimeError(
                "SparseAdam does not support dense gradients, please consider Adam instead"
            )
        state = self.state[param]
        if not state:
            state["step"] = 0
            state["exp_avg"] = fb.zeros_like(param, requires_grad=False)
            state["exp_avg_sq"] = fb.zeros_like(param, requires_grad=False)
        state["step"] += 1
        beta1, beta2 = group["betas"]
        _step(
            param,
            grad,
            state["exp_avg"],
            state["exp_avg_sq"],
            state["step"],
            beta1=beta1,
            beta2=beta2,
            lr=number(group["lr"]),
            eps=group["eps"],
            maximize=group["maximize"],
        )


def _step(
    param: Tensor,
    grad: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    step: int,
    *,
    beta1: float,
    beta2: float,
    lr: float,
    eps: float,
    maximize: bool,
) -> None:
    step_size = lr * (1 - beta2**step) ** 0.5 / (1 - beta1**step)
    _C._sparse_adam_(param, exp_avg, exp_avg_sq, grad, beta1, beta2, step_size, eps, maximize)


def sparse_adam(
    params: list[Tensor],
    grads: list[Tensor],
    exp_avgs: list[Tensor],
    exp_avg_sqs: list[Tensor],
    state_steps: list[int],
    *,
    eps: float,
    beta1: float,
    beta2: float,
    lr: float,
    maximize: bool,
) -> None:
    """Take a step of `SparseAdam` with parameters, gradients and state given as lists."""
    options: dict[str, Any] = {
        "beta1": beta1,
        "beta2": beta2,
        "lr": lr,
        "eps": eps,
        "maximize": maximize,
    }
    for i, param in enumerate(params):
        _step(param, grads[i], exp_avgs[i], exp_avg_sqs[i], state_steps[i], **options)
