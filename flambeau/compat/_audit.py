"""Which of the names that a program uses Flambeau lacks."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import NamedTuple, NoReturn

from flambeau._progress import progress
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
    """What an audit found; `refused` are names that exist only to say what to use instead."""

    files: int
    unreadable: dict[Path, str]
    names: Counter[str]
    missing: list[Missing]
    refused: list[Missing]

    @property
    def coverage(self) -> float:
        """The share of the program's uses of PyTorch that Flambeau serves."""
        total = self.names.total()
        not_served = sum(each.uses for each in (*self.missing, *self.refused))
        return 1.0 - not_served / total if total else 1.0


def audit(*paths: str | Path, show_progress: bool = False) -> Audit:
    """Look through programs, notebooks and folders of them, without running anything.

    What a program calls on tensors and modules is not seen: what those are, only a run can tell.
    """
    names: Counter[str] = Counter()
    first: dict[str, Use] = {}
    unreadable: dict[Path, str] = {}
    files = [file for path in paths for file in source_files(Path(path))]
    for file in progress(files, "reading", unit="file", keep=False, show=show_progress):
        for use in _readable_uses(file, unreadable):
            names[use.name] += 1
            first.setdefault(use.name, use)
    found = [
        Missing(name, first[name], uses)
        for name, uses in sorted(names.items(), key=lambda item: (-item[1], item[0]))
    ]
    missing = [each for each in found if _lacks(each.name)]
    refused = [each for each in found if _always_raises(each.name)]
    return Audit(len(files), unreadable, names, missing, refused)


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


def _returns_nothing(function: object) -> bool:
    annotations = getattr(function, "__annotations__", {})
    return annotations.get("return") in ("NoReturn", NoReturn)
