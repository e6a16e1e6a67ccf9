"""All transforms except the AutoAugment family, at the path that programs import them from."""

from flambeau.vision.transforms._color import (
    ColorJitter,
    GaussianBlur,
    Grayscale,
    RandomAdjustSharpness,
    RandomAutocontrast,
    RandomEqualize,
    RandomGrayscale,
    RandomInvert,
    RandomPosterize,
    RandomSolarize,
)
from flambeau.vision.transforms._conversion import (
    ConvertImageDtype,
    LinearTransformation,
    Normalize,
    PILToTensor,
    ToPILImage,
    ToTensor,
)
from flambeau.vision.transforms._erasing import RandomErasing
from flambeau.vision.transforms._geometry import (
    CenterCrop,
    FiveCrop,
    Pad,
    RandomCrop,
    RandomHorizontalFlip,
    RandomResizedCrop,
    RandomVerticalFlip,
    Resize,
    TenCrop,
)
from flambeau.vision.transforms._image import InterpolationMode
from flambeau.vision.transforms._sequence import (
    Compose,
    Lambda,
    RandomApply,
    RandomChoice,
    RandomOrder,
    RandomTransforms,
)
from flambeau.vision.transforms._warp import (
    ElasticTransform,
    RandomAffine,
    RandomPerspective,
    RandomRotation,
)

__all__ = [
    "CenterCrop",
    "ColorJitter",
    "Compose",
    "ConvertImageDtype",
    "ElasticTransform",
    "FiveCrop",
    "GaussianBlur",
    "Grayscale",
    "InterpolationMode",
    "Lambda",
    "LinearTransformation",
    "Normalize",
    "PILToTensor",
    "Pad",
    "RandomAdjustSharpness",
    "RandomAffine",
    "RandomApply",
    "RandomAutocontrast",
    "RandomChoice",
    "RandomCrop",
    "RandomEqualize",
    "RandomErasing",
    "RandomGrayscale",
    "RandomHorizontalFlip",
    "RandomInvert",
    "RandomOrder",
    "RandomPerspective",
    "RandomPosterize",
    "RandomResizedCrop",
    "RandomRotation",
    "RandomSolarize",
    "RandomTransforms",
    "RandomVerticalFlip",
    "Resize",
    "TenCrop",
    "ToPILImage",
    "ToTensor",
]
