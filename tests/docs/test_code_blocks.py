"""Every Python block of the documentation runs, and prints what the page says it prints."""

import doctest
import os
import re
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("README*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
ENGLISH = ("design.md", "derivatives.md", "speed.md")  # pages without a translation
BLOCK = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(page: Path) -> list[tuple[int, str]]:
    """The line number and text of each block of `page`."""
    text = page.read_text(encoding="utf-8")
    return [(text[: m.start(1)].count("\n"), m[1]) for m in BLOCK.finditer(text)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_page(page: Path) -> None:
    """The blocks of a page are one session: a later one sees the names of an earlier one."""
    names: dict[str, Any] = {"__name__": "docs"}
    with mock.patch.dict(os.environ):  # what a page sets there ends with it
        for line, code in blocks(page):
            if ">>>" in code:
                run_session(code, names, page, line)
            else:
                exec(compile("\n" * line + code, str(page), "exec"), names)


def run_session(code: str, names: dict[str, Any], page: Path, line: int) -> None:
    """Run an interactive session and compare what it prints."""
    # Named by its line: source of an earlier block, shown in a traceback, is not looked up in this.
    name = f"{page.name}:{line}"
    session = doctest.DocTestParser().get_doctest(code, names, name, str(page), line)
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    report: list[str] = []
    runner.run(session, out=report.append, clear_globs=False)
    names.update(session.globs)
    assert not runner.failures, "".join(report)


def translations() -> list[tuple[Path, Path]]:
    """Each page in English with its Chinese counterpart, whether that exists or not."""
    english = [page for page in PAGES[2:] if not page.name.endswith(".zh.md")]
    pairs = [(page, page.with_suffix(".zh.md")) for page in english if page.name not in ENGLISH]
    return [(ROOT / "README.md", ROOT / "README.zh-CN.md"), *pairs]


@pytest.mark.parametrize("pair", translations(), ids=lambda pair: str(pair[0].relative_to(ROOT)))
def test_translations_show_the_same_code(pair: tuple[Path, Path]) -> None:
    """But for comments and the texts of programs."""
    english, chinese = (
        [re.sub(r" *#.*|\"[^\"]*\"", "", code) for _, code in blocks(page)] for page in pair
    )
    assert chinese == english


def test_the_navigation_is_the_same_in_both_languages() -> None:
    """Pages in one order; the reference, the design and the changelog are in English only."""
    config = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    chinese, english = (
        re.findall(r"[\w/-]+\.md", part) for part in config.split("markdown_extensions:")
    )
    ours = [page for page in english if (ROOT / "docs" / page).with_suffix(".zh.md").exists()]
    assert [page for page in chinese if page not in ENGLISH] == ours


def test_readmes_are_short() -> None:
    for name in ("README.md", "README.zh-CN.md"):
        assert len((ROOT / name).read_text(encoding="utf-8").splitlines()) <= 150, name
