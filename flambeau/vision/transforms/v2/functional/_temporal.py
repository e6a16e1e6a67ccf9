"""Temporal subsampling of videos."""

from __future__ import annotations

from typing import Any

import flambeau as fb
from flambeau import Tensor
from flambeau.vision.transforms.v2.functional._dispatch import functional, kernel
from flambeau.vision.tv_tensors import Video

__all__ = ["uniform_temporal_subsample", "uniform_temporal_subsample_video"]


@functional
def uniform_temporal_subsample(inpt: Any, num_samples: int) -> Any:
    """Keep ``num_samples`` evenly spaced frames of a video, the first and the last among them."""


@kernel(uniform_temporal_subsample, Tensor, Video)
def uniform_temporal_subsample_video(video: Tensor, num_samples: int) -> Tensor:
    """Keep ``num_samples`` evenly spaced frames of a video tensor (..., T, C, H, W)."""
    images = fb.linspace(0, video.shape[-4] - 1, num_samples).long()
    return video.index_select(-4, images)
