"""Print how much of the counted uses works, and what is missing: ``python -m tests.census``."""

from __future__ import annotations

import flambeau

from . import AREAS, EXAMPLES, exists, load, needed, run


def fault(name: str) -> str | None:
    """What is wrong with a name, or None."""
    if not exists(flambeau, name):
        return "missing"
    call = ""
    try:
        for call in EXAMPLES.get(name, []):
            run(flambeau, call)
    except Exception as error:
        return f"{call}: {type(error).__name__}: {error}"
    return None


def report(area: str) -> None:
    entries = load(area)
    total = sum(entry.uses for entry in entries)
    faults = {entry.name: fault(entry.name) for entry in entries}
    for title, chosen in [("to reach the target", needed(area)), ("counted", entries)]:
        working = [entry for entry in chosen if faults[entry.name] is None]
        share = sum(entry.uses for entry in working) / total
        print(
            f"{area}: names {title}: {len(working)} of {len(chosen)} work, {share:.2%} of all uses"
        )
    for entry in entries:
        if faults[entry.name] is not None:
            print(f"{entry.uses:7d}  {entry.name}: {faults[entry.name]}")


def main() -> None:
    for area in AREAS:
        report(area)


if __name__ == "__main__":
    main()
