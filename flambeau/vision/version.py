"""Which torchvision this is like."""

__all__ = ["__version__"]

__version__ = "0.28.0"
