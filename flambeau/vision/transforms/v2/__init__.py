"""Transforms of whole samples: images with their masks, in any nesting."""

from flambeau.vision.transforms._image import InterpolationMode as InterpolationMode
from flambeau.vision.transforms.autoaugment import AutoAugmentPolicy as AutoAugmentPolicy
from flambeau.vision.transforms.v2 import functional as functional
from flambeau.vision.transforms.v2._augment import *
from flambeau.vision.transforms.v2._color import *
from flambeau.vision.transforms.v2._container import *
from flambeau.vision.transforms.v2._conversion import *
from flambeau.vision.transforms.v2._geometry import *
from flambeau.vision.transforms.v2._transform import Transform as Transform
