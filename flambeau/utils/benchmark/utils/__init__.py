"""The parts of the benchmark package, by the paths that programs import them from."""
