"""The worked example of CONTRIBUTING.md is the code of the tree."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
# A block that opens with a comment naming a file of the tree.
QUOTE = re.compile(r"^```\w+\n(?:#|//) ([\w/]+\.\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def test_quotes_are_true() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    quotes = QUOTE.findall(text)
    assert len(quotes) == 4, "the table entry, the element function, the sample and the help"
    for path, quoted in quotes:
        source = (ROOT / path).read_text(encoding="utf-8")
        assert quoted.strip() in source, f"CONTRIBUTING.md quotes {path} wrongly"


def test_adding_an_operator_is_short() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    lines = [line for _, quoted in QUOTE.findall(text) for line in quoted.strip().splitlines()]
    assert len(lines) < 30
