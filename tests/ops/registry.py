"""Where samples and expected errors of the operators are declared and looked up.

A sample generator receives a `Make` and yields the arguments of calls; see `samples/explog.py`.
"""

import dataclasses
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any

import numpy as np

from tests.ops import dtypes
from tests.ops.make import Attr, DType, Input, Make, attr, map_inputs

__all__ = [
    "Attr",
    "DType",
    "Input",
    "Make",
    "Sample",
    "attr",
    "call",
    "errors",
    "forward_only",
    "inf",
    "nan",
    "samples",
]

inf, nan = np.inf, np.nan


@dataclasses.dataclass(frozen=True, eq=False)
class Sample:
    """One call of an operator."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    differentiable: bool = True  # False where the gradient does not exist at this input
    tolerance: tuple[float, float] | None = None

    def within(self, rtol: float, atol: float, why: str) -> "Sample":
        """This call with a wider tolerance than the dtype's; `why` is for the reader."""
        assert why, "a wider tolerance needs a reason"
        return dataclasses.replace(self, tolerance=(rtol, atol))

    def map_inputs(self, function: Callable[[Input], Any]) -> "Sample":
        """This call with `function` applied to each of its tensors."""
        return dataclasses.replace(
            self, args=map_inputs(function, self.args), kwargs=map_inputs(function, self.kwargs)
        )

    def inputs(self) -> list[Input]:
        """All tensors among the arguments, in order."""
        found: list[Input] = []
        self.map_inputs(found.append)
        return found

    def __repr__(self) -> str:
        arguments = [_text(a) for a in self.args]
        arguments += [f"{k}={_text(v)}" for k, v in self.kwargs.items()]
        return f"({', '.join(arguments)})"


def _text(value: Any) -> str:
    # The name of a function, which is the same in every process.
    return value.__name__ if isinstance(value, FunctionType) else repr(value)


def call(*args: Any, **kwargs: Any) -> Sample:
    """A call with keyword arguments: `yield call(make(3, 4), dim=1)`."""
    return Sample(args, kwargs)


def forward_only(*args: Any, **kwargs: Any) -> Sample:
    """A call at a point where the operator has no gradient."""
    return Sample(args, kwargs, differentiable=False)


@dataclasses.dataclass(frozen=True)
class Samples:
    """The samples of one operator and how their results are judged."""

    operator: str
    generate: Callable[[Make], Iterator[Any]]
    reference: Callable[..., Any] | None = None
    dtypes: tuple[str, ...] | None = None
    values: bool = True
    through: Callable[..., Any] | None = None
    keeps_precision: bool = True
    strides: bool = True
    tolerance: dict[str, tuple[float, float]] = dataclasses.field(default_factory=dict)

    def of_dtype(self, dtype: str) -> list[Sample]:
        """The calls to make for `dtype`."""
        with np.errstate(all="ignore"):
            return [_as_sample(each) for each in self.generate(Make(self.operator, dtype))]

    def where_sensible(self, dtype: str) -> list[Sample]:
        """The calls for a `dtype` that the samples may not have been written for."""
        if self.dtypes is not None and dtype not in self.dtypes:
            return []
        try:
            return self.of_dtype(dtype)
        except (TypeError, ValueError, OverflowError):
            return []

    def tolerance_for(self, sample: Sample, dtype: str) -> tuple[float, float]:
        """Relative and absolute tolerance of a result of type `dtype`."""
        exact = (0.0, 0.0)
        return sample.tolerance or self.tolerance.get(dtype) or dtypes.TOLERANCE.get(dtype, exact)


@dataclasses.dataclass(frozen=True)
class ExpectedError:
    """A call that must be refused, the exception class, and a part of its message."""

    operator: str
    sample: Sample
    error: type[Exception]
    message: str


_SAMPLES: dict[str, Samples] = {}
_ERRORS: dict[str, Callable[[Make], Iterator[Any]]] = {}


def samples(
    *operators: str,
    reference: Callable[..., Any] | None = None,
    dtypes: tuple[str, ...] | None = None,
    values: bool = True,
    through: Callable[..., Any] | None = None,
    keeps_precision: bool = True,
    strides: bool = True,
    tolerance: dict[str, tuple[float, float]] | None = None,
) -> Callable[[Callable[[Make], Iterator[Any]]], Callable[[Make], Iterator[Any]]]:
    """Declare the samples of `operators` (usually one).

    reference: the same call in NumPy or SciPy, in double precision; None leaves values to the
        conformance suite.
    dtypes: where the samples make sense, if that is less than the operator supports.
    values: False if the values mean nothing (`empty`); shape and dtype are still checked.
    through: applied to the NumPy results before they are compared, for results that are not
        unique (the signs of singular vectors). Gets the outputs as separate arguments.
    keeps_precision: False if a floating result may be of another precision than the inputs.
    strides: False if PyTorch's result is laid out by an implementation detail of its own.
    tolerance: dtype name to (rtol, atol), with the reason in a comment beside it.
    """

    def register(generate: Callable[[Make], Iterator[Any]]) -> Callable[[Make], Iterator[Any]]:
        for operator in operators:
            assert operator not in _SAMPLES, f"{operator} has samples twice"
            _SAMPLES[operator] = Samples(
                operator,
                generate,
                reference,
                dtypes,
                values,
                through,
                keeps_precision,
                strides,
                tolerance or {},
            )
        return generate

    return register


def errors(
    *operators: str,
) -> Callable[[Callable[[Make], Iterator[Any]]], Callable[[Make], Iterator[Any]]]:
    """Declare calls that must fail: each yield is (arguments, exception class, message part)."""

    def register(generate: Callable[[Make], Iterator[Any]]) -> Callable[[Make], Iterator[Any]]:
        for operator in operators:
            assert operator not in _ERRORS, f"{operator} has errors twice"
            _ERRORS[operator] = generate
        return generate

    return register


def all_samples() -> dict[str, Samples]:
    """Samples by operator name, from every file of `samples/`."""
    _load()
    return _SAMPLES


def all_errors() -> list[ExpectedError]:
    """Every call that must be refused."""
    _load()
    return [
        ExpectedError(operator, _as_sample(arguments), error, message)
        for operator, generate in sorted(_ERRORS.items())
        for arguments, error, message in generate(Make(operator, "float32"))
    ]


def _load() -> None:
    package = importlib.import_module("tests.ops.samples")
    for module in pkgutil.iter_modules(package.__path__):
        importlib.import_module(f"{package.__name__}.{module.name}")


def _as_sample(arguments: Any) -> Sample:
    if isinstance(arguments, Sample):
        return arguments
    return Sample(arguments if isinstance(arguments, tuple) else (arguments,), {})
