"""Networks that say of every pixel what it belongs to."""

from flambeau.vision.models.segmentation.deeplabv3 import *
from flambeau.vision.models.segmentation.fcn import *
from flambeau.vision.models.segmentation.lraspp import *
