"""An operator's name means the recorded function in one namespace and its body in another.

So whoever calls an operator in C++ says which one: `ops::`, `compute::` or `composed::`.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from opgen.__main__ import load_table
from opgen.model import TABLE

CSRC = Path(__file__).parents[2] / "csrc"

# Functions of the core on types of elements, and of the language of formulas on what may be real.
OTHERS = {"is_complex", "can_cast", "conj"}
# Members, constructors of members and parameters that are called as an operator is.
LOCAL = {
    "autograd/autocast.h": {"add"},
    "autograd/batch_rules.cpp": {"all"},
    "autograd/engine.cpp": {"add"},
    "autograd/inplace.h": {"view"},
    "autograd/one_device.h": {"add"},
    "ops/index.cpp": {"dim", "index"},
    "ops/norm.cpp": {"mean"},
    "ops/random_fill.h": {"fill"},
}


def operator_names() -> set[str]:
    if not TABLE.ops:
        load_table()
    native = [op for op in TABLE.ops if op.kind not in ("python", "bound")]
    in_place = {f"{op.function}_" for op in native if op.has_inplace_operator}
    return ({op.function for op in native} | in_place) - OTHERS


def calls(text: str, names: set[str]) -> Iterator[tuple[int, str]]:
    """Lines and names of calls without a qualifier; what follows a type is a declaration."""
    named = re.compile(rf"(?<![\w:.>~])({'|'.join(sorted(names, key=len, reverse=True))})\(")
    declares = re.compile(r"(?:\b(?!return\b|else\b|case\b)[A-Za-z_]\w*|\w[&*]|>) $")
    for number, line in enumerate(text.splitlines(), 1):
        code = re.sub(r"//.*", "", re.sub(r'"(\\.|[^"\\])*"', '""', line))
        for match in named.finditer(code):
            if not declares.search(code[: match.start()]):
                yield number, match[1]


def test_calls_are_found() -> None:
    text = """\
Tensor mean(const Tensor& input) { return sum(input); }
const Tensor y = ops::exp(x) + compute::sum(x), z = exp(x);
  log(x);  // mean(x)
Result& add(const Tensor& t);
FB_CHECK(x & ge(x, 0), "mean(x)");
"""
    names = {"mean", "sum", "exp", "log", "add", "ge"}
    assert list(calls(text, names)) == [(1, "sum"), (2, "exp"), (3, "log"), (5, "ge")]


def test_a_call_of_an_operator_says_which() -> None:
    names = operator_names()
    found = [
        f"{path.relative_to(CSRC)}:{number}: {name}(...)"
        for folder in ("ops", "autograd")
        for path in sorted((CSRC / folder).rglob("*"))
        if path.suffix in (".h", ".cpp")
        for number, name in calls(path.read_text(), names)
        if name not in LOCAL.get(str(path.relative_to(CSRC)), set())
    ]
    assert not found, "\n".join(found)
