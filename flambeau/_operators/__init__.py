"""Operators written in Python, composed of native ones; the table names most of them."""
