"""The tensors among an operator's arguments and results, as its node sees them."""

from __future__ import annotations

from dataclasses import dataclass

from opgen.emit.text import cpp_name
from opgen.model import Arg, Op


@dataclass(frozen=True)
class InputRange:
    """The position of an input's gradient among those of all inputs."""

    index: str
    count: str  # empty: one


def tensor_args(op: Op) -> list[Arg]:
    return [a for a in op.core_args if "Tensor" in a.type.annotation]


def is_list(arg: Arg) -> bool:
    return arg.type.annotation.startswith("list[Tensor")


def input_ranges(op: Op) -> dict[str, InputRange]:
    """Of the inputs that have gradients; the graph does not know the others."""
    ranges = {}
    fixed = 0
    lists: list[str] = []
    with_formulas = op.gradient_inputs
    for arg in tensor_args(op):
        if with_formulas and arg.name not in with_formulas:
            continue
        index = " + ".join([str(fixed), *lists]) if lists else str(fixed)
        if is_list(arg):
            count = f"{cpp_name(arg.name)}_count_"
            ranges[arg.name] = InputRange(index, count)
            lists.append(count)
        else:
            ranges[arg.name] = InputRange(index, "")
            fixed += 1
    return ranges


def saved_type(arg: Arg | None) -> str:
    if arg is None or arg.type.annotation in ("Tensor", "Tensor | None"):
        return "SavedTensor"
    return "SavedOperand" if arg.type.annotation == "Tensor | Number" else "SavedTensors"


def kept_type(arg: Arg) -> str:
    kinds = {
        "IntSpan": "Dims",
        "std::optional<IntSpan>": "std::optional<Dims>",
        "const Scalar&": "Scalar",
        "const std::string&": "std::string",
        "const std::optional<std::vector<double>>&": "std::optional<std::vector<double>>",
    }
    return kinds.get(arg.type.cpp, arg.type.cpp)


def results_list(op: Op) -> str:
    if op.result.annotation == "Tensor":
        return "result"
    if (
        op.result.annotation.startswith("tuple[Tensor, ..")
        or op.result.annotation == "list[Tensor]"
    ):
        return "result"
    parts = ", ".join(f"std::get<{i}>(result)" for i in range(op.result.count))
    return f"std::array{{{parts}}}"
