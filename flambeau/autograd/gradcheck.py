"""`gradcheck` and `gradgradcheck`: gradients compared with finite differences."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import flambeau as fb
from flambeau import Tensor
from flambeau._limits.accepted import accepted
from flambeau.autograd import _jacobian as jac
from flambeau.autograd.function import Function, FunctionCtx

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]

_BACKWARD = "Jacobian mismatch"
_FORWARD = "Jacobian computed with forward mode mismatch"


class GradcheckError(RuntimeError):
    """A derivative is not what it should be."""


class _Options(NamedTuple):
    eps: float
    atol: float
    rtol: float
    nondet_tol: float
    check_undefined_grad: bool
    check_grad_dtypes: bool
    check_batched_grad: bool
    check_batched_forward_grad: bool
    check_forward_ad: bool
    check_backward_ad: bool
    fast_mode: bool


def gradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of a function with finite differences.

    Args:
        func: Function of tensors.
        inputs: Its arguments; those that require gradients should be of double precision.
        eps: Width of the differences. Default: 1e-6.
        atol, rtol: Absolute and relative tolerance. Default: 1e-5 and 1e-3.
        raise_exception: Whether a difference raises instead of returning False. Default: True.
        nondet_tol: Difference allowed between two runs. Default: 0.
        check_undefined_grad: Whether to try outputs without a gradient. Default: True.
        check_grad_dtypes: Whether gradients must have the type of the input. Default: False.
        check_batched_grad: Whether to try batched gradients. Default: False.
        check_batched_forward_grad: Whether to try batched tangents. Default: False.
        check_forward_ad: Whether to check forward mode. Default: False.
        check_backward_ad: Whether to check backward. Default: True.
        fast_mode: Whether to compare along one random direction only. Default: False.
        masked: Accepted; concerns sparse tensors.

    Returns:
        True, or False without `raise_exception`.

    Raises:
        GradcheckError: A gradient differs.

    Example:
        >>> x = torch.randn(3, dtype=torch.float64, requires_grad=True)
        >>> torch.autograd.gradcheck(torch.sin, x)
        True

    See also:
        `autograd.gradgradcheck`.
    """
    if masked:
        accepted("torch.autograd.gradcheck(masked)")
    options = _Options(
        eps,
        atol,
        rtol,
        nondet_tol,
        check_undefined_grad,
        check_grad_dtypes,
        check_batched_grad,
        check_batched_forward_grad,
        check_forward_ad,
        check_backward_ad,
        fast_mode,
    )
    _check_options(options)
    try:
        _check(func, jac.as_tuple(inputs), options)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Tensor | Sequence[Any],
    grad_outputs: Tensor | Sequence[Tensor | None] | None = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare second derivatives with finite differences: `gradcheck` of the backward of `func`.

    The backward is a function of `inputs` and of `grad_outputs`, which are drawn at random unless
    given. `check_fwd_over_rev` and `check_rev_over_rev` say how it is differentiated.
    """
    arguments = jac.as_tuple(inputs)
    problem = jac.Problem(func, arguments)
    grads = _grad_outputs(problem, grad_outputs, gen_non_contig_grad_outputs)

    def backward(*arguments_and_grads: Any) -> tuple[Tensor, ...]:
        at = arguments_and_grads[: len(arguments)]
        results = jac.as_tuple(func(*at))
        first: tuple[Tensor | None, ...] = fb.autograd.grad(
            [results[i] for i in problem.given],
            [at[i] for i in problem.wanted],
            arguments_and_grads[len(arguments) :],
            create_graph=True,
            allow_unused=True,
        )
        return tuple(g for g in first if g is not None)

    return gradcheck(
        backward,
        (*arguments, *grads),
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _check_options(options: _Options) -> None:
    if not (options.check_backward_ad or options.check_forward_ad):
        raise AssertionError(
            "Expected at least one of check_forward_ad or check_backward_ad to be True"
        )
    if options.check_batched_grad and not options.check_backward_ad:
        raise AssertionError(
            "Setting check_batched_grad=True requires check_backward_ad to be True"
        )
    if options.check_batched_forward_grad and not options.check_forward_ad:
        raise AssertionError(
            "Setting check_batched_forward_grad=True requires check_forward_ad to be True"
        )


def _check(func: Callable[..., Any], inputs: tuple[Any, ...], options: _Options) -> None:
    _check_inputs(inputs)
    problem = jac.Problem(func, inputs)
    if not problem.outputs:
        _check_constant(problem, options)
        return
    if options.fast_mode:
        _check_along_directions(problem, options)
    else:
        _check_elements(problem, options)
    if options.check_backward_ad:
        _check_gradients(problem, options)
        _check_repeatable(problem, options)
        if options.check_undefined_grad:
            _check_undefined(problem)
        if options.check_batched_grad:
            _check_batched(problem)
    if options.check_batched_forward_grad:
        _check_batched_forward(problem)


def _check_inputs(inputs: tuple[Any, ...]) -> None:
    leaves = {i: x for i, x in enumerate(inputs) if isinstance(x, Tensor) and x.requires_grad}
    if not leaves:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them "
            "have requires_grad=True."
        )
    for i, leaf in leaves.items():
        if leaf.dtype not in (fb.float64, fb.complex128):
            warnings.warn(
                f"Input #{i} requires gradient and is not a double precision floating point or "
                "complex. This check will likely fail if all the inputs are not of double "
                "precision floating point or complex.",
                stacklevel=4,
            )
        if any(
            size > 1 and step == 0 for size, step in zip(leaf.shape, leaf.stride(), strict=True)
        ):
            raise RuntimeError(
                f"The {i}th input has a dimension with stride 0. gradcheck only supports inputs "
                "that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )


def _check_constant(problem: jac.Problem, options: _Options) -> None:
    """No output requires gradients, so none may depend on the inputs."""
    outputs = jac.Problem(problem.function, problem.inputs, jac.is_inexact)
    for j, leaf in zip(outputs.wanted, outputs.leaves, strict=True):
        for i, matrix in zip(outputs.given, jac.numerical(outputs, leaf, options.eps), strict=True):
            if (matrix.abs() > options.atol).any():
                raise GradcheckError(
                    "Numerical gradient for function expected to be zero: no output requires "
                    f"gradients, but output {i} depends on input {j}:\n{matrix}"
                )


def _check_elements(problem: jac.Problem, options: _Options) -> None:
    backward = []
    if options.check_backward_ad:
        backward = [jac.by_backward(y, problem.leaves) for y in problem.outputs]
    for which, leaf in enumerate(problem.leaves):
        numerical = jac.numerical(problem, leaf, options.eps)
        for i, rows in enumerate(backward):
            _compare(problem, options, (i, which), rows[which], numerical[i], _BACKWARD)
        if options.check_forward_ad:
            forward = jac.by_forward(problem, which)
            for i, matrix in enumerate(numerical):
                _compare(problem, options, (i, which), forward[i], matrix, _FORWARD)


def _compare(
    problem: jac.Problem,
    options: _Options,
    place: tuple[int, int],
    analytical: Tensor,
    numerical: Tensor,
    title: str,
) -> None:
    analytical = analytical.to(numerical.dtype)
    if fb.allclose(analytical, numerical, rtol=options.rtol, atol=options.atol):
        return
    output, leaf = problem.outputs[place[0]], problem.leaves[place[1]]
    difference = (analytical - numerical).abs()
    flat = int(difference.nan_to_num(nan=fb.inf).argmax().item())
    row, column = divmod(flat, numerical.shape[1])
    raise GradcheckError(
        f"{title} for output {problem.given[place[0]]} with "
        f"respect to input {problem.wanted[place[1]]},\n"
        f"numerical:{numerical}\nanalytical:{analytical}\n"
        f"The largest difference is {difference.reshape(-1)[flat].item():.6g}, between "
        f"{numerical.reshape(-1)[flat].item():.6g} (numerical) and "
        f"{analytical.reshape(-1)[flat].item():.6g} (analytical): the derivative of "
        f"output{_element(output, column)} by input{_element(leaf, row)}."
        f"{_COMPLEX_HINT if output.is_complex() or leaf.is_complex() else ''}"
    )


_COMPLEX_HINT = " A complex element takes two places, real and imaginary part."


def _element(tensor: Tensor, place: int) -> str:
    """How the real number at a place of `reals` is reached: ``[0, 2].imag``."""
    part = ""
    if tensor.is_complex():
        place, is_imaginary = divmod(place, 2)
        part = ".imag" if is_imaginary else ".real"
    index = []
    for size in reversed(tensor.shape):
        place, position = divmod(place, size)
        index.append(position)
    return f"{list(reversed(index))}{part}" if index else part


def _check_along_directions(problem: jac.Problem, options: _Options) -> None:
    generator = fb.Generator().manual_seed(0)  # the same directions in every run
    weights = [_direction(y, generator) for y in problem.outputs]
    directions = [_direction(x, generator) for x in problem.leaves]
    products = [
        jac.vjp(y, problem.leaves, w) for y, w in zip(problem.outputs, weights, strict=True)
    ]
    for j, (leaf, direction) in enumerate(zip(problem.leaves, directions, strict=True)):
        numerical = jac.numerical_along(problem, leaf, direction, options.eps)
        forward = problem.tangents(j, direction) if options.check_forward_ad else None
        for i, weight in enumerate(weights):
            expected = _dot(numerical[i], jac.reals(weight))
            found: dict[str, float] = {}
            if options.check_backward_ad:
                grad = products[i][j]
                found[_BACKWARD] = (
                    0.0 if grad is None else _dot(jac.reals(grad), jac.reals(direction))
                )
            if forward is not None:
                found[_FORWARD] = _dot(jac.reals(forward[i]), jac.reals(weight))
            # An error of atol in every element of the Jacobian may add up to this.
            atol = options.atol * _absolute_sum(direction) * _absolute_sum(weight)
            for title, value in found.items():
                if not abs(value - expected) <= atol + options.rtol * abs(expected):
                    _fail_along(problem, options, (i, j), (expected, value), title)


def _fail_along(
    problem: jac.Problem,
    options: _Options,
    place: tuple[int, int],
    values: tuple[float, float],
    title: str,
) -> None:
    """Say which elements differ, or if none does beyond the tolerance, how the directions do."""
    _check_elements(problem, options)
    raise GradcheckError(
        f"{title} for output {problem.given[place[0]]} with "
        f"respect to input {problem.wanted[place[1]]}, along a random direction in fast mode: "
        f"numerical: {values[0]}, analytical: {values[1]}, difference: "
        f"{abs(values[0] - values[1])}. Each element of the Jacobian alone is within the "
        "tolerance: with fast_mode=False the check passes."
    )


def _direction(like: Tensor, generator: fb.Generator) -> Tensor:
    vector = fb.randn(jac.reals(like).numel(), dtype=fb.float64, generator=generator)
    unit = vector / vector.norm().clamp_min(1e-300)
    return jac.from_reals(unit.to(jac.reals(like).dtype), like)


def _dot(one: Tensor, other: Tensor) -> float:
    return float((one.to(fb.float64) * other.to(fb.float64)).sum().item())


def _absolute_sum(tensor: Tensor) -> float:
    return float(jac.reals(tensor).abs().sum().item())


def _check_gradients(problem: jac.Problem, options: _Options) -> None:
    """A zero gradient must give zeros, of the inputs' shapes and dtypes."""
    for i, output in zip(problem.given, problem.outputs, strict=True):
        grads = jac.vjp(output, problem.leaves, fb.zeros_like(output))
        for j, leaf, grad in zip(problem.wanted, problem.leaves, grads, strict=True):
            if grad is None:
                continue
            where = f"for output {i} with respect to input {j}"
            if grad.shape != leaf.shape:
                raise GradcheckError(
                    f"grad is incorrect size {where}: {tuple(grad.shape)} instead of "
                    f"{tuple(leaf.shape)}"
                )
            if options.check_grad_dtypes and grad.dtype != leaf.dtype:
                raise GradcheckError(
                    f"Gradient has dtype mismatch {where}: {grad.dtype} instead of {leaf.dtype}"
                )
            if (grad != 0).any():
                raise GradcheckError(f"backward not multiplied by grad_output {where}")


