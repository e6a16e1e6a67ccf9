"""Semantic segmentation networks: the class of every pixel."""

from flambeau.vision.models.segmentation.deeplabv3 import *
from flambeau.vision.models.segmentation.fcn import *
from flambeau.vision.models.segmentation.lraspp import *
