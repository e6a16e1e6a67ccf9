"""The generated reference: every public name, with its signature, its docstring and its source."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest

import flambeau as fb
from benchmarks import pictures
from tools import reference_docstrings, reference_modules, reference_source

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def pages() -> list[reference_modules.Page]:
    return reference_modules.pages()


def test_pages_have_names_of_their_own(pages: list[reference_modules.Page]):
    paths = [page.path for page in pages]
    assert len(paths) == len(set(paths))
    assert all(page.names for page in pages)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("flambeau", "save"),
        ("flambeau.nn", "Conv2d"),
        ("flambeau.optim", "Adam"),
        ("flambeau.utils.data", "DataLoader"),
        ("flambeau.autograd", "Function"),
        ("flambeau.vision.transforms.v2", "RandomRotation"),
    ],
)
def test_a_name_is_told_once(pages: list[reference_modules.Page], module: str, name: str):
    (page,) = [page for page in pages if page.module == module and name in dict(page.names)]
    text = reference_modules.text(page, {})
    short = f"{module}.{name}".removeprefix("flambeau.")
    assert text.count(f"## {name} {{#{short}}}") == 1
    assert f"torch.{short}(" in text


def test_every_name_of_a_module_is_there(pages: list[reference_modules.Page]):
    found = {name for page in pages if page.module == "flambeau.nn" for name, _ in page.names}
    layers = {name for name in vars(fb.nn) if isinstance(getattr(fb.nn, name), type)}
    missing = {name for name in layers if name[0].isupper()} - found
    assert not {
        name for name in missing if getattr(fb.nn, name).__module__.startswith("flambeau.nn")
    }


def test_signatures():
    conv = reference_modules.signature(fb.nn.Conv2d)
    assert "    in_channels: int,\n" in conv
    assert "    padding_mode: str = 'zeros',\n" in conv
    assert reference_modules.signature(fb.nn.Identity.forward, short=True).startswith("(")
    assert " at 0x" not in reference_modules.signature(fb.save)


def test_sources_are_where_they_say():
    place = reference_modules.source(fb.nn.Conv2d)
    assert place
    path, line = place
    assert (
        (ROOT / path).read_text(encoding="utf-8").splitlines()[line - 1].startswith("class Conv2d")
    )
    assert f'id="L{line}"' in reference_source.page(ROOT / path, path)


def test_docstrings_become_markdown():
    made = reference_docstrings.markdown(
        "Adds *two* numbers, x_1 < x_2.\n\n"
        "Args:\n    a (int): the first\n        of them\n    b: 1\n\n"
        "Example:\n    >>> 1 + 1\n    2\n\nSee also: `mul`"
    )
    assert "Adds \\*two\\* numbers, x\\_1 &lt; x\\_2." in made
    assert "**Arguments**\n\n- `a` (int): the first\n    of them\n- `b`: 1" in made
    assert "```pycon\n>>> 1 + 1\n2\n```" in made
    assert "**See also**\n\n`mul`" in made


def test_pictures_of_measurements(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    rows = [
        {"name": "LeNet <64>", "ratio": 2.45, "bar": 2.0},
        {"name": "slower", "ratio": 0.5, "bar": 1.1},
        {"name": "failed", "error": "out of memory"},
    ]
    result = tmp_path / "result.json"
    result.write_text(json.dumps({"groups": {"train": {"rows": rows}}}))
    monkeypatch.setattr(pictures, "FOLDER", tmp_path)
    (drawn,) = pictures.draw(json.loads(result.read_text()))
    assert drawn.name == "speed-training.svg"
    bars = ElementTree.parse(drawn).getroot().findall("{http://www.w3.org/2000/svg}rect")
    assert [bar.get("fill") for bar in bars] == [pictures.FLAME, pictures.PALE]
