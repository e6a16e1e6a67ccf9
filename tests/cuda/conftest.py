"""Tests of the device need one: a GPU, or the emulator that `make emulated` sets up.

They are skipped in a run of other tests too, which hides the GPU: see `tests/conftest.py`.
"""

from collections.abc import Iterator

import pytest

import flambeau as fb
from flambeau import _C


@pytest.fixture(autouse=True, scope="session")
def _device() -> None:
    if not fb.cuda.is_available():
        missing = _C._cuda_state()["missing"]
        pytest.skip(f"{missing}; `make cuda` runs these tests alone, `make emulated` without a GPU")


@pytest.fixture(autouse=True)
def _nothing_is_pending() -> Iterator[None]:
    yield
    fb.cuda.synchronize()
