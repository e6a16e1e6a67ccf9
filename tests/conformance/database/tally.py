"""What became of the samples of an operator or a module, and how they are written down."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch

from tests.conformance.database.resolve import Missing
from tests.conformance.differences import why_different


@dataclass(frozen=True)
class Found:
    """One comparison that did not agree, and the reason where there is a good one."""

    check: str
    dtype: str
    sample: str
    words: str
    reason: str = ""

    @property
    def is_missing(self) -> bool:
        return self.words.startswith("not there")

    def __str__(self) -> str:
        return f"{self.check} of {self.dtype}{self.sample}: {self.words}"


@dataclass
class Tally:
    """All comparisons of one entry of a database."""

    name: str
    samples: Counter[str] = field(default_factory=Counter)  # agree, differ, not there
    checks: Counter[str] = field(default_factory=Counter)
    reasons: Counter[str] = field(default_factory=Counter)  # of samples that do not agree
    found: list[Found] = field(default_factory=list)

    def compare(self, dtype: str, sample: str, checks: dict[str, Callable[[], str | None]]) -> None:
        """Compares a sample in some ways; a check that does not apply returns None."""
        before, missing = len(self.found), False
        for name, check in checks.items():
            try:
                words = check()
            except Missing as error:
                missing, words = True, f"not there: {error}"
            if words is None:
                continue
            self.checks[name] += 1
            if words:
                reason = why_different(self.name, name, dtype, sample, words)
                self.found.append(Found(name, dtype, sample, words, reason))
        found = self.found[before:]
        self.samples["not there" if missing else "differ" if found else "agree"] += 1
        if found:
            first = next((each for each in found if missing == each.is_missing), found[0])
            kind = "not there" if missing else "differ"
            self.reasons[f"{kind}: {first.reason or 'not explained'}"] += 1

    def counts(self) -> list[Any]:
        """What a summary adds up."""
        return [dict(self.samples), self.checks.total(), dict(self.reasons)]

    def unexplained(self) -> list[Found]:
        return [each for each in self.found if not each.reason]


def describe(value: Any) -> str:
    """Arguments in one line: shapes for tensors, values for the rest."""
    if isinstance(value, torch.Tensor):
        return _of_tensor(value)
    if isinstance(value, dict):
        return ", ".join(f"{key}={describe(each)}" for key, each in value.items())
    if isinstance(value, tuple):
        return f"({', '.join(filter(None, map(describe, value)))})"
    if isinstance(value, list):
        return f"[{', '.join(map(describe, value))}]"
    return repr(value)


def _of_tensor(value: torch.Tensor) -> str:
    plain = value.layout is torch.strided and not value.is_meta
    strides = f"/{value.stride()}" if plain and not value.is_contiguous() else ""
    tail = f"={value.item()}" if plain and value.numel() == 1 else ""
    return f"{str(value.dtype)[6:]}{tuple(value.shape)}{strides}{tail}"
