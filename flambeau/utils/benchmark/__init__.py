"""Timing of single statements, and tables that compare them."""

from flambeau.utils.benchmark.utils.common import Measurement as Measurement
from flambeau.utils.benchmark.utils.common import TaskSpec as TaskSpec
from flambeau.utils.benchmark.utils.common import ordered_unique as ordered_unique
from flambeau.utils.benchmark.utils.common import select_unit as select_unit
from flambeau.utils.benchmark.utils.common import set_torch_threads as set_torch_threads
from flambeau.utils.benchmark.utils.common import trim_sigfig as trim_sigfig
from flambeau.utils.benchmark.utils.common import unit_to_english as unit_to_english
from flambeau.utils.benchmark.utils.compare import Colorize as Colorize
from flambeau.utils.benchmark.utils.compare import Compare as Compare
from flambeau.utils.benchmark.utils.timer import Language as Language
from flambeau.utils.benchmark.utils.timer import Timer as Timer
from flambeau.utils.benchmark.utils.timer import timer as timer

__all__ = [
    "Colorize",
    "Compare",
    "Language",
    "Measurement",
    "TaskSpec",
    "Timer",
    "ordered_unique",
    "select_unit",
    "set_torch_threads",
    "timer",
    "trim_sigfig",
    "unit_to_english",
]
