"""What programs set and ask of the package itself."""

from __future__ import annotations

import pytest

from flambeau import vision


def test_version() -> None:
    assert vision.__version__ == vision.version.__version__ == "0.28.0"


def test_backends() -> None:
    vision.set_image_backend("PIL")
    assert vision.get_image_backend() == "PIL"
    with pytest.raises(ValueError, match="'accimage'"):
        vision.set_image_backend("accimage")
    vision.set_video_backend("pyav")
    assert vision.get_video_backend() == "pyav"


def test_modules_are_found_when_they_are_named() -> None:
    assert vision.ops.nms is not None
    with pytest.raises(AttributeError, match="has no attribute 'oops'"):
        vision.oops  # noqa: B018
