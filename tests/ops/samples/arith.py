"""Samples of arithmetic."""

import numpy as np

from tests.ops.pointwise import LARGE, SPECIAL, binary, in_double, unary
from tests.ops.registry import call, errors, forward_only, inf, nan, samples


def _scaled(combine, if_bool):
    """`combine(a, alpha * b)`; bool tensors are combined by logic."""

    def reference(a, b, alpha=1):
        if _all_bool(a, b):
            return if_bool(a, np.logical_and(b, alpha))
        return combine(a, np.multiply(alpha, b) if alpha != 1 else b)

    return reference


def _all_bool(*values):
    return all(np.asarray(v).dtype == bool for v in values)


@samples("add", reference=_scaled(np.add, np.logical_or))
def add(make):
    yield from _sums(make)
    yield make(2, 3, 4), make(3, 4).expanded(2, 3, 4)


@samples("sub", reference=_scaled(np.subtract, None))
def sub(make):
    yield from _sums(make)


@samples("rsub", reference=lambda a, b, alpha=1: np.subtract(b, np.multiply(alpha, a)))
def rsub(make):
    yield make(3, 4), make(3, 4)
    yield call(make(3, 4), 5, alpha=2)


def _sums(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 1), make(1, 4)
    yield make(LARGE), make(LARGE)
    yield make(3, 4), make(3, 4, dtype="int32")
    yield make(3, 4), make(dtype="int64" if make.is_half else "float64")
    yield make(3, 4), 2
    yield make(3, 4), 2.5
    yield 3, make(3, 4)
    if not make.is_bool:
        yield call(make(3, 4), make(3, 4), alpha=3)
    if make.is_floating:
        yield call(make(3, 4), make(4), alpha=-0.5)
        yield forward_only(make.of(*SPECIAL), make.of(*reversed(SPECIAL)))


@errors("add")
def add_errors(make):
    yield (make(2, 3), make(2, 4)), RuntimeError, "add: shapes (2, 3) and (2, 4) do not broadcast"
    integers = make(3, dtype="int64")
    yield call(integers, integers, alpha=0.5), RuntimeError, "add: alpha must be an integer"
    yield (make(3), "two"), TypeError, "add"


@errors("sub")
def sub_errors(make):
    yield (make.mask(3), make.mask(3)), RuntimeError, "sub: a bool tensor cannot be subtracted"


@errors("neg")
def neg_errors(make):
    yield make.mask(3), RuntimeError, "neg: not implemented for dtype bool"


def _mul(a, b):
    return np.logical_and(a, b) if _all_bool(a, b) else np.multiply(a, b)


@samples("mul", reference=_mul)
def mul(make):
    yield make(3, 4), make(3, 4)
    yield make(3, 1), make(1, 4)
    yield make(LARGE), make(LARGE)
    yield make(3, 4), make(3, 4, dtype="float64")
    yield make(3, 4), 2
    yield 0.5, make(3, 4)
    if make.is_floating:
        yield forward_only(make.of(*SPECIAL), make.of(*reversed(SPECIAL)))


def _div(a, b, rounding_mode=None):
    integers = all(np.asarray(v).dtype.kind in "biu" for v in (a, b))
    if rounding_mode is None:
        return in_double(np.true_divide)(a, b)
    if rounding_mode == "floor":
        return np.floor_divide(a, b)
    if integers:  # NumPy has no integer division towards zero
        return np.floor_divide(np.abs(a), np.abs(b)) * np.sign(a) * np.sign(b)
    return np.trunc(np.true_divide(a, b))


@samples("div", reference=_div)
def div(make):
    yield make(3, 4), make.nonzero(3, 4)
    yield make(3, 1), make.nonzero(1, 4)
    yield make(LARGE), make.nonzero(LARGE)
    yield make(3, 4), make.nonzero(3, 4, dtype="int16")
    yield make(3, 4), 4
    yield 6, make.nonzero(3)
    if not (make.is_complex or make.is_bool):
        for mode in ("trunc", "floor"):
            yield call(make(3, 4), make.nonzero(3, 4), rounding_mode=mode)
            yield call(make(3, 4), 2, rounding_mode=mode)
        yield call(make(3, 4), make.nonzero(3, 4), rounding_mode=None)
    if make.is_floating:
        yield forward_only(make.of(*SPECIAL), make.of(*reversed(SPECIAL)))


