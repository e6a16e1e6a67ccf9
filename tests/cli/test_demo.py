"""``flambeau demo`` in a short form: it learns, its files are right, its report stands alone."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

import pytest

import flambeau as fb
from flambeau import cli
from flambeau.cli import demo
from flambeau.datasets import Digits

ROOT = Path(__file__).parents[2]
VOID = {"meta", "img", "br", "hr", "link", "input"}


class Page(HTMLParser):
    """Reads a page and notes its tags, and whether each that opens closes in its turn."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag, f"</{tag}> at {self.getpos()} closes another tag"


@pytest.fixture(scope="module", autouse=True)
def threads() -> Iterator[None]:
    """The demo sets their number for its process."""
    before = fb.get_num_threads()
    yield
    fb.set_num_threads(before)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a short run leaves behind."""
    folder = tmp_path_factory.mktemp("demo") / "deep" / "output"
    assert cli.main(["demo", "--epochs", "3", "--output", str(folder), "--quiet"]) == 0
    return folder


@pytest.fixture(scope="module")
def report(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


def test_learns_to_98_percent(capsys: pytest.CaptureFixture[str], tmp_path: Path):
    """As people run it, with another seed than they do."""
    assert cli.main(["demo", "--seed", "7", "--output", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    share = re.search(r"([\d.]+)% of the test digits classified correctly", text)
    assert share
    assert float(share[1]) >= 98
    assert "61,706 parameters, 1442 training images, 355 test images" in text
    assert re.search(r"^     0  3[0-5] +·", text, re.MULTILINE)  # a row of the confusion matrix
    assert str(tmp_path / "digits.pt") in text
    assert "\033" not in text


def test_checkpoint_continues(folder: Path):
    net = demo.Net()
    net.load_state_dict(fb.load(folder / "digits.pt")["model"])
    assert demo.evaluate(net, Digits(train=False, size=32)).accuracy > 0.8


def test_same_seed_same_weights(folder: Path, tmp_path: Path):
    assert cli.main(["demo", "--epochs", "3", "--output", str(tmp_path), "--quiet"]) == 0
    first, second = (fb.load(where / "digits.pt")["model"] for where in (folder, tmp_path))
    assert all(fb.equal(first[name], second[name]) for name in first)


def test_report_is_well_formed(report: str):
    page = Page(report)
    assert page.open == []
    assert report.startswith("<!DOCTYPE html>")
    assert dict(page.tags)["html"] == {"lang": "en"}


def test_report_stands_alone(report: str):
    page = Page(report)
    assert not {"script", "link", "iframe", "object"} & {tag for tag, _ in page.tags}
    sources = [value for _, attrs in page.tags for name, value in attrs.items() if name == "src"]
    assert sources
    assert all(source and source.startswith("data:image/png;base64,") for source in sources)
    assert not re.search(r"https?://|url\(|@import", report)


def test_report_has_every_part(report: str):
    titles = re.findall(r"<h2>(.*?)</h2>", report)
    assert titles == [
        "Learning curves",
        "Confusion matrix",
        "What the network saw",
        "The network",
        "Continue from here",
        "Where this was run",
    ]
    assert report.count('class="chart"') == 2
    assert "prefers-color-scheme: dark" in report
    assert f"Flambeau</th><td>{fb.__version__}" in report


def test_pictures_have_descriptions(report: str):
    images = [attrs for tag, attrs in Page(report).tags if tag == "img"]
    assert len(images) >= 20
    assert all(re.fullmatch(r"A handwritten \d", image["alt"] or "") for image in images)
    drawings = [attrs for tag, attrs in Page(report).tags if tag == "svg"]
    assert all("aria-label" in drawing or "aria-hidden" in drawing for drawing in drawings)


def test_report_counts_agree(report: str):
    cells = [int(n) for n in re.findall(r'<td class="(?:hit|miss)"[^>]*>(\d+)</td>', report)]
    assert sum(cells) == 355
    misread = re.search(r"Misread: (\d+) of 355", report)
    assert misread
    assert report.count('<li class="wrong">') == int(misread[1])


def test_snippet_of_the_report_runs(report: str, capsys: pytest.CaptureFixture[str]):
    import html

    snippet = re.search(r"<pre><code>(.*?)</code></pre>", report, re.DOTALL)
    assert snippet
    exec(html.unescape(snippet[1]), {})
    assert capsys.readouterr().out.startswith("tensor([[")


@pytest.mark.parametrize("epochs", ["0", "-1", "many"])
def test_epochs_must_be_positive(epochs: str, capsys: pytest.CaptureFixture[str]):
    with pytest.raises(SystemExit) as ended:
        cli.main(["demo", f"--epochs={epochs}"])
    assert ended.value.code == 2
    assert f"expected a positive number, got '{epochs}'" in capsys.readouterr().err


def test_output_that_is_no_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    taken = tmp_path / "taken"
    taken.write_text("")
    assert cli.main(["demo", "--output", str(taken)]) == 1
    assert f"flambeau demo: [Errno 17] File exists: '{taken}'" in capsys.readouterr().err


def test_interruption_is_clean(tmp_path: Path):
    command = [sys.executable, "-u", "-m", "flambeau", "demo", "--epochs", "10000"]
    process = subprocess.Popen(
        [*command, "--output", str(tmp_path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    process.stdout.readline()  # it has begun
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    # Python ends by the signal itself where it came while a module was being loaded.
    assert process.returncode in (130, -signal.SIGINT)
    assert errors.endswith("\ninterrupted\n")
    assert "Traceback" not in errors