def _check_repeatable(problem: jac.Problem, options: _Options) -> None:
    generator = fb.Generator().manual_seed(1)
    for i, output in zip(problem.given, problem.outputs, strict=True):
        weight = _direction(output, generator)
        runs = [jac.vjp(output, problem.leaves, weight) for _ in range(2)]
        for j, first, second in zip(problem.wanted, *runs, strict=True):
            if first is None or second is None or first.numel() == 0:
                continue
            difference = float((jac.reals(first) - jac.reals(second)).abs().max().item())
            if difference > options.nondet_tol:
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    f"grad_output multiple times gives different values, for output {i} with "
                    f"respect to input {j}: they differ by {difference}. The tolerance for "
                    f"nondeterminism was {options.nondet_tol}."
                )


class _Undefined(Function):
    """Passes its input on, and no gradient back."""

    @staticmethod
    def forward(ctx: FunctionCtx, input: Tensor) -> Tensor:
        return input.clone()

    @staticmethod
    def backward(ctx: FunctionCtx, grad: Tensor) -> None:
        return None


def _check_undefined(problem: jac.Problem) -> None:
    """Outputs that got no gradient must count as outputs with a zero gradient."""
    count = len(problem.outputs)
    cases = [set(range(count))]
    if count > 1:
        cases += [{i} for i in range(count)]
    for undefined in cases:
        outputs = [
            _Undefined.apply(y) if i in undefined else y for i, y in enumerate(problem.outputs)
        ]
        try:
            grads: tuple[Tensor | None, ...] = fb.autograd.grad(
                outputs,
                problem.leaves,
                [fb.zeros_like(y) for y in problem.outputs],
                retain_graph=True,
                allow_unused=True,
            )
        except RuntimeError as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads"
            ) from error
        for j, grad in zip(problem.wanted, grads, strict=True):
            if grad is not None and (grad != 0).any():
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    f"undefined or zero, but the gradient of input {j} is\n{grad}"
                )