@errors("div")
def div_errors(make):
    yield call(make(3), make(3), rounding_mode="up"), RuntimeError, "div: rounding_mode must be"


for name, function in (
    ("floor_divide", np.floor_divide),
    ("remainder", np.remainder),
    ("fmod", np.fmod),
):
    # NumPy and PyTorch answer 1 // inf and the like differently; the division is NaN or tiny there.
    edge = (1.0, -1.0, 2.5, -2.5, nan)
    binary(
        name, function, number=3, divisor=True, special=edge, tolerance={"float16": (5e-3, 5e-3)}
    )


@errors("floor_divide", "remainder", "fmod")
def zero_division(make):
    yield (make(3, dtype="int64"), 0), RuntimeError, "ZeroDivisionError"
    yield (make(3, dtype="int8"), make.of(1, 0, 2, dtype="int8")), RuntimeError, "ZeroDivisionError"


def _pow(a, b):
    if all(np.asarray(v).dtype.kind in "biu" for v in (a, b)):
        return np.power(a, b)
    return np.power(
        *(np.asarray(v).astype(complex if np.iscomplexobj(v) else float) for v in (a, b))
    )


@samples("pow", reference=_pow, strides=False)  # PyTorch makes 2 ** x contiguous
def pow_(make):
    base = make if make.is_complex else make.positive
    yield base(3, 4), make(3, 4, low=0, high=4)
    yield base(LARGE), make(LARGE, low=0, high=3)
    for exponent in (2, 3, 1, 0, 0.5):
        yield base(3, 4), exponent
    if not make.is_integral:
        for exponent in (-1, -2, -0.5, 2.5):
            yield base(3, 4), exponent
    if not make.is_complex:
        yield 2, make(3, 4, low=0, high=4)
    if make.is_floating:
        first, second = np.meshgrid((*SPECIAL, 2.0, -2.0), (*SPECIAL, 0.5, 3.0))
        yield forward_only(make.of(first.tolist()), make.of(second.tolist()))


@errors("pow")
def pow_errors(make):
    yield (make(3, dtype="int64"), -1), RuntimeError, "pow: integers to negative integer powers"


@samples("float_power_", reference=np.float_power)
def float_power_(make):
    yield make.positive(2, 3), make(2, 3)
    yield make(2, 3), 3
    yield make.positive(2, 3), make(3)  # broadcasting


@errors("float_power_")
def float_power__errors(make):
    yield (make(2, 3, dtype="float32"), 2), RuntimeError, "float_power_: the base has dtype"


@samples("float_power", reference=in_double(np.float_power), keeps_precision=False)
def float_power(make):
    base = make if make.is_complex else make.positive
    yield base(3, 4), make(3, 4, low=0, high=3)
    yield base(3, 4), 2
    yield 3, base(2)


unary("neg", np.negative)
unary("positive", np.positive)
unary("square", lambda x: np.square(x.astype(int) if x.dtype == bool else x))
unary("reciprocal", in_double(lambda x: 1 / x))
unary("abs", np.abs)
unary(
    "sign", lambda x: x if x.dtype == bool else np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype)
)
unary(
    "signbit",
    lambda x: np.signbit(x) if x.dtype != bool else np.zeros_like(x),
    special=SPECIAL[:-1],
)


def _sgn(x):
    if x.dtype == bool:
        return x
    if not np.iscomplexobj(x):
        return np.where(np.isnan(x), 0, np.sign(x)).astype(x.dtype)
    return np.where(x == 0, 0, x / np.where(x == 0, 1, np.abs(x)))


unary("sgn", _sgn)

for name, function in (
    ("maximum", np.maximum),
    ("minimum", np.minimum),
    ("fmax", np.fmax),
    ("fmin", np.fmin),
):
    binary(name, function)


