"""Count the floating point operations of a program by operator and by module."""

from __future__ import annotations

import warnings
from collections import defaultdict
from types import TracebackType
from typing import Any

import flambeau as fb
from flambeau._profiling.flops import Product, product_of, product_of_node
from flambeau._profiling.modules import modules_around, names_of_modules
from flambeau._profiling.records import Kind, Recording, Session
from flambeau._profiling.text import columns, flops_unit

__all__ = ["FlopCounterMode"]

_GLOBAL = "Global"


class FlopCounterMode:
    """Count the multiplications and additions inside a ``with`` block.

    Matrix products, convolutions, attention and recurrent layers count, forwards and backwards;
    other computations do not. At the end of the block a table is printed, unless
    ``display=False``, with modules down to ``depth``.
    """

    def __init__(
        self,
        mods: Any = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn(
                "mods argument is not needed anymore, you can stop passing it", stacklevel=2
            )
        if custom_mapping:
            raise NotImplementedError(
                "FlopCounterMode: custom_mapping is not supported; the products within an operator "
                "of your own are counted as they are"
            )
        self.depth = depth
        self.display = display
        self._session: Session | None = None
        self._counts: dict[str, dict[str, int]] = {_GLOBAL: {}}

    def __enter__(self) -> FlopCounterMode:
        if self._session is not None:
            raise RuntimeError("FlopCounterMode: the counter is counting already; make another one")
        self._session = Session(arguments=True, modules=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._session is None:
            return
        self._counts = _count(self._session.stop())
        self._session = None
        if self.display:
            print(self.get_table(self.depth))

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Operations by module and operator; those of all are under ``"Global"``.

        Operators are those of ``torch.ops.aten``, or their names where it has none.
        """
        return {
            name: {_operator(operator): flops for operator, flops in of_operators.items()}
            for name, of_operators in self._counts_now().items()
        }

    def get_total_flops(self) -> int:
        """All operations so far."""
        return sum(self._counts_now()[_GLOBAL].values())

    def _counts_now(self) -> dict[str, dict[str, int]]:
        return _count(self._session.read()) if self._session is not None else self._counts

    def get_table(self, depth: int | None = None) -> str:
        """Return a table of modules, each followed by its submodules, with their operators."""
        counts = self._counts_now()
        depth = self.depth if depth is None else depth
        total = sum(counts[_GLOBAL].values())
        scale, unit = flops_unit(total)

        def cells(label: str, flops: int) -> list[str]:
            share = f"{100 * flops / total:.2f}%" if total else "0.00%"
            return [label, f"{flops / scale:.3f}", share]

        rows = []
        for name, of_operators in counts.items():
            level = 0 if name == _GLOBAL else name.count(".") + 1
            if level > depth:
                continue
            indent = "  " * level
            label = name.rpartition(".")[2] if level > 1 else name
            rows.append(cells(indent + label, sum(of_operators.values())))
            rows += [cells(f"{indent} - {op}", flops) for op, flops in of_operators.items()]
        return "\n".join(columns(["Module", unit, "% Total"], rows))


def _operator(name: str) -> Any:
    return getattr(fb.ops.aten, name.removeprefix("aten."), name)


def _count(recording: Recording) -> dict[str, dict[str, int]]:
    names = names_of_modules(recording)
    forwards = recording.forwards()
    counts: dict[str, dict[str, int]] = defaultdict(lambda: defaultdict(int))
    counted: set[int] = set()  # and all within them
    for place, record in enumerate(recording.records):
        # What a backward runs under another name, such as a checkpoint, is not part of it.
        if record.parent in counted and record.kind not in (Kind.RANGE, Kind.MODULE):
            counted.add(place)
            continue
        forward = forwards.get(record.sequence, -1) if record.kind == Kind.NODE else -1
        product: Product | None
        if forward >= 0:
            product = product_of_node(recording.records[forward], record)
        else:
            product = product_of(record)
        if product is None:
            continue
        counted.add(place)
        outer = modules_around(recording, forward if forward >= 0 else place)
        # A module may call itself: it counts once.
        around = {names[recording.records[call].subject] for call in outer}
        for name in (_GLOBAL, *around):
            counts[name][product.operator] += product.flops
    plain = {name: dict(counts[name]) for name in counts if counts[name]}
    return {_GLOBAL: plain.pop(_GLOBAL, {}), **dict(sorted(plain.items(), key=_by_parts))}


def _by_parts(item: tuple[str, object]) -> list[tuple[int, str]]:
    """Modules within another follow it; "2" comes before "10"."""
    return [(int(part) if part.isdigit() else 0, part) for part in item[0].split(".")]
