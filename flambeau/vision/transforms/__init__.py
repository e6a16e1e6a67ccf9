"""Image transforms for PIL images and tensors."""

from flambeau.vision.transforms import functional as functional
from flambeau.vision.transforms.autoaugment import *
from flambeau.vision.transforms.transforms import *
