"""Transforms of images, on PIL images and on tensors."""

from flambeau.vision.transforms import functional as functional
from flambeau.vision.transforms.autoaugment import *
from flambeau.vision.transforms.transforms import *
