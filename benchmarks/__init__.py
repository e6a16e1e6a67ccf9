"""Flambeau and PyTorch on the same programs, in turn."""
