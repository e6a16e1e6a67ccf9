"""Transforms of whole samples: images with their boxes, points and masks, in any nesting."""

from flambeau.vision.transforms._image import InterpolationMode as InterpolationMode
from flambeau.vision.transforms.autoaugment import AutoAugmentPolicy as AutoAugmentPolicy
from flambeau.vision.transforms.v2 import functional as functional
from flambeau.vision.transforms.v2._augment import *
from flambeau.vision.transforms.v2._boxes import *
from flambeau.vision.transforms.v2._color import *
from flambeau.vision.transforms.v2._container import *
from flambeau.vision.transforms.v2._conversion import *
from flambeau.vision.transforms.v2._geometry import *
from flambeau.vision.transforms.v2._misc import *
from flambeau.vision.transforms.v2._mix import CutMix as CutMix
from flambeau.vision.transforms.v2._mix import MixUp as MixUp
from flambeau.vision.transforms.v2._policies import *
from flambeau.vision.transforms.v2._query import check_type as check_type
from flambeau.vision.transforms.v2._query import get_bounding_boxes as get_bounding_boxes
from flambeau.vision.transforms.v2._query import get_keypoints as get_keypoints
from flambeau.vision.transforms.v2._query import has_all as has_all
from flambeau.vision.transforms.v2._query import has_any as has_any
from flambeau.vision.transforms.v2._query import query_chw as query_chw
from flambeau.vision.transforms.v2._query import query_size as query_size
from flambeau.vision.transforms.v2._sanitize import SanitizeBoundingBoxes as SanitizeBoundingBoxes
from flambeau.vision.transforms.v2._sanitize import SanitizeKeyPoints as SanitizeKeyPoints
from flambeau.vision.transforms.v2._scale import *
from flambeau.vision.transforms.v2._transform import Transform as Transform
from flambeau.vision.transforms.v2._warp import *
