"""Which of the names that a program uses Flambeau lacks, refuses, or takes without effect."""

from __future__ import annotations

import inspect
from collections import Counter
from pathlib import Path
from typing import NamedTuple, NoReturn

from flambeau._display.progress import progress
from flambeau._limits.accepted import ACCEPTED
from flambeau.compat._names import ABSENT, declares, resolve
from flambeau.compat._uses import Use, source_files, uses_in

__all__ = ["Audit", "Missing", "audit"]

# Modules that plug-ins of other hardware add to PyTorch: programs use them where they are.
_PLUG_INS = ("hpu", "mlu", "musa", "neuron", "npu", "tpu")
_DEVICES = ("accelerator", "cuda", "mps", "mtia", "xpu")


class Missing(NamedTuple):
    """A name that Flambeau lacks, where a program first uses it, and how often it does."""

    name: str
    first: Use
    uses: int


class Audit(NamedTuple):
    """What an audit found.

    `refused` are names that exist only to say what to use instead. `accepted` are names, and
    options of calls as ``name(option)``, that are taken and change nothing.
    """

    files: int
    unreadable: dict[Path, str]
    names: Counter[str]
    missing: list[Missing]
    refused: list[Missing]
    accepted: list[Missing]
    working_uses: int

    @property
    def coverage(self) -> float:
        """The share of the program's uses of PyTorch that Flambeau serves."""
        total = self.names.total()
        return self.working_uses / total if total else 1.0


def audit(*paths: str | Path, show_progress: bool = False) -> Audit:
    """Look through programs, notebooks and folders of them, without running anything.

    What a program calls on tensors and modules is not seen: what those are, only a run can tell.
    """
    uses: list[Use] = []
    unreadable: dict[Path, str] = {}
    files = [file for path in paths for file in source_files(Path(path))]
    for file in progress(files, "reading", unit="file", keep=False, show=show_progress):
        uses += _readable_uses(file, unreadable)
    names = Counter(use.name for use in uses)
    missing = {name for name in names if _lacks(name)}
    refused = {name for name in names if _always_raises(name)}
    accepted = [(what, use) for use in uses for what in _accepted(use)]
    return Audit(
        len(files),
        unreadable,
        names,
        _grouped([(use.name, use) for use in uses if use.name in missing]),
        _grouped([(use.name, use) for use in uses if use.name in refused]),
        _grouped(accepted),
        sum(use.name not in missing | refused and not _accepted(use) for use in uses),
    )


def _grouped(uses: list[tuple[str, Use]]) -> list[Missing]:
    """Names with their first use and their number, the most used first."""
    first: dict[str, Use] = {}
    for name, use in uses:
        first.setdefault(name, use)
    counts = Counter(name for name, _ in uses)
    order = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [Missing(name, first[name], count) for name, count in order]


def _readable_uses(file: Path, unreadable: dict[Path, str]) -> list[Use]:
    try:
        return list(uses_in(file))
    except SyntaxError as error:
        unreadable[file] = f"{error.msg}, line {error.lineno}" if error.lineno else error.msg
    except (OSError, ValueError, RecursionError) as error:
        unreadable[file] = str(error)
    return []


def _part(name: str) -> str:
    """The part of PyTorch that a name belongs to: ``cuda`` of ``torch.cuda.synchronize``."""
    return name.partition(".")[2].partition(".")[0]


def _lacks(name: str) -> bool:
    """Whether Flambeau has no such name. What an object has only when it is made, it may have."""
    owner, _, attribute = name.rpartition(".")
    if _part(name) in _PLUG_INS:
        return False
    return resolve(name) is ABSENT and not (owner and declares(resolve(owner), attribute))


def _always_raises(name: str) -> bool:
    """Whether a name can only be imported. What needs a device is asked for before it is used."""
    if _part(name) in _DEVICES:
        return False
    value = resolve(name)
    if isinstance(value, type):
        return any(_returns_nothing(getattr(value, name)) for name in ("__new__", "__init__"))
    return _returns_nothing(value)


def _accepted(use: Use) -> list[str]:
    """What a use passes that is taken without effect: the name itself, or options of the call."""
    options = [f"{use.name}({option})" for option in use.options if _differs(use, option)]
    return [each for each in (use.name, *options) if each in ACCEPTED]


def _differs(use: Use, option: str) -> bool:
    """Whether a call gives an option another value than it has anyway."""
    if f"{use.name}({option})" not in ACCEPTED:
        return False
    parameters = inspect.signature(resolve(use.name)).parameters
    return option not in parameters or parameters[option].default != use.options[option]


def _returns_nothing(function: object) -> bool:
    annotations = getattr(function, "__annotations__", {})
    return annotations.get("return") in ("NoReturn", NoReturn)
