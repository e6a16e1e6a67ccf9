"""Versions compare as versions, whatever they are compared with."""

from __future__ import annotations

import pytest

from flambeau.torch_version import TorchVersion

VERSION = TorchVersion("2.13.0+flambeau")


@pytest.mark.parametrize(
    "lower",
    ["2.13.0", "2.9.1", "1.13", "v2.1", "2.13.0a0", "2.13.0.dev20260101", "2.13.0rc1", (2, 9), [1]],
)
def test_above(lower: object):
    assert VERSION.__gt__(lower)
    assert VERSION.__ge__(lower)
    assert VERSION.__ne__(lower)
    assert not VERSION.__lt__(lower)


@pytest.mark.parametrize("higher", ["2.13.1", "2.14", "2.13.0+zzz", "10.0", (3,), (2, 13, 1)])
def test_below(higher: object):
    assert VERSION.__lt__(higher)
    assert VERSION.__le__(higher)
    assert VERSION.__ne__(higher)


def test_equal():
    assert VERSION == "2.13.0+flambeau"
    assert VERSION == "2.13+flambeau"
    assert hash(VERSION) == hash("2.13.0+flambeau")
    assert TorchVersion("2.13.0") == (2, 13)


def test_other_things():
    assert VERSION != "unknown"
    assert VERSION < "unknown"  # as text
    assert VERSION != 2
    with pytest.raises(TypeError):
        VERSION > None  # noqa: B015
    assert VERSION.split("+") == ["2.13.0", "flambeau"]
