"""Operators that programs define: their signatures, kernels and derivatives."""
