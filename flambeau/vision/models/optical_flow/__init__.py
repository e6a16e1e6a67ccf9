"""Networks that say how the pixels of one image move to those of another."""

from flambeau.vision.models.optical_flow.raft import *
