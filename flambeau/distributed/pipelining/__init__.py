"""Models in stages, one to a process."""

from __future__ import annotations

import enum
from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type
from flambeau.distributed.pipelining import schedules

__all__ = [
    "PipelineStage",
    "Schedule1F1B",
    "ScheduleGPipe",
    "SplitPoint",
    "pipeline",
    "schedules",
]


class SplitPoint(enum.Enum):
    """Where a stage begins or ends."""

    BEGINNING = 1
    END = 2


pipeline: Function = refused("distributed.pipelining.pipeline")
PipelineStage: Any = refused_type("distributed.pipelining.PipelineStage")
ScheduleGPipe = schedules.ScheduleGPipe
Schedule1F1B = schedules.Schedule1F1B
