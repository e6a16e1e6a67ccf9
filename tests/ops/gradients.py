"""Samples as functions of their floating point tensors, for tests of derivatives."""

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

from tests.ops import dtypes
from tests.ops.check import dtype_name, is_tensor, outputs
from tests.ops.make import Input, to_module
from tests.ops.registry import Sample, all_samples
from tests.ops.table import Operator

PRECISE = ("float64", "complex128")  # where finite differences tell something
LARGEST = 100  # elements; a larger sample is there for its many blocks

# Operators that read one triangle of a matrix: the derivative is that of the Hermitian matrix.
HERMITIAN = {
    "cholesky",
    "linalg.cholesky",
    "linalg.cholesky_ex",
    "linalg.eigh",
    "linalg.eigvalsh",
}
# Operators without a derivative by their first argument.
CONSTANT_FIRST = {"igamma", "igammac", "special.zeta"}
# Operators without a derivative by a keyword argument.
CONSTANT_KEYWORD = dict.fromkeys(
    [f"nn.functional.{name}" for name in ("cross_entropy", "nll_loss", "multi_margin_loss")],
    "weight",
)
# Operators that refuse tensors with a history, which they could not continue.
REFUSED = {"apply_", "map_", "map2_", "set_"}
# Operators whose n-th argument is a triangular factor.
FACTOR = {"cholesky_inverse": 0, "cholesky_solve": 1}


def _sizes(vectors: Any) -> Any:
    return vectors.abs()


# Singular and eigenvectors are unique up to a phase; these functions of them are unique.
UNIQUE: dict[str, Callable[..., tuple[Any, ...]]] = {
    "svd": lambda u, s, v: (_sizes(u), s, _sizes(v)),
    # Columns beyond the singular values are any basis of the rest.
    "linalg.svd": lambda u, s, vh: (
        _sizes(u[..., : s.shape[-1]]),
        s,
        _sizes(vh[..., : s.shape[-1], :]),
    ),
    "linalg.eig": lambda values, vectors: (values, _sizes(vectors)),
    "linalg.eigh": lambda values, vectors: (values, _sizes(vectors)),
}


def _triangle(matrix: Any, upper: bool) -> Any:
    """A triangular factor as Cholesky's are, with a real diagonal."""
    strict = matrix.triu(1) if upper else matrix.tril(-1)
    diagonal = matrix.diagonal(dim1=-2, dim2=-1)
    return strict + diagonal.abs().diag_embed()


@dataclasses.dataclass(frozen=True)
class Call:
    """One sample's call in module `t`, as a function of the tensors that have gradients."""

    t: Any
    operator: Operator
    sample: Sample

    @property
    def inputs(self) -> list[Input]:
        name = self.operator.name
        constant = self.sample.args[0] if name in CONSTANT_FIRST else None
        if name in CONSTANT_KEYWORD:
            constant = self.sample.kwargs.get(CONSTANT_KEYWORD[name])
        return [
            each for each in self.sample.inputs() if each.dtype in PRECISE and each is not constant
        ]

    def leaves(self) -> list[Any]:
        """New contiguous tensors that require gradients."""
        dense = (
            dataclasses.replace(each, values=np.array(each.values), layout="contiguous")
            for each in self.inputs
        )
        return [each.to_module(self.t).requires_grad_() for each in dense]

    def __call__(self, *tensors: Any) -> tuple[Any, ...]:
        """The results that have gradients."""
        args, kwargs = self._arguments(tensors)
        return self._differentiable(self.operator.call(self.t, args, kwargs))

    def in_place(self, *tensors: Any) -> tuple[Any, ...]:
        """The same by the in-place form, on a copy of the first tensor."""
        (first, *rest), kwargs = self._arguments(tensors)
        return self._differentiable(
            self.operator.call_in_place(self.t, (first.clone(), *rest), kwargs)
        )

    def _arguments(self, tensors: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        given = dict(zip(map(id, self.inputs), tensors, strict=True))
        filled = self.sample.map_inputs(
            lambda each: given[id(each)] if id(each) in given else each.to_module(self.t)
        )
        args = list(to_module(self.t, filled.args))
        kwargs = to_module(self.t, filled.kwargs)
        name = self.operator.name
        if name in HERMITIAN or kwargs.get("hermitian"):
            args[0] = (args[0] + args[0].mH) / 2
        if name in FACTOR:
            args[FACTOR[name]] = _triangle(args[FACTOR[name]], kwargs.get("upper", False))
        if name.endswith("_"):  # a leaf must not be written to
            args[0] = args[0].clone()
        return tuple(args), kwargs

    def _differentiable(self, result: Any) -> tuple[Any, ...]:
        parts = outputs(result)
        if self.operator.name in UNIQUE:
            parts = list(UNIQUE[self.operator.name](*parts))
        return tuple(
            each
            for each in parts
            if is_tensor(each) and dtype_name(each) in PRECISE and each.requires_grad
        )


def calls(t: Any, operator: Operator, dtype: str, smooth: bool = True) -> list[Call]:
    """The small samples of `operator` in `dtype`; if `smooth`, those that have a derivative."""
    owner = all_samples()[operator.name]
    if dtype not in operator.dtypes or (owner.dtypes is not None and dtype not in owner.dtypes):
        return []
    found = [Call(t, operator, each) for each in owner.of_dtype(dtype)]
    return [
        each for each in found if _is_small(each) and (each.sample.differentiable or not smooth)
    ]


def _is_small(call: Call) -> bool:
    """Whether there are a few elements, none of which share memory."""
    inputs = call.inputs
    count = sum(each.values.size for each in inputs)
    shared = any(each.layout == "expanded" for each in call.sample.inputs())
    empty = any(each.values.size == 0 for each in inputs)
    return bool(inputs) and count <= LARGEST and not shared and not empty


def is_differentiable(operator: Operator) -> bool:
    """Whether derivatives can be compared: some exist, and no chance is involved."""
    some = set(operator.gradients) & {"formulas", "composite"}
    floats = set(operator.dtypes) & set(dtypes.FLOATING)
    return bool(some and floats) and not operator.random and operator.name not in REFUSED
