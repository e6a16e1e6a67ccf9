"""Print how much of the counted uses works, and what is missing: ``python -m tests.census``."""

from __future__ import annotations

import flambeau

from . import EXAMPLES, REFUSED, exists, load, needed, run


def fault(name: str) -> str | None:
    """What is wrong with a name, or None."""
    if name in REFUSED:
        return "refused"
    call = ""
    try:
        if not exists(name):
            return "missing"
        for call in EXAMPLES.get(name, []):
            run(flambeau, call)
    except Exception as error:
        return f"{call}: {type(error).__name__}: {error}"
    return None


def main() -> None:
    entries = load()
    must = {entry.name for entry in needed()}
    faults = {entry.name: fault(entry.name) for entry in entries}
    for entry in entries:
        if faults[entry.name] is not None:
            mark = "needed" if entry.name in must else ""
            print(f"{entry.uses:7d} {mark:6} {entry.name}: {faults[entry.name]}")
    print(f"{'area':15}{'names':>7}{'work':>7}{'needed':>8}{'work':>7}{'share of uses':>15}")
    for area in [*dict.fromkeys(entry.area for entry in entries), "all"]:
        chosen = [entry for entry in entries if area in (entry.area, "all")]
        working = [entry for entry in chosen if faults[entry.name] is None]
        wanted = [entry for entry in chosen if entry.name in must]
        total, works = (sum(each.weight for each in some) for some in (chosen, working))
        print(
            f"{area:15}{len(chosen):7}{len(working):7}{len(wanted):8}"
            f"{sum(each in working for each in wanted):7}{works / total:15.2%}"
        )


if __name__ == "__main__":
    main()
