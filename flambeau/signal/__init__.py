"""``torch.signal``: windows for short-time analysis."""

from flambeau.signal import windows as windows
