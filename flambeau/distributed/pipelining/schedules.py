"""In which order the stages of a model work."""

from __future__ import annotations

from flambeau.distributed._absent import function, type_without_objects

__all__ = [
    "PipelineScheduleMulti",
    "PipelineScheduleSingle",
    "Schedule1F1B",
    "ScheduleGPipe",
    "get_schedule_class",
]

_INSTEAD = "run the whole model in one process"

PipelineScheduleSingle = type_without_objects("PipelineScheduleSingle", _INSTEAD)
PipelineScheduleMulti = type_without_objects("PipelineScheduleMulti", _INSTEAD)
ScheduleGPipe = type_without_objects("ScheduleGPipe", _INSTEAD)
Schedule1F1B = type_without_objects("Schedule1F1B", _INSTEAD)
get_schedule_class = function("get_schedule_class", _INSTEAD)
