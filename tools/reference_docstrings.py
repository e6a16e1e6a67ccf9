"""Docstrings in Google's style, as Markdown."""

import re

# Sections whose indented entries are `name: what it is`, and those that hold plain text.
ENTRIES = ("Args", "Arguments", "Parameters", "Keyword Args", "Attributes", "Raises")
TEXTS = ("Returns", "Yields", "Shape", "Shapes", "Example", "Examples", "Note", "Notes", "See also")
TEXTS += ("See Also", "Warning", "References", "Inputs", "Outputs", "Formula")
SECTION = re.compile(rf"^({'|'.join(ENTRIES + TEXTS)}):\s*(.*)$")
ENTRY = re.compile(r"^(\*{0,2}[\w.`]+(?:, \*{0,2}[\w.`]+)*)(?: \(([^)]*)\))?: (.*)$")
TITLES = {"Args": "Arguments", "Parameters": "Arguments", "See Also": "See also"}


def markdown(doc: str) -> str:
    """The Markdown of a docstring whose indentation has been removed."""
    lines = doc.expandtabs().rstrip().split("\n")
    made: list[str] = []
    at = 0
    while at < len(lines):
        section = SECTION.match(lines[at])
        if not section:
            at = _paragraph(lines, at, made)
            continue
        name, rest = section.groups()
        body, at = _indented(lines, at + 1)
        if rest:
            body.insert(0, rest)
        made += ["", f"**{TITLES.get(name, name)}**", ""]
        if name in ENTRIES:
            made += _entries(body)
        else:
            made += markdown("\n".join(body)).split("\n")
    return "\n".join(made)


def _paragraph(lines: list[str], at: int, made: list[str]) -> int:
    """Append what begins at `at`: an example, a block after `::`, or a line of text."""
    line = lines[at]
    if line.lstrip().startswith(">>>"):
        end = at
        while end < len(lines) and lines[end].strip():
            end += 1
        indent = len(line) - len(line.lstrip())
        made += ["", "```pycon", *(each[indent:] for each in lines[at:end]), "```", ""]
        return end
    if line.rstrip().endswith("::"):
        made += [escape(line.rstrip()[:-1]), ""]
        block, end = _indented(lines, at + 1)
        made += ["```text", *block, "```", ""]
        return end
    made.append(escape(line))
    return at + 1


def _indented(lines: list[str], at: int) -> tuple[list[str], int]:
    """The block of indented and blank lines from `at` on, without its indentation, and its end."""
    end = at
    while end < len(lines) and (not lines[end].strip() or lines[end].startswith(" ")):
        end += 1
    block = lines[at:end]
    filled = [line for line in block if line.strip()]
    indent = min((len(line) - len(line.lstrip()) for line in filled), default=0)
    text = "\n".join(line[indent:] for line in block).strip("\n")
    return text.split("\n"), end


def _entries(body: list[str]) -> list[str]:
    made: list[str] = []
    for line in body:
        entry = ENTRY.match(line)
        if entry:
            name, kind, text = entry.groups()
            name = name.replace("`", "")
            made.append(
                f"- `{name}`" + (f" ({escape(kind)})" if kind else "") + f": {escape(text)}"
            )
        else:
            made.append(f"    {escape(line.strip())}" if line.strip() and made else escape(line))
    return made


def escape(line: str) -> str:
    """The line with Markdown's special characters escaped, outside of code."""
    parts = re.split(r"(`+[^`]*`+)", line)
    for number in range(0, len(parts), 2):
        text = parts[number].replace("<", "&lt;")
        bullet = re.match(r"\s*[*] ", text) if number == 0 else None
        head = bullet[0] if bullet else ""
        parts[number] = head + re.sub(r"(?<!\\)([*_|\[\]])", r"\\\1", text[len(head) :])
    return "".join(parts)
