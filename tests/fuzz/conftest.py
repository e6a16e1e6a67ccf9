"""The number of cases: FUZZ_EXAMPLES=1000 tries ten times as many per test."""

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "100")),
    deadline=None,  # the first example may load a library
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    print_blob=True,
)
settings.load_profile("fuzz")
