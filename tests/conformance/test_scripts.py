"""Programs print the losses that they print under PyTorch."""

from __future__ import annotations

import pytest

from tests.conformance.output import printed
from tests.scripts import SCRIPTS, Script, losses

TOLERANCE = 1e-3
# Numbers this small are compared as they are: between programs whose sums are rounded otherwise,
# training makes of rounding more than a thousandth of a loss that is nearly zero.
SMALL = {"mixed_precision": 1e-3}  # a rounding to bfloat16 is four thousandths of a number


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.name)
def test_same_losses(script: Script):
    theirs, ours = (losses(printed(name, script.path)) for name in ("torch", "flambeau"))
    assert theirs
    assert ours.keys() == theirs.keys()
    for label, expected in theirs.items():
        small = SMALL.get(script.name, 1e-4)
        assert ours[label] == pytest.approx(expected, rel=TOLERANCE, abs=small), label
