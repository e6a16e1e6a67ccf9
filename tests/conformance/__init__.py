"""Flambeau against PyTorch, the oracle of what an operator means."""
