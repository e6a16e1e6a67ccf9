"""Image networks with torchvision's module names, so that published weights fit."""

from flambeau.vision.models import detection as detection
from flambeau.vision.models import optical_flow as optical_flow
from flambeau.vision.models import quantization as quantization
from flambeau.vision.models import segmentation as segmentation
from flambeau.vision.models import video as video
from flambeau.vision.models._api import Weights as Weights
from flambeau.vision.models._api import WeightsEnum as WeightsEnum
from flambeau.vision.models._api import get_model as get_model
from flambeau.vision.models._api import get_model_builder as get_model_builder
from flambeau.vision.models._api import get_model_weights as get_model_weights
from flambeau.vision.models._api import get_weight as get_weight
from flambeau.vision.models._api import list_models as list_models
from flambeau.vision.models.alexnet import *
from flambeau.vision.models.convnext import *
from flambeau.vision.models.densenet import *
from flambeau.vision.models.efficientnet import *
from flambeau.vision.models.googlenet import *
from flambeau.vision.models.inception import *
from flambeau.vision.models.maxvit import *
from flambeau.vision.models.mnasnet import *
from flambeau.vision.models.mobilenetv2 import *
from flambeau.vision.models.mobilenetv3 import *
from flambeau.vision.models.regnet import *
from flambeau.vision.models.resnet import *
from flambeau.vision.models.shufflenetv2 import *
from flambeau.vision.models.squeezenet import *
from flambeau.vision.models.swin_transformer import *
from flambeau.vision.models.vgg import *
from flambeau.vision.models.vision_transformer import *
