"""What ``flambeau demo`` prints."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import flambeau as fb
from flambeau import Tensor
from flambeau._C import _isa
from flambeau._display.describe import readable_bytes
from flambeau._display.terminal import Style, can_show

if TYPE_CHECKING:
    from flambeau.cli._report import Report
    from flambeau.cli.demo import Net
    from flambeau.datasets import Digits

__all__ = ["conclude", "introduce", "show_confusion"]


def introduce(net: Net, train_data: Digits, test_data: Digits) -> None:
    """What is about to happen."""
    style = Style(sys.stdout)
    parameters = sum(parameter.numel() for parameter in net.parameters())
    threads = fb.get_num_threads()
    print(
        style("Training a network on handwritten digits", "bold"),
        f"{parameters:,} parameters, {len(train_data)} training images, "
        f"{len(test_data)} test images",
        f"Flambeau {fb.__version__}, {threads} thread{'s' * (threads > 1)}, {_isa()} kernels",
        sep="\n",
        end="\n\n",
        flush=True,
    )


def show_confusion(confusion: Tensor) -> None:
    """What each digit was read as, as a table."""
    style = Style(sys.stdout)
    none = "·" if can_show(sys.stdout, "·") else "."
    size = len(confusion)
    print("\n" + style("Test digits", "bold") + " (rows) and predictions (columns)\n")
    print(style("      " + "".join(f"{digit:>4}" for digit in range(size)) + "   right", "dim"))
    for digit, row in enumerate(confusion.tolist()):
        cells = [
            style(f"{count or none:>4}", "dim" if not count else "green" if at == digit else "red")
            for at, count in enumerate(row)
        ]
        share = f"{row[digit] / max(sum(row), 1):7.1%}"
        print(style(f"{digit:>6}", "dim") + "".join(cells) + style(share, "dim"))
    print()


def conclude(page: Report, report: Path) -> None:
    """The result, and where the files are."""
    style = Style(sys.stdout)
    total, right = page.total, page.total - len(page.wrong)
    size = readable_bytes(page.checkpoint.stat().st_size)
    accuracy = style(f"{page.final.accuracy:.1%}", "bold")
    print(
        f"{accuracy} of the test digits classified correctly ({right} of {total}), "
        f"{page.history.seconds:.1f} s of training",
        f"checkpoint  {page.checkpoint}  ({size}; verified by loading it into a new network)",
        f"report      {report}  (open it in a browser)",
        sep="\n",
    )
