"""Schedules of learning rates: `scheduler.step()` after each epoch, or after each batch."""

from __future__ import annotations

from flambeau.optim.lr_scheduler.composed import ChainedScheduler, SequentialLR
from flambeau.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from flambeau.optim.lr_scheduler.cyclic import CyclicLR, OneCycleLR
from flambeau.optim.lr_scheduler.factors import (
    ConstantLR,
    ExponentialLR,
    LinearLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from flambeau.optim.lr_scheduler.lambdas import LambdaLR, MultiplicativeLR
from flambeau.optim.lr_scheduler.plateau import ReduceLROnPlateau
from flambeau.optim.lr_scheduler.scheduler import (
    EPOCH_DEPRECATION_WARNING,
    LRScheduler,
    _LRScheduler,
)

__all__ = [
    "EPOCH_DEPRECATION_WARNING",
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
    "_LRScheduler",
]
