"""Configuration of the conformance run: one thread for the oracle, coverage in the summary."""

from typing import Any

import torch

torch.set_num_threads(1)
# Where opt_einsum is installed, torch multiplies in another order: its results have other strides.
torch.backends.opt_einsum.enabled = False


def pytest_runtest_logreport(report: Any) -> None:
    from tests.conformance.coverage import COVERAGE

    if report.when == "call" and report.passed:
        COVERAGE.read(report.user_properties)


def pytest_terminal_summary(terminalreporter: Any) -> None:
    from tests.conformance.coverage import COVERAGE

    for line in COVERAGE.lines():
        terminalreporter.write_line(line)
