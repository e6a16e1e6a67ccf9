"""Counts which operators were compared in which dtypes, for the summary of a run."""

from tests.ops.table import operators


class Coverage:
    """Operators x dtypes that agreed with torch in this run."""

    def __init__(self) -> None:
        self._agreed: set[tuple[str, str]] = set()

    def add(self, operator: str, dtype: str) -> None:
        self._agreed.add((operator, dtype))

    def __bool__(self) -> bool:
        return bool(self._agreed)

    def __str__(self) -> str:
        table = operators()
        pairs = sum(len(each.dtypes) for each in table.values())
        names = {name for name, _ in self._agreed}
        return (
            f"table coverage: {len(names)} of {len(table)} operators, "
            f"{len(self._agreed)} of {pairs} operators x dtypes agree with torch"
        )


COVERAGE = Coverage()
