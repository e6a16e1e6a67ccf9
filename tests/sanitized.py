"""What cannot be tested under the address sanitizer, and why, is marked with this."""

import os

import pytest

IS_SANITIZED = "libasan" in os.environ.get("LD_PRELOAD", "")


def not_sanitized(reason: str) -> pytest.MarkDecorator:
    """Skip a test under the address sanitizer."""
    return pytest.mark.skipif(IS_SANITIZED, reason=f"under the address sanitizer: {reason}")
