"""Commands for images: ``flambeau classify`` and ``flambeau models``."""
