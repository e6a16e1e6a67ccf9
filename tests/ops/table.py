"""The operator table as the generated `op_info` tells it, in the shape the tests need."""

import dataclasses
import functools
from typing import Any

import flambeau


@dataclasses.dataclass(frozen=True)
class Operator:
    """What the table says about one operator."""

    name: str
    kind: str
    signature: str
    dtypes: tuple[str, ...]
    forms: frozenset[str]
    aliases: tuple[str, ...]
    doc: str

    @property
    def method_name(self) -> str:
        """The name on Tensor: without the namespace."""
        return self.name.rpartition(".")[2]

    @property
    def writes_first_argument(self) -> bool:
        """Whether the operator is in-place by itself (`fill_`)."""
        return self.name.endswith("_")

    def call(self, t: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the operator of module `t`: as a function if it has that form, else as a method."""
        if "function" in self.forms:
            return resolve(t, self.name)(*args, **kwargs)
        return getattr(args[0], self.method_name)(*args[1:], **kwargs)


def resolve(t: Any, dotted: str) -> Any:
    """The object that `t.a.b` names."""
    return functools.reduce(getattr, dotted.split("."), t)


@functools.cache
def operators() -> dict[str, Operator]:
    """Every operator of the table by name."""
    table = (
        Operator(
            name=info["name"],
            kind=info["kind"],
            signature=info["signature"],
            dtypes=tuple(info["dtypes"]),
            forms=frozenset(info["forms"]),
            aliases=tuple(info["aliases"]),
            doc=info["doc"],
        )
        for info in flambeau._C.op_info()
    )
    return {operator.name: operator for operator in table}
