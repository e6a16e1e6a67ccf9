"""Summaries: what events hold, ready to be written by `FileWriter.add_summary`."""

from flambeau.utils.tensorboard._media import (
    audio,
    draw_boxes,
    image,
    image_boxes,
    make_image,
    make_video,
    video,
)
from flambeau.utils.tensorboard._messages import Summary
from flambeau.utils.tensorboard._numbers import (
    compute_curve,
    histogram,
    histogram_raw,
    make_histogram,
    pr_curve,
    pr_curve_raw,
    scalar,
    tensor_proto,
)
from flambeau.utils.tensorboard._plugins import custom_scalars, hparams, mesh, text

__all__ = [
    "Summary",
    "audio",
    "compute_curve",
    "custom_scalars",
    "draw_boxes",
    "histogram",
    "histogram_raw",
    "hparams",
    "image",
    "image_boxes",
    "make_histogram",
    "make_image",
    "make_video",
    "mesh",
    "pr_curve",
    "pr_curve_raw",
    "scalar",
    "tensor_proto",
    "text",
    "video",
]
