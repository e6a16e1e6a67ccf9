"""Samples of every operator, one file per family."""
