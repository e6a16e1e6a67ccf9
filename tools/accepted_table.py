"""Write the table of options without effect into both compatibility pages."""

import re
from pathlib import Path

from flambeau._limits.accepted import table

DOCS = Path(__file__).parents[1] / "docs"
PAGES = (DOCS / "compatibility.md", DOCS / "compatibility.zh.md")
BEGIN, END = "<!-- made by tools/accepted_table.py -->", "<!-- end -->"


def with_table(text: str) -> str:
    """Return the text of the page with the current table."""
    place = re.compile(f"{re.escape(BEGIN)}\n.*{re.escape(END)}", re.DOTALL)
    if not place.search(text):
        raise ValueError(f"the page has no place for the table: {BEGIN} ... {END}")
    return place.sub(lambda _: f"{BEGIN}\n\n{table()}\n\n{END}", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(with_table(page.read_text(encoding="utf-8")), encoding="utf-8")
