"""Models in stages, one to a process."""

from __future__ import annotations

import enum
from typing import Any

from flambeau.distributed._absent import Function, function, type_without_objects
from flambeau.distributed.pipelining import schedules

__all__ = [
    "PipelineStage",
    "Schedule1F1B",
    "ScheduleGPipe",
    "SplitPoint",
    "pipeline",
    "schedules",
]

_INSTEAD = "run the whole model in one process"


class SplitPoint(enum.Enum):
    """Where a stage begins or ends."""

    BEGINNING = 1
    END = 2


pipeline: Function = function("pipeline", _INSTEAD)
PipelineStage: Any = type_without_objects("PipelineStage", _INSTEAD)
ScheduleGPipe = schedules.ScheduleGPipe
Schedule1F1B = schedules.Schedule1F1B
