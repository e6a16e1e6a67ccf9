"""The test suite of Flambeau."""
