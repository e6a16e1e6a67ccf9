"""Signatures of operators in PyTorch's notation: ``ns::name(Tensor x, int k=3) -> Tensor``."""

from __future__ import annotations

import ast
import inspect
import re
import typing
from collections.abc import Callable, Iterable, Sequence
from types import UnionType
from typing import Any, NamedTuple

import flambeau as fb

__all__: list[str] = []

_HEAD = re.compile(
    r"^(?:(?P<ns>\w+)::)?(?P<name>\w+)(?:\.(?P<overload>\w+))?\s*(?P<rest>\(.*)$", re.S
)
_ARGUMENT = re.compile(r"^(?P<type>[^=]+?)\s+(?P<name>\w+)(?:\s*=\s*(?P<default>.+))?$", re.S)
_ALIAS = re.compile(r"\(\w*!?(?:\s*->\s*[\w*]+!?)?\)")  # Tensor(a!): who shares memory

_PLAIN = {
    fb.Tensor: "Tensor",
    int: "SymInt",
    float: "float",
    bool: "bool",
    str: "str",
    fb.dtype: "ScalarType",
    fb.device: "Device",
    int | float | bool: "Scalar",
    int | float: "Scalar",
}
_NAMES = {"Tensor": fb.Tensor, "dtype": fb.dtype, "device": fb.device}
_CHECKS: dict[str, tuple[type, ...]] = {
    "Tensor": (fb.Tensor,),
    "int": (int,),
    "SymInt": (int,),
    "float": (int, float),
    "bool": (bool,),
    "str": (str,),
    "Scalar": (int, float, bool, complex),
    "ScalarType": (fb.dtype,),
    "Device": (fb.device, str),
}


class Argument(NamedTuple):
    """One argument of an operator."""

    name: str
    type: str
    default: str | None
    kwarg_only: bool
    is_write: bool

    def has_default_value(self) -> bool:
        return self.default is not None

    @property
    def default_value(self) -> Any:
        """The default as a value of Python."""
        if self.default is None:
            return None
        try:
            return ast.literal_eval(self.default)
        except (SyntaxError, ValueError):
            return self.default

    def accepts(self, value: Any) -> bool:
        """Whether a value is of the type of the argument."""
        return _is_of(value, _ALIAS.sub("", self.type))

    def __str__(self) -> str:
        end = "" if self.default is None else f"={self.default}"
        return f"{self.type} {self.name}{end}"


class FunctionSchema:
    """The signature of one overload."""

    def __init__(self, text: str) -> None:
        head = _HEAD.match(text.strip())
        if head is None:
            raise RuntimeError(f"schema: expected name(arguments) -> results, got {text!r}")
        self.namespace = head["ns"] or ""
        self.name = f"{head['ns']}::{head['name']}" if head["ns"] else head["name"]
        self.overload_name = head["overload"] or ""
        inner, returns = _split_result(head["rest"], text)
        self.arguments = _arguments(inner)
        self.returns = returns

    @property
    def is_mutable(self) -> bool:
        return any(argument.is_write for argument in self.arguments)

    def __str__(self) -> str:
        overload = f".{self.overload_name}" if self.overload_name else ""
        parts = []
        for index, argument in enumerate(self.arguments):
            is_first = argument.kwarg_only and (
                index == 0 or not self.arguments[index - 1].kwarg_only
            )
            parts += ["*", str(argument)] if is_first else [str(argument)]
        return f"{self.name}{overload}({', '.join(parts)}) -> {self.returns}"

    def bind(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        """The values of a call in the order of the arguments."""
        positional = [each for each in self.arguments if not each.kwarg_only]
        if len(args) > len(positional):
            raise RuntimeError(
                f"{self.name}: expected at most {len(positional)} positional arguments, got "
                f"{len(args)}; declaration: {self}"
            )
        given = dict(zip((each.name for each in positional), args, strict=False))
        for name, value in kwargs.items():
            if name in given or all(name != each.name for each in self.arguments):
                raise RuntimeError(
                    f"{self.name}: unexpected argument {name!r}; declaration: {self}"
                )
            given[name] = value
        return [self._value(argument, given) for argument in self.arguments]

    def _value(self, argument: Argument, given: dict[str, Any]) -> Any:
        if argument.name not in given:
            if argument.default is None:
                raise RuntimeError(
                    f"{self.name}: argument {argument.name!r} is missing; declaration: {self}"
                )
            return argument.default_value
        value = given[argument.name]
        if not argument.accepts(value):
            raise RuntimeError(
                f"{self.name}: expected {argument.type} for argument {argument.name!r}, got "
                f"{type(value).__name__}; declaration: {self}"
            )
        return value


def _split_result(rest: str, text: str) -> tuple[str, str]:
    """What stands in the brackets, and what stands after the arrow."""
    depth = 0
    for index, letter in enumerate(rest):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            inner, end = rest[1:index], rest[index + 1 :].strip()
            if not end.startswith("->"):
                break
            return inner, end.removeprefix("->").strip()
    raise RuntimeError(f"schema: expected '-> results' after the arguments, got {text!r}")


def _split_commas(text: str) -> list[str]:
    parts, depth, start = [], 0, 0
    for index, letter in enumerate(text):
        depth += (letter in "([{") - (letter in ")]}")
        if letter == "," and depth == 0:
            parts.append(text[start:index].strip())
            start = index + 1
    return [*parts, text[start:].strip()] if text.strip() else []


def _arguments(text: str) -> list[Argument]:
    made, is_keyword = [], False
    for part in _split_commas(text):
        if part == "*":
            is_keyword = True
            continue
        match = _ARGUMENT.match(part)
        if match is None:
            raise RuntimeError(f"schema: expected 'type name' or 'type name=default', got {part!r}")
        kind = match["type"].strip()
        made.append(Argument(match["name"], kind, match["default"], is_keyword, "!" in kind))
    return made


def _is_of(value: Any, kind: str) -> bool:
    if kind.endswith("?"):
        return value is None or _is_of(value, kind[:-1])
    if kind.endswith("]"):
        inner = kind[: kind.rindex("[")]
        if isinstance(value, (list, tuple)):
            return all(_is_of(each, inner) for each in value)
        return kind != f"{inner}[]" and _is_of(value, inner)  # int[2] takes one number too
    expected = _CHECKS.get(kind)
    return expected is None or isinstance(value, expected)


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
    tags: Any = (),
) -> str:
    """The signature of a function of Python, from its annotations."""
    signature = inspect.signature(prototype_function)
    written = set() if mutates_args == "unknown" else set(mutates_args)
    unknown = written - set(signature.parameters)
    if unknown:
        raise ValueError(
            f"infer_schema: mutates_args names {sorted(unknown)}, which are no arguments of "
            f"{signature}"
        )
    parts, is_keyword = [], False
    for index, parameter in enumerate(signature.parameters.values()):
        if parameter.kind is parameter.KEYWORD_ONLY and not is_keyword:
            is_keyword = True
            parts.append("*")
        mutates = parameter.name in written or mutates_args == "unknown"
        parts.append(_inferred(parameter, prototype_function, index, mutates))
    result = _result_type(signature.return_annotation, prototype_function)
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


