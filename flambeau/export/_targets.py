"""Operators of exported graphs: what a call becomes, and the name that it is stored under."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any

import flambeau as fb
from flambeau._inner import INNER
from flambeau._ops import OpOverload, OpOverloadPacket, _own_operator
from flambeau._stored_calls import may_call, operators
from flambeau._traced_int import check_decision
from flambeau.fx._naming import function_name, torch_names
from flambeau.overrides import is_tensor_method_or_property
from flambeau.serialization import get_safe_globals

# Overloads that PyTorch's graphs name, by operator: for a tensor and for a number.
_PAIRS = {
    **dict.fromkeys(("add", "sub", "mul", "div", "add_", "sub_", "mul_", "div_"), ("Tensor",) * 2),
    **dict.fromkeys(("eq", "ne", "lt", "le", "gt", "ge"), ("Tensor", "Scalar")),
    "pow": ("Tensor_Tensor", "Tensor_Scalar"),
    "remainder": ("Tensor", "Scalar"),
}
# Functions of torch.nn.functional that torch has, too, with the same arguments.
_SAME_AT_TOP_LEVEL = {"relu", "softmax", "log_softmax", "dropout", "layer_norm", "group_norm"}
_SAME_AT_TOP_LEVEL |= {"selu", "celu", "alpha_dropout", "feature_alpha_dropout"}
# Operators whose sizes may be given one by one, and where they begin.
_SIZES = {**dict.fromkeys(("view", "reshape", "expand", "permute", "repeat"), 1)}
_SIZES |= dict.fromkeys(("ones", "zeros", "empty", "rand", "randn"), 0)
_SINGLE = {
    "softmax": "int",
    "log_softmax": "int",
    "transpose": "int",
    "select": "int",
    "flatten": "using_ints",
    "squeeze": "dim",
    "split": "Tensor",
}
_OPERATORS = {
    "__pow__": "pow",
    "__floordiv__": "floor_divide",
    "__eq__": "eq",
    "__and__": "bitwise_and",
    "__or__": "bitwise_or",
    "__xor__": "bitwise_xor",
    "__invert__": "bitwise_not",
    "__lshift__": "bitwise_left_shift",
    "__rshift__": "bitwise_right_shift",
}
_REFLECTED = {
    "__rsub__": "sub",
    "__rtruediv__": "div",
    "__rfloordiv__": "floor_divide",
    "__rpow__": "pow",
    "__rmod__": "remainder",
    "__rmatmul__": "matmul",
}


# Methods of the second argument of the function.
_OTHER_ORDER = {"where", "polygamma"}


def recorded_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    """The operator of torch.ops.aten for a call, where there is one, and its arguments."""
    if function is fb.Tensor.__getitem__:
        return operator.getitem, args, kwargs
    if function is fb.Tensor.__setitem__:
        return operator.setitem, args, kwargs
    if is_tensor_method_or_property(function):
        return _method_call(function, args, kwargs)
    name = function_name(function)
    args, kwargs = _without_defaults(function, args, kwargs)
    own = _own_operator(name)
    is_alias = torch_names().get(function) == f"torch.{name}"
    is_same = is_alias or (name in _SAME_AT_TOP_LEVEL and _takes(own, args, kwargs))
    if own is not function and not is_same:
        return function, args, kwargs
    return _overload(name, args), _with_size_list(name, args), kwargs


def _method_call(
    method: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], tuple[Any, ...], dict[str, Any]]:
    name = method.__name__
    if name == "__get__":  # x.T and its like
        return getattr, (args[0], method.__self__.__name__), {}
    if name in _REFLECTED:
        exchanged = (args[1], args[0])
        return _overload(_REFLECTED[name], exchanged), exchanged, {}
    name = _OPERATORS.get(name, name)
    if name in _OTHER_ORDER and len(args) > 1:
        args = (args[1], args[0], *args[2:])
    if _own_operator(name) is None:
        raise NotImplementedError(f"export: Tensor.{name} cannot be recorded in a graph")
    args, kwargs = _without_defaults(method, args, kwargs)
    return _overload(name, args), _with_size_list(name, args), kwargs


def _takes(function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    signature = _signature(function)
    if signature is None:
        return False
    try:
        signature.bind(*args, **kwargs)
    except TypeError:
        return False
    return True


def _with_size_list(name: str, args: tuple[Any, ...]) -> tuple[Any, ...]:
    """``view(x, 2, 3)`` as ``view(x, [2, 3])``."""
    first = _SIZES.get(name, len(args))
    sizes = args[first:]
    if not sizes:
        return args
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        return (*args[:first], list(sizes[0]))
    return (*args[:first], list(sizes)) if all(isinstance(n, int) for n in sizes) else args


def _overload(name: str, args: tuple[Any, ...]) -> OpOverload:
    packet = getattr(fb.ops.aten, name)
    if name == "pow" and not isinstance(args[0], fb.Tensor):
        overload = "Scalar"
    elif name in _PAIRS and len(args) > 1:
        overload = _PAIRS[name][0 if isinstance(args[1], fb.Tensor) else 1]
    else:
        overload = _SINGLE.get(name, "default")
    return getattr(packet, overload)  # type: ignore[no-any-return]


@functools.cache
def _signature(function: Callable[..., Any]) -> inspect.Signature | None:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def _without_defaults(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Arguments by position where they can be, without those that are as if left out."""
    signature = _signature(function)
    if signature is None:
        return args, kwargs
    try:
        given = signature.bind(*args, **kwargs).arguments
    except TypeError:
        return args, kwargs
    parameters = list(signature.parameters.values())
    if any(p.kind is p.VAR_POSITIONAL or p.kind is p.VAR_KEYWORD for p in parameters):
        return args, kwargs
    given = {p.name: given[p.name] for p in parameters if _is_set(p, given)}
    positional = []
    for parameter in parameters:
        if parameter.name not in given or parameter.kind is parameter.KEYWORD_ONLY:
            break
        positional.append(given.pop(parameter.name))
    return tuple(positional), given


