"""Tests of the core: memory, threads, processes."""
