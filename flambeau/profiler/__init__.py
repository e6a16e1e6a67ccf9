"""Profiling of time and memory: by operator, by line and by module."""

from flambeau.autograd.profiler import record_function as record_function
from flambeau.profiler.profiler import DeviceType as DeviceType
from flambeau.profiler.profiler import ProfilerAction as ProfilerAction
from flambeau.profiler.profiler import ProfilerActivity as ProfilerActivity
from flambeau.profiler.profiler import kineto_available as kineto_available
from flambeau.profiler.profiler import profile as profile
from flambeau.profiler.profiler import schedule as schedule
from flambeau.profiler.profiler import supported_activities as supported_activities
from flambeau.profiler.profiler import tensorboard_trace_handler as tensorboard_trace_handler

__all__ = [
    "DeviceType",
    "ProfilerAction",
    "ProfilerActivity",
    "kineto_available",
    "profile",
    "record_function",
    "schedule",
    "supported_activities",
    "tensorboard_trace_handler",
]
