"""The demo's report: one HTML page that needs nothing but itself."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import flambeau as fb
from flambeau import Tensor
from flambeau._display import png
from flambeau._display.charts import STYLE as CHART_STYLE
from flambeau._display.charts import Series, columns_chart, line_chart
from flambeau.cli._machine import facts

if TYPE_CHECKING:
    from flambeau.cli.demo import Evaluation, History
    from flambeau.datasets import Digits
    from flambeau.nn.modules._summary import LayerSummary, Summary

__all__ = ["Report"]

_STYLE = Path(__file__).with_name("report.css")
_DOUBTFUL = 10  # pictures that were read correctly with the least certainty

_FLAME = (
    '<svg class="logo" viewBox="0 0 24 24" aria-hidden="true"><path class="outer" d="M12.5 1.5c.4 '
    "4.5 6 6.9 6 13.1a6.5 6.5 0 0 1-13 0c0-3.3 1.7-5 2.8-7.3.8 1.4 1.2 2.3 1.5 3.5 "
    '2-2.7 2.9-5.8 2.7-9.3z"/><path class="inner" d="M12.2 12.3c1.4 1.9 2.6 2.9 2.6 '
    '4.7a2.6 2.6 0 0 1-5.2 0c0-1.8 1.6-2.7 2.6-4.7z"/></svg>'
)


@dataclass
class Report:
    """Everything that the page shows."""

    history: History
    final: Evaluation
    test_data: Digits
    summary: Summary
    checkpoint: Path
    seed: int

    @cached_property
    def answers(self) -> Tensor:
        """What each test picture was read as."""
        return self.final.probabilities.argmax(1)

    @cached_property
    def confusion(self) -> Tensor:
        """How often each digit (row) was read as each (column)."""
        places = self.test_data.labels * 10 + self.answers
        return places.bincount(minlength=100).view(10, 10)

    @cached_property
    def wrong(self) -> list[int]:
        """The test pictures that were misread, the most certain mistake first."""
        return self._by_certainty(self.answers != self.test_data.labels)[::-1]

    @property
    def total(self) -> int:
        return len(self.test_data)

    def _by_certainty(self, chosen: Tensor) -> list[int]:
        places = chosen.nonzero().flatten()
        certainty = self.final.probabilities.amax(1)[places]
        order: list[int] = places[certainty.argsort()].tolist()
        return order

    def html(self) -> str:
        """The page."""
        sections = [
            self._headline(),
            self._curves(),
            self._confusion(),
            self._pictures(),
            self._model(),
            self._next(),
            self._machine(),
        ]
        return (
            '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
            '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
            '<meta name="color-scheme" content="light dark">\n'
            "<title>Handwritten digits · Flambeau</title>\n"
            f"<style>\n{_STYLE.read_text(encoding='utf-8')}{CHART_STYLE}</style>\n</head>\n<body>\n"
            + "\n".join(sections)
            + "\n</body>\n</html>\n"
        )

    def _headline(self) -> str:
        right = self.total - len(self.wrong)
        epochs = len(self.history.train_loss)
        numbers = {
            "test accuracy": f"{self.final.accuracy:.1%}".replace("%", "<small> %</small>"),
            f"of {self.total} test digits read correctly": str(right),
            f"to train, {epochs} epochs": f"{self.history.seconds:.1f}<small> s</small>",
            "parameters": f"{self.summary.total_parameters:,}",
        }
        cards = "".join(
            f"<div><dt>{escape(name)}</dt><dd>{value}</dd></div>" for name, value in numbers.items()
        )
        return (
            f'<header><p class="brand">{_FLAME} Flambeau</p>'
            "<h1>A small network reads handwritten digits</h1>"
            "<p>A convolutional network was trained on this machine, from random weights, on "
            "images that come with the package. It was then tested on images that it had "
            f'never seen.</p></header>\n<dl class="numbers">{cards}</dl>'
        )

    def _curves(self) -> str:
        h = self.history
        epochs = range(1, len(h.train_loss) + 1)
        steps = len(h.step_losses) / len(h.train_loss)
        every = [((n + 1) / steps, loss) for n, loss in enumerate(h.step_losses)]
        loss = line_chart(
            "Cross-entropy loss after each epoch, on a logarithmic scale",
            [
                Series("every step", every, "a", faint=True),
                Series("training", list(zip(epochs, h.train_loss, strict=True)), "a"),
                Series("test", list(zip(epochs, h.test_loss, strict=True)), "b"),
            ],
            x_label="epoch",
            x_range=(0, len(epochs)),
            number="{:.3g}".format,
            log=True,
        )
        accuracy = line_chart(
            "Share of digits read correctly after each epoch",
            [
                Series("training", list(zip(epochs, h.train_accuracy, strict=True)), "a"),
                Series("test", list(zip(epochs, h.test_accuracy, strict=True)), "b"),
            ],
            x_label="epoch",
            x_range=(0, len(epochs)),
            number=lambda share: f"{share * 100:.3g} %",
            y_range=(min(h.train_accuracy + h.test_accuracy), 1.0),
        )
        return _section(
            "Learning curves",
            '<div class="pair">'
            f"<figure>{loss}<figcaption>Loss, logarithmic; pale: every step</figcaption></figure>"
            f"<figure>{accuracy}<figcaption>Accuracy</figcaption></figure></div>"
            "<p>Training images are shifted, rotated and slanted at random before each step. That "
            "makes them harder to classify than the test images, which stay as they are.</p>",
        )

    def _confusion(self) -> str:
        rows = self.confusion.tolist()
        most = max([n for i, row in enumerate(rows) for j, n in enumerate(row) if i != j] + [1])
        caption = "<caption>Rows: the digit that was written. Columns: the prediction.</caption>"
        digits = "".join(f'<th scope="col">{digit}</th>' for digit in range(10))
        head = f'<tr><td></td>{digits}<th scope="col" class="share">right</th></tr>'
        body = ""
        for digit, row in enumerate(rows):
            cells = "".join(_cell(digit, at, n, max(row), most) for at, n in enumerate(row))
            share = f"{row[digit] / max(sum(row), 1):.1%}".replace("%", " %")
            body += f'<tr><th scope="row">{digit}</th>{cells}<td class="share">{share}</td></tr>'
        table = _table("confusion", caption + head + body)
        beside = f'<div class="beside">{table}{self._mistakes()}</div>'
        return _section("Confusion matrix", beside)

    def _mistakes(self) -> str:
        """The mistakes in words, and how sure the network was of them."""
        counts = {
            (i, j): n for i, row in enumerate(self.confusion.tolist()) for j, n in enumerate(row)
        }
        pairs = sorted((-n, pair) for pair, n in counts.items() if n and pair[0] != pair[1])
        words = {1: "once", 2: "twice"}
        rows = "".join(
            f"<li>{digit} was read as {read} {words.get(-n, f'{-n} times')}</li>"
            for n, (digit, read) in pairs
        )
        certainty = self.final.probabilities.amax(1)
        is_right = self.answers == self.test_data.labels
        sure = (
            f"It was {_percent(certainty[is_right].mean().item())} sure of what it read correctly"
        )
        if self.wrong:
            sure += f", and {_percent(certainty[~is_right].mean().item())} of its mistakes"
        mistakes = f"<ul>{rows}</ul>" if rows else "<p>Every digit was read correctly.</p>"
        return f"<div><h3>In words</h3>{mistakes}<p>{sure}, on average.</p></div>"

    def _pictures(self) -> str:
        right = self._by_certainty(self.answers == self.test_data.labels)
        surest: dict[int, int] = {}  # one of each digit
        for place in reversed(right):
            surest.setdefault(int(self.answers[place]), place)
        none = "<p>None: every test digit was read correctly.</p>"
        return _section(
            "What the network saw",
            f"<h3>Misread: {len(self.wrong)} of {self.total}</h3>"
            + (self._cards(self.wrong) if self.wrong else none)
            + "<h3>Read correctly, but with the least certainty</h3>"
            + self._cards(right[:_DOUBTFUL])
            + "<h3>Read correctly, with the most</h3>"
            + self._cards([surest[digit] for digit in sorted(surest)]),
        )

    def _cards(self, places: Sequence[int]) -> str:
        return f'<ul class="cards">{"".join(map(self._card, places))}</ul>'

    def _card(self, place: int) -> str:
        """A picture, what it was read as, and the probabilities of all ten digits."""
        label, answer = int(self.test_data.labels[place]), int(self.answers[place])
        probabilities = self.final.probabilities[place].tolist()
        ink = (self.test_data.images[place, 0] * 255).round().to(fb.uint8)
        picture = fb.stack([fb.zeros_like(ink), ink])  # black, as opaque as there is ink
        data = b64encode(png.encode(picture)).decode()
        kind = "right" if label == answer else "wrong"
        was = "" if label == answer else f'<span class="was">is {label}</span>'
        bars = columns_chart(
            f"Probabilities of 0 to 9, the highest {probabilities[answer]:.0%} for {answer}",
            probabilities,
            answer,
            map(str, range(10)),
        )
        return (
            f'<li class="{kind}"><img src="data:image/png;base64,{data}" alt="A handwritten '
            f'{label}" width="64" height="64"><p><b>{answer}</b> '
            f"{_percent(probabilities[answer])}{was}</p>{bars}</li>"
        )

    def _model(self) -> str:
        head = (
            '<thead><tr><th scope="col">layer</th><th scope="col">kind</th><th scope="col">output'
            '</th><th scope="col" class="n">parameters</th><th scope="col" class="n">multiply-adds'
            "</th></tr></thead>"
        )
        rows = "".join(map(_layer, self.summary.layers))
        total = (
            '<tfoot><tr><th scope="row" colspan="3">for one picture</th>'
            f'<td class="n">{self.summary.total_parameters:,}</td>'
            f'<td class="n">{self.summary.multiply_adds:,}</td></tr></tfoot>'
        )
        return _section(
            "The network",
            _table("plain", head + rows + total),
        )

    def _next(self) -> str:
        path = str(self.checkpoint.resolve())
        code = (
            "import flambeau as torch\n"
            "from flambeau.cli.demo import Net\n"
            "from flambeau.datasets import Digits\n\n"
            "net = Net()\n"
            f"net.load_state_dict(torch.load({path!r})['model'])\n\n"
            "image, digit = Digits(train=False, size=32)[0]\n"
            "print(net(image.unsqueeze(0)).softmax(1), digit)"
        )
        return _section(
            "Continue from here",
            "<p>The weights are in a checkpoint that PyTorch reads too. This loads them:</p>"
            f"<pre><code>{escape(code)}</code></pre><p>The program that made this page is "
            "<code>flambeau/cli/demo.py</code>: less than two hundred lines, to start your own "
            "from.</p>",
        )

    def _machine(self) -> str:
        found = facts()
        build, cpu, libraries = found["flambeau"], found["cpu"], found["libraries"]
        rows = {
            "Flambeau": f"{build['version']}, built with {build['compiler']}",
            "Python": f"{found['python']['version']}, NumPy {libraries['numpy']}",
            "system": found["platform"],
            "processor": f"{cpu['model']}, {cpu['level']} kernels, "
            f"{found['threads']['used']} threads",
            "libraries": ", ".join(
                f"{name} {libraries[key]['version']}"
                for name, key in (("oneDNN", "onednn"), ("OpenBLAS", "openblas"))
                if libraries[key]
            )
            or "none",
            "random seed": str(self.seed),
        }
        body = "".join(
            f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>'
            for name, value in rows.items()
        )
        return _section(
            "Where this was run",
            _table("plain facts", body)
            + '<p class="source">Digits: E. Alpaydin and C. Kaynak, Optical Recognition of '
            "Handwritten Digits, UCI Machine Learning Repository, CC BY 4.0.</p>",
        )


def _section(title: str, inside: str) -> str:
    return f"<section><h2>{escape(title)}</h2>\n{inside}</section>"


def _table(kind: str, inside: str) -> str:
    """A table that scrolls by itself on narrow screens, with the keyboard too."""
    return f'<div class="scroll" tabindex="0"><table class="{kind}">{inside}</table></div>'


def _percent(share: float) -> str:
    return f"{share * 100:.{1 if share < 0.995 else 0}f} %"


def _cell(digit: int, at: int, count: int, row_most: int, most: int) -> str:
    """Right answers in one colour, mistakes in the other, the stronger the more there are."""
    if not count:
        return '<td class="none">·</td>'
    share = count / row_most if at == digit else 0.45 + 0.55 * count / most
    kind = "hit" if at == digit else "miss"
    title = f"{digit} read as {at}: {count}"
    return f'<td class="{kind}" style="--share:{share:.2f}" title="{title}">{count}</td>'


def _layer(layer: LayerSummary) -> str:
    shape = ", ".join(" × ".join(map(str, one[1:])) for one in layer.output_shapes)
    numbers: Iterable[str] = (
        f'<td class="n">{n:,}</td>' if n else '<td class="n"></td>'
        for n in (layer.parameters, layer.multiply_adds)
    )
    name = escape(layer.name or "whole network")
    return (
        f'<tr><th scope="row">{name}</th><td>{escape(layer.kind)}</td><td>{shape}</td>'
        f"{''.join(numbers)}</tr>"
    )
