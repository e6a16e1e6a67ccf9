"""Detectors, by name only."""

from flambeau.vision.models._unavailable import unavailable as _unavailable

globals().update(
    _unavailable(
        "detection",
        """
        FCOS FasterRCNN KeypointRCNN MaskRCNN RetinaNet fasterrcnn_mobilenet_v3_large_320_fpn
        fasterrcnn_mobilenet_v3_large_fpn fasterrcnn_resnet50_fpn fasterrcnn_resnet50_fpn_v2
        fcos_resnet50_fpn keypointrcnn_resnet50_fpn maskrcnn_resnet50_fpn maskrcnn_resnet50_fpn_v2
        retinanet_resnet50_fpn retinanet_resnet50_fpn_v2 ssd300_vgg16 ssdlite320_mobilenet_v3_large
        """,
        "vision.ops (nms, roi_align, box_iou) and the backbones of vision.models are there to build"
        " one from",
    )
)
