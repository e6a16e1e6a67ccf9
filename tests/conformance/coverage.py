"""Counts what was compared, for the summary of a run: by this process or by pytest's workers."""

from __future__ import annotations

from collections import Counter
from typing import Any

from tests.ops.table import operators


class Coverage:
    """What the tests of a run have noted with `record_property`."""

    def __init__(self) -> None:
        self._pairs: dict[tuple[str, str], str] = {}  # of the table, to why they differ
        self._refused: Counter[str] = Counter()
        self._samples: Counter[str] = Counter()  # of torch's databases: agree, differ, not there
        self._comparisons = 0
        self._reasons: Counter[str] = Counter()
        self._outs = 0  # calls with some out=
        self._out_reasons: Counter[str] = Counter()

    def read(self, properties: list[tuple[str, Any]]) -> None:
        """Takes over what a test has noted."""
        for kind, value in properties:
            if kind == "table":
                operator, dtype, reason = value
                self._pairs[operator, dtype] = reason
            elif kind == "refused":
                self._refused.update(value)
            elif kind == "database":
                samples, comparisons, reasons = value
                self._samples.update(samples)
                self._comparisons += comparisons
                self._reasons.update(reasons)
            elif kind == "out":
                calls, reasons = value
                self._outs += calls
                self._out_reasons.update(reasons)

    def lines(self) -> list[str]:
        """What there is to say."""
        return [
            *self._of_the_table(),
            *self._of_programs(),
            *self._of_the_databases(),
            *self._of_outs(),
        ]

    def _of_the_table(self) -> list[str]:
        if not self._pairs:
            return []
        table = operators()
        pairs = sum(len(each.dtypes) for each in table.values())
        differ = Counter(reason for reason in self._pairs.values() if reason)
        agree = len(self._pairs) - differ.total()
        whole = (
            f"table coverage: {len({name for name, _ in self._pairs})} of {len(table)} operators; "
            f"of {pairs} operators x dtypes {agree} agree with torch, {differ.total()} differ "
            f"for stated reasons, {pairs - len(self._pairs)} are unexplained"
        )
        return [whole, *(f"  {count} differ: {reason}" for reason, count in differ.most_common())]

    def _of_programs(self) -> list[str]:
        if not self._refused:
            return []
        return [
            f"gradients that torch refuses in random programs: {self._refused.total()}",
            *(f"  {count} {what}" for what, count in self._refused.most_common()),
        ]

    def _of_the_databases(self) -> list[str]:
        compared = self._samples["agree"] + self._samples["differ"]
        if not compared:
            return []
        whole = (
            f"torch's databases: {self._samples['agree']} of {compared} samples agree "
            f"({self._samples['agree'] / compared:.2%}) in {self._comparisons} comparisons; "
            f"{self._samples['not there']} samples need what is not there"
        )
        reasons = self._reasons.most_common()
        return [whole, *(f"  {count} samples {reason}" for reason, count in reasons)]

    def _of_outs(self) -> list[str]:
        if not self._outs:
            return []
        differ = self._out_reasons.total()
        whole = (
            f"calls with out=: {self._outs - differ} of {self._outs} agree with torch, "
            f"{differ} differ for stated reasons"
        )
        return [
            whole,
            *(f"  {count} differ: {reason}" for reason, count in self._out_reasons.most_common()),
        ]


COVERAGE = Coverage()