def _clamp(x, min=None, max=None):
    return np.clip(x, min, max)


@samples("clamp", reference=_clamp)
def clamp(make):
    low, high = (1, 5) if make.is_integral else (-1.0, 1.5)
    yield make(3, 4), low, high
    yield make(LARGE), low, high
    yield call(make(3, 4), min=low)
    yield call(make(3, 4), max=high)
    yield call(make(3, 4), 2.5, 1.5)  # the upper bound wins
    if not make.is_bool:
        yield make(3, 4), make(4, low=0, high=1), make(3, 1, low=2, high=3)
        yield call(make(3, 4), max=make(4))
    if make.is_floating:
        yield forward_only(make.of(*SPECIAL), -0.5, 0.5)
        yield forward_only(make.of(*SPECIAL), nan, 0.5)
        yield forward_only(make.of(*SPECIAL), -0.5, nan)


@errors("clamp")
def clamp_errors(make):
    yield make(3), RuntimeError, "clamp: at least one of 'min' and 'max'"


binary("clamp_min", np.maximum, number=1)
binary("clamp_max", np.minimum, number=1)


@samples("addcmul", reference=lambda x, a, b, value=1: x + value * a * b)
def addcmul(make):
    yield make(3, 4), make(3, 4), make(3, 4)
    yield call(make(3, 4), make(3, 1), make(4), value=2)
    yield make(LARGE), make(LARGE), make(LARGE)


@samples("addcdiv", reference=lambda x, a, b, value=1: x + value * a / b)
def addcdiv(make):
    yield make(3, 4), make(3, 4), make.nonzero(3, 4)
    yield call(make(3, 4), make(3, 1), make.nonzero(4), value=-0.5)


@samples("lerp", reference=lambda a, b, w: a + w * (b - a))
def lerp(make):
    yield make(3, 4), make(3, 4), 0.25
    yield make(3, 4), make(3, 4), make(3, 4)
    yield make(LARGE), make(LARGE), 0.75
    yield make(3, 4), make(4), 1.0


# The sign of a NaN is unspecified.
binary("copysign", in_double(np.copysign), number=-2.0, special=SPECIAL[:-1])
binary("hypot", np.hypot, mixed=False)
binary("gcd", np.gcd, mixed=False)
binary("lcm", np.lcm, mixed=False)
unary_edge = (0.0, 1.0, -1.0, inf, -inf)


@samples("nextafter", dtypes=("float32", "float64"))
def nextafter(make):
    yield make(3, 4), make(3, 4)
    yield make(LARGE), make(LARGE)
    yield forward_only(make.of(*unary_edge), make.of(*reversed(unary_edge)))


@samples("ldexp", reference=in_double(lambda x, e: x * np.exp2(e)))
def ldexp(make):
    yield make(3, 4), make(3, 4, dtype="int32")
    yield make(3, 4), make(3, 4)


@samples("heaviside", reference=lambda x, v: np.where(x == 0, v, x > 0).astype(x.dtype))
def heaviside(make):
    yield make(3, 4), make(3, 4)
    yield make.of(0, 1, 0), make(3)
    if make.is_floating:
        yield forward_only(make.of(*SPECIAL), make(len(SPECIAL)))


def _nan_to_num(x, nan=None, posinf=None, neginf=None):
    return x if x.dtype.kind in "biu" else np.nan_to_num(x, True, nan or 0.0, posinf, neginf)


@samples("nan_to_num", reference=_nan_to_num)
def nan_to_num(make):
    yield make(3, 4)
    yield call(make(3, 4), nan=1.0, posinf=2.0, neginf=3.0)
    if make.is_floating:
        yield forward_only(make.of(*SPECIAL), nan=1.0, posinf=2.0, neginf=-3.0)
    if make.dtype == "float64":  # the largest number of another type is not that of the reference
        yield forward_only(make.of(*SPECIAL))


@samples("frexp", reference=np.frexp, strides=False)  # always one after another
def frexp(make):
    yield make(3, 4)
    yield make(1031)
    yield forward_only(make.of(0.0, -0.0, 1.0, -0.75, inf, nan, 1e-7))