def _inferred(parameter: inspect.Parameter, function: Any, index: int, mutates: bool) -> str:
    if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
        raise ValueError("infer_schema: *args and **kwargs have no type")
    if parameter.annotation is parameter.empty:
        raise ValueError(f"infer_schema: parameter {parameter.name} has no type annotation")
    kind = _type_name(_evaluated(parameter.annotation, function))
    if kind is None:
        raise ValueError(
            f"infer_schema: parameter {parameter.name} has the type {parameter.annotation!r}, "
            f"which no operator takes"
        )
    if mutates and kind.startswith("Tensor"):
        kind = kind.replace("Tensor", f"Tensor(a{index}!)", 1)
    if parameter.default is parameter.empty:
        return f"{kind} {parameter.name}"
    default = parameter.default
    shown = f'"{default}"' if isinstance(default, str) else str(default).removeprefix("torch.")
    return f"{kind} {parameter.name}={shown}"


def _evaluated(annotation: Any, function: Any) -> Any:
    """An annotation that is text, as modules with postponed annotations have, as a type."""
    if not isinstance(annotation, str):
        return annotation
    names = {**vars(typing), **_NAMES, "torch": fb, **getattr(function, "__globals__", {})}
    try:
        return eval(annotation, names)  # the program's own annotation
    except Exception as error:
        raise ValueError(f"infer_schema: the annotation {annotation!r} has no meaning") from error


def _type_name(kind: Any) -> str | None:
    if kind in _PLAIN:
        return _PLAIN[kind]
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, UnionType):
        others = [each for each in inner if each is not type(None)]
        if set(others) in ({int, float}, {int, float, bool}):
            return "Scalar" if len(others) == len(inner) else "Scalar?"
        name = _type_name(others[0]) if len(others) == 1 and len(inner) == 2 else None
        return f"{name}?" if name else None
    if origin in (list, Sequence) and inner:
        name = _type_name(inner[0])
        return f"{name}[]" if name else None
    return None


def _result_type(annotation: Any, function: Any) -> str:
    kind = _evaluated(annotation, function)
    if kind is inspect.Signature.empty:
        raise ValueError("infer_schema: the function has no annotation of its result")
    if kind in (None, type(None)):
        return "()"
    if typing.get_origin(kind) is tuple:
        names = [_type_name(each) for each in typing.get_args(kind)]
        if all(names):
            return "(" + ", ".join(str(name) for name in names) + ")"
    name = _type_name(kind)
    if name is None:
        raise ValueError(f"infer_schema: no operator returns {annotation!r}")
    return name
