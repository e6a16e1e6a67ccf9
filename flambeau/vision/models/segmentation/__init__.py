"""Networks for segmentation, by name only."""

from flambeau.vision.models._unavailable import unavailable as _unavailable

globals().update(
    _unavailable(
        "segmentation",
        """
        DeepLabV3 FCN LRASPP deeplabv3_mobilenet_v3_large deeplabv3_resnet101 deeplabv3_resnet50
        fcn_resnet101 fcn_resnet50 lraspp_mobilenet_v3_large
        """,
        "feature_extraction gives the layers of a backbone to build one on",
    )
)
