"""Tests of the element functions by themselves."""
