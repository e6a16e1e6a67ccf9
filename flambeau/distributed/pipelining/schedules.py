"""In which order the stages of a model work."""

from __future__ import annotations

from typing import Any

from flambeau.distributed._absent import Function, function, type_without_objects

__all__ = [
    "PipelineScheduleMulti",
    "PipelineScheduleSingle",
    "Schedule1F1B",
    "ScheduleGPipe",
    "get_schedule_class",
]

_INSTEAD = "run the whole model in one process"

PipelineScheduleSingle: Any = type_without_objects("PipelineScheduleSingle", _INSTEAD)
PipelineScheduleMulti: Any = type_without_objects("PipelineScheduleMulti", _INSTEAD)
ScheduleGPipe: Any = type_without_objects("ScheduleGPipe", _INSTEAD)
Schedule1F1B: Any = type_without_objects("Schedule1F1B", _INSTEAD)
get_schedule_class: Function = function("get_schedule_class", _INSTEAD)
