"""Object detection networks: boxes, masks and keypoints."""

from flambeau.vision.models.detection.faster_rcnn import *
from flambeau.vision.models.detection.fcos import *
from flambeau.vision.models.detection.keypoint_rcnn import *
from flambeau.vision.models.detection.mask_rcnn import *
from flambeau.vision.models.detection.retinanet import *
from flambeau.vision.models.detection.ssd import *
from flambeau.vision.models.detection.ssdlite import *
