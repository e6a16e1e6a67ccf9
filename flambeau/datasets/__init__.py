"""Data that comes with the package, for first steps without a network."""

from flambeau.datasets.digits import Digits

__all__ = ["Digits"]