def _is_set(parameter: inspect.Parameter, given: dict[str, Any]) -> bool:
    if parameter.name not in given:
        return False
    value, default = given[parameter.name], parameter.default
    return default is parameter.empty or type(value) is not type(default) or value != default


# --- names in files

_BUILTINS = {
    "operator.getitem": operator.getitem,
    "operator.setitem": operator.setitem,
    "builtins.getattr": getattr,
    "sizes.check": check_decision,
    **{
        f"operator.{name}": getattr(operator, name)
        for name in ("add", "sub", "mul", "floordiv", "truediv", "mod", "neg", "pow")
    },
}


@functools.cache
def _stored_names() -> dict[Any, str]:
    private = {f: f"torch._C.{f.__name__}" for f in operators() if f.__name__.startswith("_")}
    return {**private, **torch_names(), **{value: name for name, value in _BUILTINS.items()}}


def name_of(target: Any) -> str:
    """The name under which files have an operator."""
    if isinstance(target, OpOverload):
        return f"torch.ops.{target}"
    name = _stored_names().get(target)
    if name is None:
        raise NotImplementedError(
            f"save: {target!r} is no operator of the package; a program that calls it cannot be "
            "stored without its code"
        )
    return name


def operator_named(name: str) -> Any:
    """The operator that a file names; ValueError if a program in a file may not call it."""
    if name.startswith("torch.ops."):
        return _overload_named(name)
    if name not in _named_in_files():
        raise ValueError(f"load: the file asks for {name!r}, which is no operator of tensors")
    return _named_in_files()[name]


@functools.cache
def _named_in_files() -> dict[str, Any]:
    own = {name: function for function, name in _stored_names().items() if may_call(function)}
    return {**own, **_BUILTINS}


def _overload_named(name: str) -> OpOverload:
    """An operator of the package, or one that the user lets files call."""
    parts = name.split(".")
    found: Any = None
    if len(parts) == 5 and parts[3] and not any(part.startswith("__") for part in parts):
        packet = getattr(getattr(fb.ops, parts[2]), parts[3], None)
        found = getattr(packet, parts[4], None) if isinstance(packet, OpOverloadPacket) else None
    if not isinstance(found, OpOverload):
        raise ValueError(f"load: the file asks for {name!r}, which is no operator")
    if found._operator is not None:
        if found not in get_safe_globals():
            raise ValueError(
                f"load: the file asks for {name!r}, an operator of torch.library, which runs "
                f"code of this program; allow it with serialization.add_safe_globals([{name}])"
            )
    elif not (parts[3] in INNER or may_call(found._call)):
        raise ValueError(f"load: the file asks for {name!r}, which is no operator of tensors")
    return found
