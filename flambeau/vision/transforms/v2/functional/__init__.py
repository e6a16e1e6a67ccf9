"""The functions of the v2 interface, each with its kernels by type of input."""

from flambeau.vision.transforms._image import InterpolationMode as InterpolationMode
from flambeau.vision.transforms.v2.functional._affine import *
from flambeau.vision.transforms.v2.functional._augment import *
from flambeau.vision.transforms.v2.functional._bend import *
from flambeau.vision.transforms.v2.functional._boxes import (
    clamp_bounding_boxes as clamp_bounding_boxes,
)
from flambeau.vision.transforms.v2.functional._boxes import (
    convert_bounding_box_format as convert_bounding_box_format,
)
from flambeau.vision.transforms.v2.functional._boxes import (
    sanitize_bounding_boxes as sanitize_bounding_boxes,
)
from flambeau.vision.transforms.v2.functional._color import *
from flambeau.vision.transforms.v2.functional._crop import *
from flambeau.vision.transforms.v2.functional._dispatch import is_pure_tensor as is_pure_tensor
from flambeau.vision.transforms.v2.functional._dispatch import register_kernel as register_kernel
from flambeau.vision.transforms.v2.functional._dtype import (
    convert_image_dtype as convert_image_dtype,
)
from flambeau.vision.transforms.v2.functional._dtype import to_dtype as to_dtype
from flambeau.vision.transforms.v2.functional._dtype import to_dtype_image as to_dtype_image
from flambeau.vision.transforms.v2.functional._flip import *
from flambeau.vision.transforms.v2.functional._meta import *
from flambeau.vision.transforms.v2.functional._misc import *
from flambeau.vision.transforms.v2.functional._pad import *
from flambeau.vision.transforms.v2.functional._points import *
from flambeau.vision.transforms.v2.functional._resize import *
from flambeau.vision.transforms.v2.functional._temporal import *
from flambeau.vision.transforms.v2.functional._tones import *
from flambeau.vision.transforms.v2.functional._type_conversion import *
from flambeau.vision.transforms.v2.functional._video import *
