"""Operator tests driven by the operator table."""
