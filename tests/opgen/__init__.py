"""Tests of the operator table and its generator."""
