"""The operator table as the generated `op_info` tells it, in the shape the tests need."""

import dataclasses
import functools
from typing import Any

from flambeau import _C
from tests.ops import dtypes


@dataclasses.dataclass(frozen=True)
class Operator:
    """What the table says about one operator, all of its overloads together."""

    name: str  # with the namespace: linalg.solve
    kinds: frozenset[str]
    signatures: tuple[str, ...]
    dtypes: tuple[str, ...]
    forms: frozenset[str]
    function_forms: frozenset[str]  # other forms that take the arguments as the function does
    docs: tuple[str, ...]
    random: bool
    gradients: tuple[str, ...]  # how each overload is differentiated
    runs: frozenset[str]  # on which devices, by Op.runs of opgen/model.py

    @property
    def method_name(self) -> str:
        """The name on Tensor: without the namespace."""
        return self.name.rpartition(".")[2]

    def call(self, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operator of module `t`: as a function if it has that form, else as a method."""
        if "function" in self.forms:
            return resolve(t, self.name)(*args, **kwargs)
        return getattr(args[0], self.method_name)(*args[1:], **kwargs)

    def call_in_place(self, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The same by the form that changes its first argument."""
        if "method" in self.forms or "function" not in self.forms:
            return getattr(args[0], f"{self.method_name}_")(*args[1:], **kwargs)
        if "." in self.name:
            return resolve(t, self.name)(*args, **kwargs, inplace=True)
        return resolve(t, f"{self.name}_")(*args, **kwargs)


def resolve(t: Any, dotted: str) -> Any:
    """The object that `t.a.b` names."""
    return functools.reduce(getattr, dotted.split("."), t)


@functools.cache
def operators() -> dict[str, Operator]:
    """Every public operator of the table by name, aliases aside.

    Methods that concern the graph compute nothing; tests/autograd is about them. Those of sparse
    tensors need other samples; tests/sparse is about them.
    """
    overloads: dict[str, list[dict[str, Any]]] = {}
    for info in _C.op_info():
        is_operator = not info["name"].startswith("_") and info["family"] not in ("graph", "sparse")
        if is_operator and not info["alias_of"]:
            overloads.setdefault(_public_name(info), []).append(info)
    return {name: _merged(name, infos) for name, infos in overloads.items()}


def aliases() -> dict[str, str]:
    """Other names of operators, and the operators they name."""
    return {_public_name(info): info["alias_of"] for info in _C.op_info() if info["alias_of"]}


def _public_name(info: dict[str, Any]) -> str:
    return f"{info['namespace']}.{info['name']}" if info["namespace"] else info["name"]


def _merged(name: str, infos: list[dict[str, Any]]) -> Operator:
    taken = {dtype for info in infos for dtype in info["dtypes"]}
    return Operator(
        name=name,
        kinds=frozenset(info["kind"] for info in infos),
        signatures=tuple(info["signature"] for info in infos),
        dtypes=tuple(each for each in dtypes.ALL if each in taken),
        forms=frozenset(form for info in infos for form in info["forms"]),
        function_forms=frozenset(
            form for info in infos if "function" in info["forms"] for form in info["forms"]
        ),
        docs=tuple(info["doc"] for info in infos),
        random=any(info["random"] for info in infos),
        gradients=tuple(info["grad"] for info in infos),
        runs=frozenset(info["runs"] for info in infos),
    )
