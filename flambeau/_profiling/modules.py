"""Time and memory by module: of its calls, and of their backward."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from flambeau._profiling.records import Kind, Recording
from flambeau._profiling.text import columns, cut, format_memory, format_share, format_time

__all__ = ["ModuleList", "ModuleTime", "by_module", "modules_around", "names_of_modules"]


class ModuleTime:
    """What the calls of one module took together, with those of the modules within it."""

    def __init__(self, name: str, kind: str) -> None:
        self.name = name
        self.kind = kind
        self.count = 0
        self.forward_time = 0.0  # microseconds
        self.self_forward_time = 0.0
        self.backward_time = 0.0
        self.memory = 0

    @property
    def depth(self) -> int:
        """How many modules it is within."""
        return self.name.count(".")

    @property
    def time(self) -> float:
        """Forward and backward together."""
        return self.forward_time + self.backward_time

    def __repr__(self) -> str:
        return (
            f"<ModuleTime {self.name} ({self.kind}) calls={self.count} "
            f"forward={format_time(self.forward_time)} backward={format_time(self.backward_time)}>"
        )


class ModuleList(list[ModuleTime]):
    """Modules in the order of their first call, those within another after it."""

    def __str__(self) -> str:
        return self.table()

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        depth: int | None = None,
        max_name_column_width: int = 55,
    ) -> str:
        """A table with a row for each module, indented by depth; ``depth`` leaves out deeper ones.

        ``sort_by`` is an attribute of `ModuleTime`, such as ``"backward_time"``.
        """
        whole = sum(module.time for module in self if module.depth == 0)
        rows = [m for m in self if depth is None or m.depth <= depth]
        if sort_by is not None:
            rows.sort(key=lambda module: getattr(module, sort_by), reverse=True)
        rows = rows[:row_limit] if row_limit >= 0 else rows

        def label(module: ModuleTime) -> str:
            text = f"{module.name} ({module.kind})"
            if sort_by is None and module.depth:
                text = f"{'  ' * module.depth}{module.name.rpartition('.')[2]} ({module.kind})"
            return cut(text, max_name_column_width)

        cells = [
            [
                label(module),
                format_share(module.time, whole),
                format_time(module.forward_time),
                format_time(module.self_forward_time),
                format_time(module.backward_time),
                format_memory(module.memory),
                str(module.count),
            ]
            for module in rows
        ]
        heads = ["Module", "Time %", "Forward", "Self forward", "Backward", "Memory", "Calls"]
        return "\n".join([*columns(heads, cells), ""])


def names_of_modules(recording: Recording) -> dict[int, str]:
    """The names of called modules by their numbers: the class of the outermost, then attributes."""
    names: dict[int, str] = {}
    numbers = {id(module): number for number, module in enumerate(recording.modules)}
    for place, record in enumerate(recording.records):
        if record.kind != Kind.MODULE or record.subject in names:
            continue
        if next(modules_around(recording, place), None) is not None:
            # Called within another without being its child: known by its class.
            names[record.subject] = record.name
            continue
        for path, module in recording.modules[record.subject].named_modules():
            number = numbers.get(id(module))
            if number is not None:
                names.setdefault(number, f"{record.name}.{path}" if path else record.name)
    return names


def modules_around(recording: Recording, place: int) -> Iterator[int]:
    """The places of the calls of modules around a record, the innermost first."""
    parent = recording.records[place].parent
    while parent >= 0:
        if recording.records[parent].kind == Kind.MODULE:
            yield parent
        parent = recording.records[parent].parent


def by_module(recording: Recording) -> ModuleList:
    """What each module took, with its part of the backward pass."""
    names = names_of_modules(recording)
    modules: dict[str, ModuleTime] = {}
    records = recording.records
    forwards = recording.forwards()
    for place, record in enumerate(records):
        if record.kind == Kind.MODULE:
            name = names[record.subject]
            module = modules.setdefault(name, ModuleTime(name, record.name))
            time = (record.end - record.start) / 1000
            module.count += 1
            module.forward_time += time
            module.self_forward_time += time
            for outer in modules_around(recording, place):
                modules[names[records[outer].subject]].self_forward_time -= time
                break
        elif record.kind == Kind.MEMORY:
            _add_memory(modules, names, recording, place)
        elif record.kind == Kind.EVALUATION and record.sequence in forwards:
            for outer in modules_around(recording, forwards[record.sequence]):
                module = modules[names[records[outer].subject]]
                module.backward_time += (record.end - record.start) / 1000
    return ModuleList(sorted(modules.values(), key=_in_order(list(modules))))


def _add_memory(
    modules: dict[str, ModuleTime], names: dict[int, str], recording: Recording, place: int
) -> None:
    for outer in modules_around(recording, place):
        modules[names[recording.records[outer].subject]].memory += recording.records[place].bytes


def _in_order(names: list[str]) -> Callable[[ModuleTime], list[int]]:
    """Modules within another follow it, in the order of their first calls."""
    first = {name: place for place, name in enumerate(names)}

    def key(module: ModuleTime) -> list[int]:
        parts = module.name.split(".")
        prefixes = (".".join(parts[: i + 1]) for i in range(len(parts)))
        return [first.get(prefix, len(first)) for prefix in prefixes]

    return key
