"""``torch.special``: special functions."""

from flambeau._C.special import *  # noqa: F403
