"""gradcheck and gradgradcheck: what passes, and that planted mistakes are found and named."""

from __future__ import annotations

import pytest

import flambeau as fb
from flambeau.autograd import Function, gradcheck, gradgradcheck
from flambeau.autograd.gradcheck import GradcheckError

MODES = pytest.mark.parametrize("fast_mode", [False, True])


def real(*shape):
    return fb.rand(shape, dtype=fb.float64).add(0.5).requires_grad_()


def complex_(*shape):
    return fb.rand(shape, dtype=fb.complex128).add(0.5).requires_grad_()


def function(forward, backward, name="Planted"):
    members = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type(name, (Function,), members).apply


def saves(function):
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return function(x)

    return forward


CORRECT = {
    "real": (fb.sin, real(2, 3)),
    "several inputs": (lambda a, b: a * b, (real(2, 3), real(3))),
    "several outputs": (lambda a: (a.exp(), a.sum()), real(2, 3)),
    "output that is no input's": (lambda a: (a * 2, fb.ones(2)), real(2)),
    "non-tensor input": (lambda a, n: a**n, (real(3), 3)),
    "scalar": (lambda a: a**2, real()),
    "empty": (fb.sin, real(0)),
    "transposed input": (lambda a: a.T.contiguous() ** 2, real(3, 2).detach().T.requires_grad_()),
    "identity": (lambda a: a, real(2)),
    "C to C": (lambda z: z * z, complex_(3)),
    "C to R": (fb.abs, complex_(3)),
    "R to C": (lambda a: fb.complex(a, a * a), real(3)),
    "not holomorphic": (lambda z: z * z.conj() + z.real, complex_(3)),
    "mixed": (lambda z, a: z * a, (complex_(3), real(3))),
    "piecewise constant": (fb.floor, real(3)),
    "indices beside values": (lambda a: a.sort(), real(3)),
}


@MODES
@pytest.mark.parametrize("case", CORRECT)
def test_correct(case, fast_mode):
    call, inputs = CORRECT[case]
    assert gradcheck(call, inputs, fast_mode=fast_mode, check_grad_dtypes=True)
    assert gradgradcheck(call, inputs, fast_mode=fast_mode)


@MODES
@pytest.mark.parametrize("case", ["real", "several inputs", "C to C"])
def test_batched(case, fast_mode):
    call, inputs = CORRECT[case]
    assert gradcheck(call, inputs, fast_mode=fast_mode, check_batched_grad=True)
    assert gradgradcheck(call, inputs, fast_mode=fast_mode, check_batched_grad=True)


@MODES
@pytest.mark.parametrize("case", ["real", "several inputs", "C to C"])
def test_forward(case, fast_mode):
    call, inputs = CORRECT[case]
    assert gradcheck(call, inputs, fast_mode=fast_mode, check_forward_ad=True)
    assert gradgradcheck(call, inputs, fast_mode=fast_mode, check_fwd_over_rev=True)
    options = {"check_forward_ad": True, "check_batched_forward_grad": True}
    assert gradcheck(call, inputs, fast_mode=fast_mode, **options)


@MODES
@pytest.mark.parametrize("make", [real, complex_])
@pytest.mark.parametrize("error", [1e-2, -3e-3])
def test_a_wrong_factor_is_found(make, error, fast_mode):
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return grad * (2 + error) * x.conj()

    square = function(saves(lambda x: x * x), backward)
    fb.manual_seed(0)  # the fast mode looks along one direction, which may miss a small error
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to inpu"):
        gradcheck(square, make(3), fast_mode=fast_mode)
    assert not gradcheck(square, make(3), fast_mode=fast_mode, raise_exception=False)


