"""Floating point operations of the operators that consist of products; a multiply-add counts two.

A rule gives the operations of a call from the shapes of its arguments. The gradient of a factor is
a product of the same size, so a backward costs its forward once for each factor whose gradient is
wanted.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from flambeau._profiling.records import Kind, Record, Recording

__all__ = ["Product", "flops_of_call", "product_of", "product_of_node"]


class Product(NamedTuple):
    """What was multiplied: the operator by PyTorch's name, and its operations."""

    operator: str
    flops: int


class _Rule(NamedTuple):
    forward: Callable[[Sequence[Any]], int]
    backward: Callable[[Record, Record], int]  # of the operator, and of its node
    backward_name: str


def _sizes(argument: Any) -> tuple[int, ...]:
    """Of a tensor."""
    return argument[0] if isinstance(argument, tuple) else ()


def _numel(argument: Any) -> int:
    return math.prod(_sizes(argument))


def _rows_times_matrix(left: Any, right: Any) -> int:
    """Rows of ``left`` with a matrix of either orientation."""
    inner = _sizes(left)[-1] if _sizes(left) else 1
    return 2 * _numel(left) * _numel(right) // inner if inner else 0


def _batched(left: Any, right: Any) -> int:
    return 2 * _numel(left) * (_sizes(right)[-1] if _sizes(right) else 0)


def _convolution(args: Sequence[Any]) -> int:
    image, kernels, _, stride, padding, dilation, transposed = args[:7]
    per_element = _numel(kernels) // max(_sizes(kernels)[0], 1)
    if transposed:
        return 2 * _numel(image) * per_element
    outputs = math.prod(
        (size + 2 * _at(padding, i) - _at(dilation, i) * (kernel - 1) - 1) // _at(stride, i) + 1
        for i, (size, kernel) in enumerate(zip(_sizes(image)[2:], _sizes(kernels)[2:], strict=True))
    )
    return 2 * _sizes(image)[0] * _sizes(kernels)[0] * outputs * per_element


def _at(values: Any, i: int) -> int:
    """Of a number for each dimension, or of one for all."""
    if isinstance(values, list):
        return int(values[i if i < len(values) else -1])
    return int(values)


def _attention(args: Sequence[Any]) -> int:
    query, key, value = args[:3]
    scores = _numel(query) // max(_sizes(query)[-1], 1) * _sizes(key)[-2]
    return 2 * scores * (_sizes(query)[-1] + _sizes(value)[-1])


def _attention_backward(forward: Record, node: Record) -> int:
    # The scores again, and two products for each of the forward's two.
    return _attention(forward.arguments or ()) * 5 // 2


def _matrices(args: Sequence[Any]) -> list[Any]:
    """The weights of a recurrent layer, without its biases."""
    return [p for p in args[4] if len(_sizes(p)) == 2]


def _steps(args: Sequence[Any]) -> int:
    """Of all sequences of a recurrent layer together."""
    return _numel(args[1]) // max(_sizes(args[1])[-1], 1)


def _recurrent(args: Sequence[Any]) -> int:
    return 2 * _steps(args) * sum(map(_numel, _matrices(args)))


def _recurrent_backward(forward: Record, node: Record) -> int:
    args: Sequence[Any] = forward.arguments or ()
    matrices = _matrices(args)
    directions = 1 if len(matrices) <= 3 else 2  # each has two matrices, or three
    of_inputs = 2 * sum(map(_numel, matrices[:: len(matrices) // directions]))
    of_states = 2 * sum(map(_numel, matrices)) - of_inputs
    # A first state that nobody wants the gradient of ends the way one step earlier.
    sequences = 0 if node.gives_gradient_of(1) else math.prod(_sizes(args[2])[1:-1])
    flops = (_steps(args) - sequences) * of_states
    if node.gives_gradient_of(0):
        flops += _steps(args) * of_inputs
    if any(node.gives_gradient_of(3 + i) for i in range(len(args[4]))):
        flops += _recurrent(args)
    return flops


def _for_each_factor(
    rule: Callable[[Sequence[Any]], int], factors: Sequence[int]
) -> Callable[[Record, Record], int]:
    def backward(forward: Record, node: Record) -> int:
        wanted = sum(node.gives_gradient_of(factor) for factor in factors)
        return wanted * rule(forward.arguments or ())

    return backward


def _rule(
    forward: Callable[[Sequence[Any]], int], factors: Sequence[int], backward_name: str
) -> _Rule:
    return _Rule(forward, _for_each_factor(forward, factors), backward_name)


_RULES: dict[str, _Rule] = {
    "aten::mm": _rule(lambda a: _rows_times_matrix(a[0], a[1]), (0, 1), "aten.mm"),
    "aten::addmm": _rule(lambda a: _rows_times_matrix(a[1], a[2]), (1, 2), "aten.mm"),
    "aten::bmm": _rule(lambda a: _batched(a[0], a[1]), (0, 1), "aten.bmm"),
    "aten::baddbmm": _rule(lambda a: _batched(a[1], a[2]), (1, 2), "aten.bmm"),
    "aten::convolution": _rule(_convolution, (0, 1), "aten.convolution_backward"),
    "aten::_scaled_dot_product_flash_attention_for_cpu": _Rule(
        _attention,
        _attention_backward,
        "aten._scaled_dot_product_flash_attention_for_cpu_backward",
    ),
    "aten::_rnn_layer": _Rule(_recurrent, _recurrent_backward, "aten._rnn_layer_backward"),
}
# What gradients of factors are computed by: as large a product as that of the forward.
_GRADIENTS = frozenset(
    {"aten::mm", "aten::bmm", "aten::_convolution_input", "aten::_convolution_weight"}
)
# Counted in tables of operators, but no products.
_ELEMENTWISE = frozenset({"aten::add", "aten::mul"})


def product_of(record: Record) -> Product | None:
    """What an operator has multiplied; None if it is none that multiplies."""
    rule = _RULES.get(record.name)
    if rule is None or record.kind != Kind.OPERATOR or record.is_failed or not record.arguments:
        return None
    return Product(record.name.replace("::", "."), rule.forward(record.arguments))


def product_of_node(forward: Record, node: Record) -> Product | None:
    """The same for the backward of the operator ``forward``."""
    rule = _RULES.get(forward.name)
    if rule is None or not forward.arguments:
        return None
    return Product(rule.backward_name, rule.backward(forward, node))


def flops_of_call(recording: Recording, place: int, forwards: dict[int, int]) -> int:
    """The operations of one operator, for the column of a table."""
    record = recording.records[place]
    if record.kind != Kind.OPERATOR or not record.arguments:
        return 0
    if record.name in _ELEMENTWISE:
        return _numel(record.arguments[0])
    around = recording.records[record.parent] if record.parent >= 0 else None
    if around is not None and around.kind == Kind.NODE and record.name in _GRADIENTS:
        forward = product_of(recording.records[forwards.get(around.sequence, record.parent)])
        if forward is not None:
            return forward.flops
    product = product_of(record)
    return product.flops if product is not None else 0
