"""The torchvision version that this package corresponds to."""

__all__ = ["__version__"]

__version__ = "0.28.0"
