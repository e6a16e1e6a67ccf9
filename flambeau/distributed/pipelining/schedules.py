"""In which order the stages of a model work."""

from __future__ import annotations

from typing import Any

from flambeau._limits.refusing import Function, refused, refused_type

__all__ = [
    "PipelineScheduleMulti",
    "PipelineScheduleSingle",
    "Schedule1F1B",
    "ScheduleGPipe",
    "get_schedule_class",
]

PipelineScheduleSingle: Any = refused_type(
    "distributed.pipelining.schedules.PipelineScheduleSingle"
)
PipelineScheduleMulti: Any = refused_type("distributed.pipelining.schedules.PipelineScheduleMulti")
ScheduleGPipe: Any = refused_type("distributed.pipelining.schedules.ScheduleGPipe")
Schedule1F1B: Any = refused_type("distributed.pipelining.schedules.Schedule1F1B")
get_schedule_class: Function = refused("distributed.pipelining.schedules.get_schedule_class")
