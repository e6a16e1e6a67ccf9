"""Activations that are computed a second time."""
