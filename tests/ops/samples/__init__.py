"""Samples of every operator, one or more files per family."""
