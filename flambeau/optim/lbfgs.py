"""L-BFGS: Newton's method with the curvature seen in the last steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.optim._line_search import Length, Point, strong_wolfe
from flambeau.optim._options import check_lr, to_scalar
from flambeau.optim.optimizer import Optimizer, ParamsT

__all__ = ["LBFGS"]

Closure = Callable[[], Any]


class LBFGS(Optimizer):
    """Limited-memory BFGS: a quasi-Newton method over all parameters as one vector.

    A step makes several iterations and calls the closure for each, so `step` needs one. There can
    be one parameter group only.

    Args:
        params: Parameters to optimise: tensors, pairs of name and tensor, or dicts, each a group
            with options of its own (see `optim.Optimizer`).
        lr: Learning rate. Default: 1.
        max_iter: Iterations per step. Default: 20.
        max_eval: Calls of the closure per step. Default: 1.25 max_iter.
        tolerance_grad: Stop when no gradient is larger. Default: 1e-7.
        tolerance_change: Stop when loss and parameters change by less. Default: 1e-9.
        history_size: Number of past changes to remember. Default: 100.
        line_search_fn: `"strong_wolfe"`, or None for steps of length `lr`. Default: None.

    Example:
        >>> w = torch.tensor([3.0, -2.0], requires_grad=True)
        >>> optimizer = torch.optim.LBFGS([w], line_search_fn="strong_wolfe")
        >>> def closure():
        ...     optimizer.zero_grad()
        ...     loss = ((w - 1) ** 2).sum()
        ...     loss.backward()
        ...     return loss
        >>> _ = optimizer.step(closure)
        >>> w.detach()
        tensor([1.0000, 1.0000])

    See also:
        `optim.Optimizer.step`.
    """

    def __init__(
        self,
        params: ParamsT,
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        check_lr(lr)
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError(
                "LBFGS takes all parameters as one vector: expected one parameter group, but got "
                f"{len(self.param_groups)}"
            )

    @property
    def _params(self) -> list[Tensor]:
        params: list[Tensor] = self.param_groups[0]["params"]
        return params

    @fb.no_grad()
    def step(self, closure: Closure) -> Any:  # type: ignore[override]
        """Minimise what `closure` evaluates and differentiates; returns its first value."""
        if len(self.param_groups) != 1:
            raise AssertionError(f"LBFGS: expected one group, but got {len(self.param_groups)}")
        closure = fb.enable_grad()(closure)
        state = self.state[self._params[0]]  # of all parameters, kept with the first
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        state["func_evals"] += 1
        gradient = self._gather_flat_grad()
        if not self._fb_is_flat(gradient):
            self._fb_minimize(closure, float(first_loss), gradient, state)
        return first_loss

    def _fb_minimize(
        self, closure: Closure, loss: float, gradient: Tensor, state: dict[str, Any]
    ) -> None:
        group = self.param_groups[0]
        evaluations = 1
        for left in reversed(range(group["max_iter"])):
            state["n_iter"] += 1
            _set_direction(state, gradient, group["history_size"])
            state["prev_flat_grad"] = gradient
            state["prev_loss"] = loss
            state["t"] = self._fb_first_length(state, gradient)
            direction = state["d"]
            slope = gradient.dot(direction)
            if slope > -group["tolerance_change"]:
                return
            before = Point(0, loss, gradient, slope)
            if group["line_search_fn"] is None:
                after, used = self._fb_fixed_step(closure, before, state, evaluate=left > 0)
            else:
                trials = group["max_eval"] - evaluations
                after, used = self._fb_line_search(closure, before, state, trials)
            evaluations += used
            state["func_evals"] += used
            if left == 0 or evaluations >= group["max_eval"] or self._fb_is_flat(after.gradient):
                return
            if direction.mul(state["t"]).abs().max() <= group["tolerance_change"]:
                return
            if abs(after.loss - loss) < group["tolerance_change"]:
                return
            loss, gradient = after.loss, after.gradient

    def _fb_is_flat(self, gradient: Tensor) -> bool:
        return bool(gradient.abs().max() <= self.param_groups[0]["tolerance_grad"])

    def _fb_first_length(self, state: dict[str, Any], gradient: Tensor) -> Length:
        """How far to go first: nothing is known of the curvature at the very first iteration."""
        lr: Length = to_scalar(self.param_groups[0]["lr"])
        return min(1.0, 1.0 / gradient.abs().sum()) * lr if state["n_iter"] == 1 else lr

    def _fb_fixed_step(
        self, closure: Closure, before: Point, state: dict[str, Any], evaluate: bool
    ) -> tuple[Point, int]:
        """Go the length in `state`; what the function is there is not needed after the last."""
        self._add_grad(state["t"], state["d"])
        if not evaluate:
            return before, 0
        loss = float(closure())
        return before._replace(loss=loss, gradient=self._gather_flat_grad()), 1

    def _fb_line_search(
        self, closure: Closure, before: Point, state: dict[str, Any], trials: int
    ) -> tuple[Point, int]:
        """Search the length, put it into `state` and go it."""
        if self.param_groups[0]["line_search_fn"] != "strong_wolfe":
            raise RuntimeError(
                "LBFGS: line_search_fn must be None or 'strong_wolfe', but is "
                f"{self.param_groups[0]['line_search_fn']!r}"
            )
        direction = state["d"]
        origin = self._clone_param()

        def evaluate(t: Length) -> Point:
            self._add_grad(t, direction)
            loss = float(closure())
            gradient = self._gather_flat_grad()
            self._set_param(origin)
            return Point(t, loss, gradient, gradient.dot(direction))

        reach = direction.abs().max()
        found, used = strong_wolfe(evaluate, before, state["t"], reach, trials)
        state["t"] = found.t
        self._add_grad(found.t, direction)
        return found, used

    def _gather_flat_grad(self) -> Tensor:
        """The gradients of all parameters as one new vector; complex ones by their parts."""
        return fb.cat([_flat_grad(p) for p in self._params])

    def _add_grad(self, step_size: Length, update: Tensor) -> None:
        """Add a multiple of a vector of all parameters to them."""
        params = [fb.view_as_real(p) if fb.is_complex(p) else p for p in self._params]
        parts = update.split([p.numel() for p in params])
        for p, part in zip(params, parts, strict=True):
            p.add_(part.view_as(p), alpha=step_size)

    def _clone_param(self) -> list[Tensor]:
        return [p.clone() for p in self._params]

    def _set_param(self, values: list[Tensor]) -> None:
        for p, value in zip(self._params, values, strict=True):
            p.copy_(value)


def _flat_grad(parameter: Tensor) -> Tensor:
    grad = fb.zeros_like(parameter) if parameter.grad is None else parameter.grad
    if grad.is_sparse:
        grad = grad.to_dense()
    return (fb.view_as_real(grad) if fb.is_complex(grad) else grad).reshape(-1)


def _set_direction(state: dict[str, Any], gradient: Tensor, history_size: int) -> None:
    """The direction to go: down the gradient, turned by the curvature that is remembered."""
    if state["n_iter"] == 1:
        state.update(d=gradient.neg(), old_dirs=[], old_stps=[], ro=[], H_diag=1)
        return
    change = gradient.sub(state["prev_flat_grad"])
    way = state["d"].mul(state["t"])
    curvature = change.dot(way)
    if curvature > 1e-10:
        for name, new in (("old_dirs", change), ("old_stps", way), ("ro", 1.0 / curvature)):
            if len(state[name]) == history_size:
                state[name].pop(0)
            state[name].append(new)
        state["H_diag"] = curvature / change.dot(change)
    state["d"] = _two_loops(state, gradient, history_size)


def _two_loops(state: dict[str, Any], gradient: Tensor, history_size: int) -> Tensor:
    """Minus the approximate inverse Hessian times the gradient (Nocedal and Wright, 7.4)."""
    changes, ways, ro = state["old_dirs"], state["old_stps"], state["ro"]
    al = state.setdefault("al", [None] * history_size)
    direction = gradient.neg()
    for i in reversed(range(len(changes))):
        al[i] = ways[i].dot(direction) * ro[i]
        direction.add_(changes[i], alpha=-al[i])
    direction = direction.mul_(state["H_diag"])
    for i in range(len(changes)):
        direction.add_(ways[i], alpha=al[i] - changes[i].dot(direction) * ro[i])
    return direction
