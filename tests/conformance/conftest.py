"""Configuration of the conformance run: one thread for the oracle, coverage in the summary."""

from typing import Any

import torch

torch.set_num_threads(1)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from tests.conformance.coverage import COVERAGE

    if COVERAGE:
        terminalreporter.write_line(str(COVERAGE))
