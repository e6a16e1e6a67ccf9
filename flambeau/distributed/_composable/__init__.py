"""Parallel training of modules that stay what they are."""
