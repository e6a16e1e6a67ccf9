"""Reading table files from elsewhere than `opgen/table`."""

from pathlib import Path

from opgen import describe
from opgen.model import TABLE, Table


def read_table(file: Path) -> Table:
    """The operators of `file`, with the help beside it; the real table is left as it was."""
    before = list(TABLE.ops)
    TABLE.ops.clear()
    try:
        exec(compile(file.read_text(encoding="utf-8"), str(file), "exec"), {})
        table = Table()
        table.ops[:] = TABLE.ops
        if (file.parent / "help").exists():
            describe.attach(table, file.parent / "help")
        return table
    finally:
        TABLE.ops[:] = before
