"""Configuration of all tests."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

import flambeau

# Shells start programs in the background with Ctrl-C ignored, and that is handed down to the
# programs that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Several processes test at once: together they have about as many threads as there are cores, but
# each has a second one, so that what is done in parallel is tested.
if workers := int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "0")):
    flambeau.set_num_threads(max(2, flambeau.get_num_threads() // workers))


CUDA = Path(__file__).parent / "cuda"


def pytest_configure(config: pytest.Config) -> None:
    # All tests but those of the device cuda describe a machine without a GPU, as do the processes
    # that they start; a process sees its GPUs or does not. Nothing has asked for them yet.
    folders = [config.invocation_params.dir / each.partition("::")[0] for each in config.args]
    if not all(folder.resolve().is_relative_to(CUDA) for folder in folders):
        os.environ["FLAMBEAU_CUDA"] = "0"
    # It comes once in a process: as an error it would be that of whichever test is first.
    config.addinivalue_line("filterwarnings", "ignore::flambeau._limits.accepted.AcceptedWarning")


@pytest.fixture
def restored_threads() -> Iterator[None]:
    """For tests that set the number of threads."""
    before = flambeau.get_num_threads()
    yield
    flambeau.set_num_threads(before)
