"""`python -m opgen --out DIR` writes all generated files; `--check` only reads the table."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
import sys
from pathlib import Path

from opgen import describe, table
from opgen.emit import (
    autograd,
    bindings,
    boxed,
    device_loops,
    docs,
    loops,
    op_info,
    operators,
    stubs,
)
from opgen.model import TABLE, TableError


def load_table() -> None:
    for module in sorted(m.name for m in pkgutil.iter_modules(table.__path__)):
        importlib.import_module(f"opgen.table.{module}")
    TABLE.resolve()
    describe.attach(TABLE)


def products() -> dict[str, str]:
    """Generated files by their path in the output folder."""
    files: dict[str, str] = {}
    for emitter in (
        operators,
        loops,
        device_loops,
        autograd,
        boxed,
        bindings,
        op_info,
        stubs,
        docs,
    ):
        files.update(emitter.emit(TABLE))
    return files


def write(files: dict[str, str], folder: Path) -> None:
    """Write changed files, so that only those are rebuilt, and remove files no longer made."""
    for path, text in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        if not target.exists() or target.read_text() != text:
            target.write_text(text)
    for old in folder.rglob("*"):
        if old.is_file() and str(old.relative_to(folder)) not in files:
            old.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(prog="opgen", description=__doc__)
    parser.add_argument("--out", type=Path, help="folder for the generated files")
    parser.add_argument("--docs", type=Path, help="folder for the reference pages alone")
    parser.add_argument("--stubs", type=Path, help="folder for the stubs of flambeau._C alone")
    parser.add_argument("--check", action="store_true", help="read the table and write nothing")
    options = parser.parse_args()
    try:
        load_table()
        files = products()
    except TableError as error:
        print(error, file=sys.stderr)
        return 1
    for folder, part in ((options.docs, "docs/"), (options.stubs, "stubs/_C/")):
        if folder:
            write({p.removeprefix(part): t for p, t in files.items() if p.startswith(part)}, folder)
    if options.out and not options.check:
        write(files, options.out)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
