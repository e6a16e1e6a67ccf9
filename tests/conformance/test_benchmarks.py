"""The benchmarks measure what they say."""

import subprocess
import sys

PROGRAM = """
import sys
import flambeau
from benchmarks.case import all_cases
assert len(all_cases()) > 500
print([name for name in ("torch", "torchvision") if name in sys.modules])
"""


def test_a_process_that_is_measured_does_not_load_torch() -> None:
    """It would carry PyTorch's memory, which makes each `fork` of a loader's workers slow."""
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "[]"
