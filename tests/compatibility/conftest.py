"""What tests of processes share."""

from __future__ import annotations

import pytest

import flambeau.distributed as dist


@pytest.fixture
def no_group_is_left():
    """Groups end with the test that made them."""
    yield
    if dist.is_initialized():
        dist.destroy_process_group()
