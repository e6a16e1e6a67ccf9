"""Networks that can be quantised to 8-bit integers; there are no kernels for that yet."""

from flambeau.vision.models.quantization.googlenet import *
from flambeau.vision.models.quantization.inception import *
from flambeau.vision.models.quantization.mobilenet import *
from flambeau.vision.models.quantization.resnet import *
from flambeau.vision.models.quantization.shufflenetv2 import *
