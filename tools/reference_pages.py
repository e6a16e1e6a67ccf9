"""mkdocs hook: adds the reference pages without writing files.

Operators come from the operator table, classes and functions from the package itself, and source
files are shown beside them. They are built once, in English; pages in other languages link there.
"""

import re
from collections import defaultdict
from pathlib import Path
from typing import Any

from mkdocs.plugins import event_priority
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page
from mkdocs.utils import get_relative_url

from opgen.__main__ import load_table
from opgen.emit import docs
from opgen.model import TABLE
from tools import reference_modules, reference_source

SHOWN = 12  # names of a page in the index
MANY = 4  # pages of a package that are folded in the navigation
ROOT = Path(__file__).parents[1]
GENERATED = re.compile(r"\]\((?:\.\./)*((?:operators|reference)/[\w./-]*)\.md(#[\w.-]+)?\)")


@event_priority(-200)  # after the plugin that sorts files by language
def on_files(files: Files, config: Any) -> Files:
    """Add a page for each family of operators, each public module and each source file."""
    if config.theme["language"] != "en":
        return files
    load_table()
    # Families without public operators have empty pages.
    texts = {
        path.removeprefix("docs/"): text
        for path, text in docs.emit(TABLE).items()
        if "\n## " in text or "\n| " in text
    }
    addresses = {
        op.public_name: f"operators/{family}.md#{op.public_name.replace('.', '').lower()}"
        for family, ops in TABLE.families().items()
        for op in ops
    }
    pages = reference_modules.pages()
    for page in pages:
        texts[page.path] = reference_modules.text(page, addresses)
        for _, value in page.names:
            place = reference_modules.source(value)
            if place and f"source/{place[0]}.html" not in texts:
                path, _ = place
                texts[f"source/{path}.html"] = reference_source.page(ROOT / path, path)
    texts["reference/index.md"] = _index(pages, addresses)
    texts["changelog.md"] = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    for path, text in texts.items():
        files.append(File.generated(config, path, content=text))
    _extend_navigation(config.nav, pages)
    return files


def on_page_markdown(markdown: str, page: Page, config: Any, files: Files) -> str:
    """Let pages in other languages link to the reference, which is in English.

    A search finds English pages first, and pages without a translation once.
    """
    if config.theme["language"] == "en":
        return markdown
    is_translated = getattr(page.file, "locale", "en") == config.theme["language"]
    page.meta["search"] = {"boost": 0.5} if is_translated else {"exclude": True}

    def address(found: re.Match[str]) -> str:
        target = found[1].removesuffix("index").rstrip("/") + "/"
        return f"]({get_relative_url(target, page.url)}{found[2] or ''})"

    return GENERATED.sub(address, markdown)


def _index(pages: list[reference_modules.Page], operators: dict[str, str]) -> str:
    count = sum(len(page.names) for page in pages)
    lines = ["# API reference", ""]
    lines += [f"{count:,} public names by module, made from the package itself. `torch` stands for"]
    lines += ["`flambeau`: the names are the same. [Operators](../operators/all.md) are listed by"]
    lines += ["family, with types and devices.", ""]
    for group, members in _grouped(pages).items():
        lines += [f"## {group}", "", "| page | names |", "|---|---|"]
        for page in members:
            shown = [
                f"[{name}](../{_address(page, name, value, operators)})"
                for name, value in page.names[:SHOWN]
            ]
            more = f" and {len(page.names) - SHOWN} more" if len(page.names) > SHOWN else ""
            lines.append(f"| [{page.title}](../{page.path}) | {', '.join(shown)}{more} |")
        lines.append("")
    return "\n".join(lines)


def _address(page: reference_modules.Page, name: str, value: Any, operators: dict[str, str]) -> str:
    told = reference_modules.operator_page(page, name, value, operators)
    return told or f"{page.path}#{reference_modules.short_name(page, name)}"


def _grouped(pages: list[reference_modules.Page]) -> dict[str, list[reference_modules.Page]]:
    grouped = defaultdict(list)
    for page in sorted(pages, key=lambda page: page.title):
        grouped[reference_modules.group_of(page)].append(page)
    return {group: grouped[group] for group in reference_modules.GROUPS if grouped[group]}


def _extend_navigation(nav: list[Any], pages: list[reference_modules.Page]) -> None:
    """Put the pages of modules under `Reference`, where mkdocs.yml has the first entries."""
    entries = next(item["Reference"] for item in nav if "Reference" in item)
    for group, members in _grouped(pages).items():
        entries.append({group: _folded(members)})


def _folded(pages: list[reference_modules.Page]) -> list[dict[str, Any]]:
    """Entries of the navigation; packages of many pages become one entry that unfolds."""
    packages = defaultdict(list)
    for page in pages:
        package = page.title.partition(":")[0]
        packages[package if ":" in page.title else package.partition(".")[0]].append(page)
    entries: list[dict[str, Any]] = []
    for package, members in packages.items():
        if len(members) < MANY:
            entries += [{page.title: page.path} for page in members]
        else:
            short = [(page.title.removeprefix(f"{package}:").strip(), page) for page in members]
            entries.append({package: [{title: page.path} for title, page in short]})
    return entries
