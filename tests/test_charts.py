"""Charts and pictures as text: well formed, within their frame, with round numbers."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from io import BytesIO

import pytest
from PIL import Image

import flambeau as fb
from flambeau._display import charts, png

SVG = "{http://www.w3.org/2000/svg}"


def parsed(text: str) -> ElementTree.Element:
    return ElementTree.fromstring(text.replace("<svg", f'<svg xmlns="{SVG[1:-1]}"', 1))


def chart(**options: object) -> ElementTree.Element:
    series = [
        charts.Series("training", [(1, 2.0), (2, 0.5), (3, 0.1)]),
        charts.Series("a & b", [(1, 1.5), (2, 0.7), (3, 0.2)], "b"),
        charts.Series("steps", [(0.5, 100.0), (3, 1e-6)], faint=True),
    ]
    return parsed(charts.line_chart("Loss <1>", series, x_label="epoch", **options))  # type: ignore[arg-type]


def test_chart_says_what_it_shows():
    found = chart()
    assert found.get("aria-label") == "Loss <1>"
    assert found.get("role") == "img"
    names = [text.text for text in found.iter(f"{SVG}text") if text.get("class") == "legend"]
    assert names == ["training 0.1", "a & b 0.2"]
    tips = [circle.findtext(f"{SVG}title") for circle in found.iter(f"{SVG}circle")]
    assert "training, 2: 0.5" in tips


@pytest.mark.parametrize("log", [False, True])
def test_curves_stay_in_the_frame(log: bool):
    found = chart(log=log)
    curves = [p.get("d", "") for p in found.iter(f"{SVG}path") if "curve" in p.get("class", "")]
    assert len(curves) == 3
    for curve in curves:
        for point in curve.removeprefix("M").split("L"):
            x, y = map(float, point.split())
            assert 0 <= x <= 520
            assert 0 <= y <= 300


@pytest.mark.parametrize("log", [False, True])
def test_points_without_a_place_are_left_out(log: bool):
    broken = [(1.0, math.nan), (2.0, 0.5), (3.0, math.inf)]
    series = [charts.Series("loss", broken), charts.Series("none", [(1.0, math.nan)], "b")]
    found = parsed(charts.line_chart("", series, x_label="", log=log))
    curves = [p.get("d") for p in found.iter(f"{SVG}path") if "curve" in p.get("class", "")]
    assert len(curves) == 1
    assert "nan" not in ElementTree.tostring(found, encoding="unicode")


def test_zero_has_no_logarithm():
    series = [charts.Series("loss", [(1.0, 1.0), (2.0, 0.0)])]
    assert parsed(charts.line_chart("", series, x_label="", log=True)) is not None


def test_small_columns():
    found = parsed(charts.columns_chart("p", [0.9, 0.1, 0.0], 0, "abc"))
    assert [r.get("class") for r in found.iter(f"{SVG}rect")] == ["chosen", None, None]
    assert [t.text for t in found.iter(f"{SVG}text")] == ["a", "b"]  # the third cannot be seen


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1]),
        (0, 20, [0, 5, 10, 15, 20]),
        (0.93, 1.0, [0.94, 0.96, 0.98, 1.0]),
        (3, 3, [3]),
    ],
)
def test_ticks(low: float, high: float, expected: list[float]):
    assert charts._ticks(low, high) == expected


def test_logarithmic_ticks():
    assert charts._log_ticks(0.03, 2.5) == pytest.approx([0.05, 0.1, 0.2, 0.5, 1, 2])
    assert charts._log_ticks(1e-6, 1) == pytest.approx([10.0**p for p in range(-6, 1)])


def test_constant_curve():
    text = charts.line_chart("", [charts.Series("x", [(1, 0.5)])], x_label="")
    assert "nan" not in text
    assert math.isfinite(float(parsed(text).find(f"{SVG}circle").get("cx")))  # type: ignore[union-attr, arg-type]


@pytest.mark.parametrize("mode", ["L", "LA", "RGB", "RGBA"])
def test_png(mode: str):
    channels = len(mode)
    pixels = fb.randint(0, 256, (channels, 5, 7), dtype=fb.uint8)
    picture = Image.open(BytesIO(png.encode(pixels)))
    assert (picture.mode, picture.size) == (mode, (7, 5))
    assert list(picture.tobytes()) == pixels.permute(1, 2, 0).flatten().tolist()


def test_png_has_one_to_four_channels():
    with pytest.raises(RuntimeError, match="channels should be 1 to 4, got: 5"):
        png.encode(fb.zeros(5, 2, 2, dtype=fb.uint8))
