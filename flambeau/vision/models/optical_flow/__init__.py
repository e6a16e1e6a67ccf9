"""Optical flow networks: the motion of each pixel from one image to another."""

from flambeau.vision.models.optical_flow.raft import *
