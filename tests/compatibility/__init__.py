"""Modules of PyTorch that programs import, set and query on a machine with a CPU only."""
