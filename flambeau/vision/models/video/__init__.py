"""Video classification networks."""

from flambeau.vision.models.video.mvit import *
from flambeau.vision.models.video.resnet import *
from flambeau.vision.models.video.s3d import *
from flambeau.vision.models.video.swin_transformer import *
