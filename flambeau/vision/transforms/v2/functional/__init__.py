"""The functions of the second interface: of PIL images, tensors, and tensors with a meaning."""

from flambeau.vision.transforms._image import InterpolationMode as InterpolationMode
from flambeau.vision.transforms.functional import to_pil_image as to_pil_image
from flambeau.vision.transforms.functional import to_tensor as to_tensor
from flambeau.vision.transforms.v2.functional._color import *
from flambeau.vision.transforms.v2.functional._geometry import *
from flambeau.vision.transforms.v2.functional._kernels import *
from flambeau.vision.transforms.v2.functional._misc import *
from flambeau.vision.transforms.v2.functional._type_conversion import *
