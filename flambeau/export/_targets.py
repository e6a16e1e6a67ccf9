"""Operators of exported graphs: the target of a row of the table, and the row of a target."""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterable
from typing import Any

import flambeau as fb
from flambeau import _C
from flambeau._ops import OpOverload, OpOverloadPacket
from flambeau._recording.program import Row, default_of, is_default, row_named
from flambeau.fx.node import Node
from flambeau.serialization import get_safe_globals

# Overloads that PyTorch's graphs name, by operator: for a tensor and for a number.
_PAIRS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"), ("Tensor",) * 2),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), ("Tensor", "Scalar")),
    "pow": ("Tensor_Tensor", "Tensor_Scalar"),
    "remainder": ("Tensor", "Scalar"),
}
_SINGLE = {
    "softmax": "int",
    "log_softmax": "int",
    "transpose": "int",
    "select": "int",
    "flatten": "using_ints",
    "squeeze": "dim",
    "split": "Tensor",
}
# Operators that a tensor is indexed by, which PyTorch has under other names.
_OTHER_NAMES = {"_slice": "slice", "_index": "index", "_alias": "alias"}
# Operators that PyTorch gives all but the tensor by name.
_BY_NAME = {"_to_copy"}
_PREFIX = "nn_functional_"
# Functions of torch.nn.functional that torch has, too, with other names or defaults.
_SAME_AT_TOP_LEVEL = {"relu", "softmax", "log_softmax", "dropout", "layer_norm", "group_norm"}
_SAME_AT_TOP_LEVEL |= {"selu", "celu", "alpha_dropout", "feature_alpha_dropout"}


def target_of(row: str, args: list[Any]) -> tuple[OpOverload, tuple[Any, ...], dict[str, Any]]:
    """The operator of torch.ops.aten for a row of the table, and its arguments for a call."""
    found = row_named(row)
    positional, named = [], {}
    for place, value in enumerate(args):
        name, _, _, keyword_only = found.parameters[place]
        if not (keyword_only or (row in _BY_NAME and place)):
            positional.append(value)
        elif not is_default(value, default_of(row, place)):
            named[name] = value
    stores = bool(found.flags & _C._OP_STORES)
    name = _packet_name(found, len(positional), named)
    return _overload(name, positional, stores), tuple(positional), named


def _packet_name(row: Row, count: int, named: Iterable[str]) -> str:
    name = _OTHER_NAMES.get(row.name, row.name)
    if not name.startswith(_PREFIX):
        return name
    short = name.removeprefix(_PREFIX)
    if not hasattr(fb, short) and not hasattr(fb.Tensor, short):
        return short
    # A function of torch.nn.functional that torch has, too, with the same arguments.
    other = Row(*found) if (found := _C._find_op(short)) else None
    return short if other is not None and _is_same(other, row, count, set(named)) else name


def _is_same(one: Row, other: Row, count: int, named: set[str]) -> bool:
    """Whether both do the same with these arguments: the first ones, and some by name."""
    if one.name not in _SAME_AT_TOP_LEVEL:
        return one.parameters == other.parameters
    rest = [p for p in one.parameters[count:] if p[0] not in named]
    has_defaults = all(parameter[2] is not None for parameter in rest)
    return _types(one, count) == _types(other, count) and has_defaults and named <= set(_names(one))


def _types(row: Row, count: int) -> list[str]:
    return [parameter[1] for parameter in row.parameters[:count]]


def _names(row: Row) -> list[str]:
    return [parameter[0] for parameter in row.parameters]


def _overload(name: str, args: list[Any], stores: bool) -> OpOverload:
    packet = getattr(fb.ops.aten, name)
    if stores:
        overload = "out"
    elif name == "pow" and not isinstance(args[0], Node):
        overload = "Scalar"
    elif name in _PAIRS and len(args) > 1:
        overload = _PAIRS[name][0 if _is_tensor(args[1]) else 1]
    else:
        overload = _SINGLE.get(name, "default")
    return getattr(packet, overload)  # type: ignore[no-any-return]


def _is_tensor(value: Any) -> bool:
    """Of a node, whether it stands for a tensor and not for a size."""
    return isinstance(value, Node) and value.target not in _SIZE_TARGETS


_SIZE_TARGETS = {
    fb.ops.aten.sym_size.int,
    *(getattr(operator, name) for name in ("add", "sub", "mul", "floordiv", "mod", "pow", "neg")),
}


def row_of(node: Node) -> tuple[str, tuple[Any, ...]]:
    """The row that a node calls, and its arguments in the order of the row."""
    known = node.meta.get("row")
    names = [known] if known is not None else []
    packet: Any = getattr(node.target, "overloadpacket", None)
    if getattr(packet, "_namespace", "") == "aten":
        names += _candidates(packet.__name__)
    for name in names:
        args = _in_order(row_named(name), node)
        if args is not None and target_of(name, list(args))[0] == node.target:
            return name, args
    raise NotImplementedError(
        f"save: {node.target!r} is no operator of the table for {node.args!r}; a program that "
        "calls it cannot be stored without its code"
    )


def _candidates(name: str) -> list[str]:
    """The rows that PyTorch's name of an operator may stand for."""
    own = {other: own for own, other in _OTHER_NAMES.items()}.get(name, name)
    bases = (own, f"{_PREFIX}{own}")
    return [each for each in _callable_rows() if each.partition(".")[0] in bases]


@functools.cache
def _callable_rows() -> list[str]:
    """The names of all rows that programs may call, without other names of the same."""
    names = [each for each, row in _C._op_names().items() if each == row]
    return [each for each in names if not Row(*_C._find_op(each)).flags & _C._OP_INNER]  # type: ignore[misc]


def _in_order(row: Row, node: Node) -> tuple[Any, ...] | None:
    names = _names(row)
    if len(node.args) > len(names) or not set(node.kwargs) <= set(names[len(node.args) :]):
        return None
    given = [*node.args, *([None] * (len(names) - len(node.args)))]
    for name, value in node.kwargs.items():
        given[names.index(name)] = value
    for place, parameter in enumerate(row.parameters[: len(given)]):
        if place >= len(node.args) and parameter[0] not in node.kwargs and parameter[2] is None:
            return None  # it has no default
    return tuple(given)


def library_name(target: Any) -> str | None:
    """The name under which files have an operator of torch.library."""
    if isinstance(target, OpOverload) and target._operator is not None:
        return f"torch.ops.{target}"
    return None


def library_operator(name: str) -> OpOverload:
    """An operator of torch.library that the user lets files call."""
    parts = name.split(".")
    found: Any = None
    if len(parts) == 5 and parts[:2] == ["torch", "ops"] and parts[3] and "__" not in name:
        packet = getattr(getattr(fb.ops, parts[2]), parts[3], None)
        found = getattr(packet, parts[4], None) if isinstance(packet, OpOverloadPacket) else None
    if not isinstance(found, OpOverload) or found._operator is None:
        raise ValueError(f"load: the file asks for {name!r}, which is no operator of the table")
    if found not in get_safe_globals():
        raise ValueError(
            f"load: the file asks for {name!r}, an operator of torch.library, which runs code of "
            f"this program; allow it with serialization.add_safe_globals([{name}])"
        )
    return found
