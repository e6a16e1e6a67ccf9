"""Flambeau: a lighter torch."""

from flambeau._C import *  # noqa: F403
