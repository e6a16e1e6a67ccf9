"""The profiler of old programs, by the name that they import it by."""

from flambeau.autograd.profiler import profile as profile

__all__ = ["profile"]
