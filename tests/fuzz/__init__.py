"""Randomised comparison of indexing, views, broadcasting and reductions with NumPy."""
