"""Writes the table of what is accepted without effect into docs/compatibility.md."""

import re
from pathlib import Path

from flambeau._limits.accepted import table

PAGE = Path(__file__).parents[1] / "docs" / "compatibility.md"
BEGIN, END = "<!-- made by tools/accepted_table.py -->", "<!-- end -->"


def with_table(text: str) -> str:
    """The text of the page with the table as it should be."""
    place = re.compile(f"{re.escape(BEGIN)}\n.*{re.escape(END)}", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"{PAGE} has no place for the table: {BEGIN} ... {END}")
    return place.sub(lambda _: f"{BEGIN}\n\n{table()}\n\n{END}", text)


if __name__ == "__main__":
    PAGE.write_text(with_table(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