def _check_batched(problem: jac.Problem) -> None:
    generator = fb.Generator().manual_seed(2)
    for i, output in zip(problem.given, problem.outputs, strict=True):
        weights = [_direction(output, generator) for _ in range(2)]
        expected = [jac.vjp(output, problem.leaves, weight) for weight in weights]
        batched: tuple[Tensor | None, ...] = fb.autograd.grad(
            output,
            problem.leaves,
            fb.stack(weights),
            retain_graph=True,
            allow_unused=True,
            is_grads_batched=True,
        )
        for j, found, *singles in zip(problem.wanted, batched, *expected, strict=True):
            if found is not None:
                where = f"batched gradient of output {i} with respect to input {j}"
                _compare_batched(found, singles, where)


def _check_batched_forward(problem: jac.Problem) -> None:
    generator = fb.Generator().manual_seed(3)
    for which, (j, leaf) in enumerate(zip(problem.wanted, problem.leaves, strict=True)):
        directions = [_direction(leaf, generator) for _ in range(2)]
        expected = [problem.tangents(which, direction) for direction in directions]
        batched = fb.func.vmap(lambda d, which=which: problem.tangents(which, d))(
            fb.stack(directions)
        )
        for i, found, *singles in zip(problem.given, batched, *expected, strict=True):
            _compare_batched(found, singles, f"batched tangent of output {i} from input {j}")


def _compare_batched(found: Tensor, singles: list[Tensor], where: str) -> None:
    expected = fb.stack(singles)
    if not fb.allclose(found, expected):
        raise GradcheckError(
            f"The {where} is not what it is one at a time: vmap over the derivative failed.\n"
            f"batched:{found}\none at a time:{expected}"
        )


def _grad_outputs(
    problem: jac.Problem, given: Tensor | Sequence[Tensor | None] | None, is_noncontiguous: bool
) -> list[Tensor]:
    """The given gradients of the outputs, or random ones that require gradients themselves."""
    generator = fb.Generator().manual_seed(4)
    grads = [None] * len(problem.outputs) if given is None else jac.as_tuple(given)
    return [
        _random_grad(output, generator, is_noncontiguous) if grad is None else grad
        for output, grad in zip(problem.outputs, grads, strict=True)
    ]


def _random_grad(output: Tensor, generator: fb.Generator, is_noncontiguous: bool) -> Tensor:
    grad = _direction(output, generator)
    if is_noncontiguous:
        grad = fb.stack([grad, grad], dim=-1)[..., 0]
    return grad.requires_grad_()