@MODES
def test_a_forgotten_conjugate_is_found(fast_mode):
    square = function(saves(lambda x: x * x), lambda ctx, grad: grad * 2 * ctx.saved_tensors[0])
    assert gradcheck(square, real(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError):
        gradcheck(square, complex_(3), fast_mode=fast_mode)


@MODES
def test_a_wrong_second_derivative_is_found(fast_mode):
    cube = function(
        saves(lambda x: x**3), lambda ctx, grad: grad * 3 * ctx.saved_tensors[0].detach() ** 2
    )
    assert gradcheck(cube, real(3), fast_mode=fast_mode)
    with pytest.raises(GradcheckError):
        gradgradcheck(cube, real(3), fast_mode=fast_mode)


def test_the_message_names_the_place():
    def forward(ctx, a, b):
        ctx.save_for_backward(a, b)
        return a.sum(), a * b

    def backward(ctx, grad_sum, grad_product):
        a, b = ctx.saved_tensors
        mistake = fb.zeros(2, 3, dtype=fb.float64)
        mistake[1, 2] = 1
        return grad_sum + grad_product * b, grad_product * (a + mistake)

    with pytest.raises(GradcheckError) as error:
        gradcheck(function(forward, backward), (real(2, 3), real(2, 3)))
    error.match("Jacobian mismatch for output 1 with respect to input 1,\nnumerical:tensor")
    error.match("\nanalytical:tensor")
    error.match(r"The largest difference is 1, .* derivative of output\[1, 2\] by input\[1, 2\]")


def test_the_message_names_parts_of_complex_numbers():
    wrong = function(lambda ctx, z: z * 1j, lambda ctx, grad: grad * 1j)
    # Both differ by 2, up to rounding.
    parts = r"output.(imag by input.real|real by input.imag)"
    with pytest.raises(GradcheckError, match=parts):
        gradcheck(wrong, complex_())


def test_an_output_that_hides_its_dependence_is_found():
    with pytest.raises(GradcheckError, match="expected to be zero"):
        gradcheck(lambda x: x.detach() * 2, real(2))


def test_a_backward_that_forgets_its_gradient_is_found():
    constant = function(lambda ctx, x: x.sum(), lambda ctx, grad: fb.ones(3, dtype=fb.float64))
    with pytest.raises(GradcheckError, match="not multiplied by grad_output"):
        gradcheck(constant, real(3))


def test_a_random_backward_is_found():
    noisy = function(
        lambda ctx, x: x * 2, lambda ctx, grad: grad * 2 * (1 + 1e-9 * fb.rand(3, dtype=fb.float64))
    )
    with pytest.raises(GradcheckError, match="Backward is not reentrant"):
        gradcheck(noisy, real(3))
    assert gradcheck(noisy, real(3), nondet_tol=1e-6)


def test_undefined_gradients():
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2, x * 3

    def careful(ctx, first, second):
        parts = [grad * n for grad, n in ((first, 2), (second, 3)) if grad is not None]
        return sum(parts) if parts else None

    assert gradcheck(function(forward, careful), real(2))
    assert gradcheck(lambda x: x.unbind(), real(2, 2))


def test_gradients_of_another_dtype():
    seen = function(lambda ctx, x: x * 2, lambda ctx, grad: grad * 2)
    assert gradcheck(seen, real(2), check_grad_dtypes=True)


def test_given_grad_outputs():
    grad = real(3)
    assert gradgradcheck(fb.sin, real(3), grad)
    assert gradgradcheck(fb.sin, real(3), [grad])
    assert gradgradcheck(fb.sin, real(3), gen_non_contig_grad_outputs=True)


def test_inputs_that_cannot_be_checked():
    with pytest.raises(ValueError, match="at least one input tensor to require gradient"):
        gradcheck(fb.sin, fb.ones(2))
    with pytest.raises(RuntimeError, match="0th input has a dimension with stride 0"):
        gradcheck(fb.sin, fb.ones(1, dtype=fb.float64).expand(3).requires_grad_())
    single = fb.ones(2, requires_grad=True)
    with pytest.warns(UserWarning, match="is not a double precision floating point"):
        gradcheck(fb.neg, single, eps=1e-3, atol=1e-2, rtol=1e-2)


def test_options_that_exclude_each_other():
    with pytest.raises(AssertionError, match="at least one of"):
        gradcheck(fb.sin, real(2), check_backward_ad=False)
    with pytest.raises(AssertionError, match="requires check_backward_ad"):
        gradcheck(
            fb.sin, real(2), check_backward_ad=False, check_forward_ad=True, check_batched_grad=True
        )
    with pytest.raises(AssertionError, match="requires check_forward_ad"):
        gradcheck(fb.sin, real(2), check_batched_forward_grad=True)


def test_inputs_are_left_as_they_were():
    x = real(2, 2)
    before = x.detach().clone()
    gradcheck(fb.sin, x)
    gradcheck(fb.sin, x, fast_mode=True)
    assert fb.equal(x.detach(), before)
    assert x.grad is None
    assert x._version == 0


def test_the_random_numbers_of_the_program_are_left_alone():
    fb.manual_seed(1)
    state = fb.get_rng_state()
    gradcheck(fb.sin, real(2).detach().fill_(1).requires_grad_(), fast_mode=True)
    fb.set_rng_state(state)
    x = fb.ones(2, dtype=fb.float64, requires_grad=True)
    gradcheck(fb.sin, x, fast_mode=True)
    gradgradcheck(fb.sin, x, fast_mode=True)
    assert fb.equal(fb.get_rng_state(), state)
