"""Examples of torchvision's names (``tv``; operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from PIL import Image

from .serialization import new_folder as new_folder

_HERE = f"__import__('importlib').import_module('{__name__}')"
_PIL = f"{_HERE}.picture()"
_FOLDER = f"{_HERE}.new_folder()"
_TO_TENSOR = "tv.transforms.ToTensor()"
_T, _F = "tv.transforms", "tv.transforms.functional"
_V2, _F2 = "tv.transforms.v2", "tv.transforms.v2.functional"
_MODES = "tv.transforms.InterpolationMode"
_SMALL = "(image / 48)"


def picture() -> Any:
    """A picture of 12 × 8 pixels."""
    pixels = np.arange(8 * 12 * 3).reshape(8, 12, 3) % 251
    return Image.fromarray(pixels.astype(np.uint8))


def file() -> str:
    """A file of one image."""
    path = Path(new_folder()) / "0.png"
    picture().save(path)
    return str(path)


def images() -> str:
    """A folder of one image in each of two classes."""
    root = Path(new_folder())
    for name in ("cat", "dog"):
        (root / name).mkdir()
        picture().save(root / name / "0.png")
    return str(root)


def mnist(name: str) -> str:
    """A folder of the four files of MNIST with three images each."""
    root = Path(new_folder())
    folder = root / name / "raw"
    folder.mkdir(parents=True)
    for part in ("train", "t10k"):
        pixels = bytes(range(256)) * 10
        data = struct.pack(">4B3I", 0, 0, 8, 3, 3, 28, 28) + pixels[: 3 * 28 * 28]
        (folder / f"{part}-images-idx3-ubyte").write_bytes(data)
        labels = struct.pack(">4BI", 0, 0, 8, 1, 3) + bytes([3, 1, 4])
        (folder / f"{part}-labels-idx1-ubyte").write_bytes(labels)
    return str(root)


def cifar(kind: type, call: Callable[[str], Any]) -> Any:
    """What a call gives while the files of a kind of CIFAR are small ones of its own folder."""
    root = Path(new_folder())
    folder = root / kind.base_folder
    folder.mkdir()

    def write(name: str, content: dict[str, Any]) -> list[str]:
        data = pickle.dumps(content, protocol=2)
        (folder / name).write_bytes(data)
        return [name, hashlib.md5(data).hexdigest()]

    pixels = np.arange(2 * 3072).astype(np.uint8).reshape(2, 3072)
    batch = {"data": pixels, "labels": [1, 0], "fine_labels": [1, 0]}
    meta_file, md5 = write(kind.meta["filename"], {kind.meta["key"]: ["cat", "dog"]})
    changed = {
        "train_list": [write(name, batch) for name, _ in kind.train_list],
        "test_list": [write(name, batch) for name, _ in kind.test_list],
        "meta": {**kind.meta, "filename": meta_file, "md5": md5},
    }
    with mock.patch.multiple(kind, **changed):
        return call(str(root))


def _mnist(name: str, extra: str = "") -> list[str]:
    root = f"{_HERE}.mnist('{name}')"
    options = f"root={root}, train=True, transform={_TO_TENSOR}, download=True{extra}"
    return [f"tv.datasets.{name}({options})[1]", f"tv.datasets.{name}({root}, train=False)[2][1]"]


def _cifar(name: str) -> list[str]:
    options = f"root=root, train=True, transform={_TO_TENSOR}, download=True"
    kind = f"tv.datasets.{name}"
    return [f"{_HERE}.cifar({kind}, lambda root: {kind}({options})[0])"]


def _logits(call: str) -> str:
    return f"{call}.eval()(image.expand(1, 3, 64, 64) if image.shape[-1] == 1 else image)"


def _model(name: str, *options: str) -> list[str]:
    """The shape of the last layer's weights for each set of arguments."""
    return [f"list(tv.models.{name}({each}).parameters())[-2].shape[0]" for each in options]


_MNIST_OBJECT = f"tv.datasets.MNIST({_HERE}.mnist('MNIST'))"
_IMAGE_FOLDER = f"tv.datasets.ImageFolder({_HERE}.images())"
_CIFAR_OBJECT = f"{_HERE}.cifar(tv.datasets.CIFAR10, tv.datasets.CIFAR10)"
_POOLER = "tv.ops.MultiScaleRoIAlign(featmap_names=['0'], output_size=2, sampling_ratio=2)"

VISION: dict[str, list[str]] = {
    "__version__": ["tv.__version__.split('+')[0]"],
    "get_image_backend": ["tv.get_image_backend()"],
    # --- transforms
    "transforms.ToTensor": [f"{_TO_TENSOR}({_PIL})"],
    "transforms.Compose": [f"{_T}.Compose([{_T}.Resize(6), {_TO_TENSOR}])({_PIL})"],
    "transforms.Normalize": [
        f"{_T}.Normalize(mean=[0.5] * 3, std=[0.2] * 3, inplace=True)({_SMALL})",
        f"{_T}.Normalize(0.5, 0.25)({_SMALL})",
    ],
    "transforms.Resize": [
        f"{_T}.Resize(size=2, interpolation=2, max_size=3, antialias=True)({_SMALL})",
        f"{_TO_TENSOR}({_T}.Resize((5, 6), 3)({_PIL}))",
    ],
    "transforms.CenterCrop": [f"{_T}.CenterCrop(size=2)({_SMALL})"],
    "transforms.RandomHorizontalFlip": [f"{_T}.RandomHorizontalFlip(p=1.0)({_SMALL})"],
    "transforms.RandomVerticalFlip": [f"{_T}.RandomVerticalFlip(p=1.0)({_SMALL})"],
    "transforms.RandomCrop": [f"{_T}.RandomCrop(3, padding=1, fill=2)({_SMALL})"],
    "transforms.RandomCrop.get_params": [
        f"{_T}.RandomCrop.get_params({_SMALL}, output_size=(2, 3))"
    ],
    "transforms.RandomResizedCrop": [
        (
            f"{_T}.RandomResizedCrop(size=3, scale=(0.5, 1), ratio=(0.8, 1.2), interpolation=2)"
            f"({_SMALL})"
        )
    ],
    "transforms.Lambda": [f"{_T}.Lambda(lambda i: i * 2)({_SMALL})"],
    "transforms.ColorJitter": [
        f"{_T}.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)({_SMALL})"
    ],
    "transforms.ToPILImage": [f"{_TO_TENSOR}({_T}.ToPILImage()({_SMALL}[0]))"],
    "transforms.PILToTensor": [f"{_T}.PILToTensor()({_PIL})"],
    "transforms.RandomRotation": [f"{_T}.RandomRotation(degrees=30)({_SMALL})"],
    "transforms.Pad": [f"{_T}.Pad(2)({_SMALL})"],
    "transforms.GaussianBlur": [f"{_T}.GaussianBlur(kernel_size=3, sigma=(0.5, 1.0))({_SMALL})"],
    "transforms.Grayscale": [f"{_T}.Grayscale(num_output_channels=3)({_SMALL})"],
    "transforms.RandomGrayscale": [f"{_T}.RandomGrayscale(p=1.0)({_SMALL})"],
    "transforms.RandomApply": [f"{_T}.RandomApply([{_T}.Pad(1)], p=0.9)({_SMALL})"],
    "transforms.RandomErasing": [
        f"{_T}.RandomErasing(1.0, scale=(0.1, 0.3), ratio=(0.5, 2.0))({_SMALL})"
    ],
    "transforms.RandomSolarize": [f"{_T}.RandomSolarize(threshold=0.5, p=1.0)({_SMALL})"],
    "transforms.ConvertImageDtype": [f"{_T}.ConvertImageDtype(t.uint8)({_SMALL})"],
    "transforms.TrivialAugmentWide": [
        f"{_T}.PILToTensor()({_T}.TrivialAugmentWide(num_magnitude_bins=31)({_PIL}))"
    ],
    "transforms.InterpolationMode": [f"{_MODES}('bicubic').value"],
    **{
        f"transforms.InterpolationMode.{name}": [f"{_MODES}.{name}.value"]
        for name in (
            *("BILINEAR", "BICUBIC", "NEAREST", "NEAREST_EXACT", "LANCZOS", "HAMMING", "BOX"),
        )
    },
    "transforms.functional.crop": [f"{_F}.crop({_SMALL}, top=1, left=0, height=2, width=3)"],
    "transforms.functional.resize": [
        f"{_F}.resize({_SMALL}, size=[3], interpolation={_MODES}.BICUBIC, antialias=True)"
    ],
    "transforms.functional.to_tensor": [f"{_F}.to_tensor({_PIL})"],
    "transforms.functional.normalize": [
        f"{_F}.normalize({_SMALL}, mean=[0.5] * 3, std=[0.2] * 3, inplace=False)"
    ],
    "transforms.functional.to_pil_image": [f"{_F}.to_tensor({_F}.to_pil_image({_SMALL}[0]))"],
    "transforms.functional.pil_to_tensor": [f"{_F}.pil_to_tensor({_PIL})"],
    "transforms.functional.center_crop": [f"{_F}.center_crop({_SMALL}, [2, 2])"],
    "transforms.functional.hflip": [f"{_F}.hflip({_SMALL})"],
    "transforms.functional.vflip": [f"{_F}.vflip({_SMALL})"],
    "transforms.functional.get_dimensions": [f"{_F}.get_dimensions({_PIL})"],
    "transforms.functional.get_image_size": [f"{_F}.get_image_size({_SMALL})"],
    "transforms.functional.pad": [
        f"{_F}.pad({_SMALL}, [1, 2], fill=0, padding_mode='constant')",
        f"{_F}.pad({_SMALL}, 1, padding_mode='reflect')",
    ],
    "transforms.functional.resized_crop": [
        (
            f"{_F}.resized_crop({_SMALL}, top=0, left=1, height=3, width=2, size=[2, 2],"
            f" interpolation={_MODES}.BILINEAR, antialias=True)"
        )
    ],
    # --- transforms of samples
    "transforms.v2.functional.pad": [
        f"{_F2}.pad(inpt={_SMALL}, padding=[1, 2], fill=0.5, padding_mode='constant')"
    ],
    "transforms.v2.functional.resize": [
        f"{_F2}.resize(inpt={_SMALL}, size=[3, 2], interpolation={_MODES}.BILINEAR, antialias=True)"
    ],
    "transforms.v2.functional.normalize": [
        f"{_F2}.normalize({_SMALL}, mean=[0.5] * 3, std=[0.2] * 3, inplace=True)"
    ],
    "transforms.v2.functional.to_dtype": [f"{_F2}.to_dtype({_SMALL}, dtype=t.uint8, scale=True)"],
    "transforms.v2.functional.to_dtype_image": [
        f"{_F2}.to_dtype_image({_SMALL}, dtype=t.uint8, scale=True)"
    ],
    "transforms.v2.functional.rgb_to_grayscale": [
        f"{_F2}.rgb_to_grayscale({_SMALL}, num_output_channels=3)"
    ],
    "transforms.v2.functional.gaussian_blur": [
        f"{_F2}.gaussian_blur({_SMALL}, kernel_size=[3, 3], sigma=[0.5, 0.5])"
    ],
    "transforms.v2.functional.to_image": [f"{_F2}.to_image({_PIL}).as_subclass(t.Tensor)"],
    "transforms.v2.functional.to_pil_image": [f"{_F2}.to_pil_image({_SMALL}[0]).size"],
    "transforms.v2.functional.pil_to_tensor": [f"{_F2}.pil_to_tensor({_PIL})"],
    "transforms.v2.functional.crop": [f"{_F2}.crop({_SMALL}, 1, 0, 2, 3)"],
    "transforms.v2.functional.grayscale_to_rgb": [f"{_F2}.grayscale_to_rgb({_PIL}).mode"],
    "transforms.v2.Compose": [f"{_V2}.Compose([{_V2}.CenterCrop(2)])({_SMALL})"],
    "transforms.v2.Normalize": [
        f"{_V2}.Normalize(mean=[0.5] * 3, std=[0.2] * 3, inplace=False)({_SMALL})"
    ],
    "transforms.v2.ToDtype": [f"{_V2}.ToDtype(dtype=t.uint8, scale=True)({_SMALL})"],
    "transforms.v2.ToImage": [f"{_V2}.ToImage()({_PIL}).as_subclass(t.Tensor)"],
    "transforms.v2.Resize": [f"{_V2}.Resize(2)({_SMALL})"],
    "transforms.v2.RandomCrop": [f"{_V2}.RandomCrop(2)({_SMALL})"],
    "transforms.v2.RandomResizedCrop": [f"{_V2}.RandomResizedCrop(2, antialias=True)({_SMALL})"],
    "transforms.v2.RandomHorizontalFlip": [f"{_V2}.RandomHorizontalFlip(p=1.0)({_SMALL})"],
    "transforms.v2.RandomVerticalFlip": [f"{_V2}.RandomVerticalFlip(p=1.0)({_SMALL})"],
    "transforms.v2.RandomRotation": [f"{_V2}.RandomRotation(30)({_SMALL})"],
    "transforms.v2.GaussianBlur": [f"{_V2}.GaussianBlur(3)({_SMALL})"],
    "transforms.v2.GaussianNoise": [f"{_V2}.GaussianNoise(mean=0.1, sigma=0.2)({_SMALL})"],
    "transforms.v2.ColorJitter": [
        f"{_V2}.ColorJitter(brightness=0.4, contrast=0.4, saturation=0.4, hue=0.1)({_SMALL})"
    ],
    # --- data sets
    "datasets.MNIST": _mnist("MNIST"),
    "datasets.FashionMNIST": _mnist("FashionMNIST", ", target_transform=lambda y: y + 1"),
    "datasets.KMNIST": _mnist("KMNIST"),
    **{
        f"datasets.MNIST.{name}": [f"{_MNIST_OBJECT}.{name}"]
        for name in (
            *("train_data", "train_labels", "test_data", "test_labels", "targets", "data"),
            *("classes",),
        )
    },
    "datasets.MNIST.class_to_idx": [f"list({_MNIST_OBJECT}.class_to_idx)"],
    "datasets.CIFAR10": _cifar("CIFAR10"),
    "datasets.CIFAR100": _cifar("CIFAR100"),
    "datasets.CIFAR10.targets": [f"{_CIFAR_OBJECT}.targets"],
    "datasets.CIFAR10.classes": [f"{_CIFAR_OBJECT}.classes"],
    "datasets.CIFAR10.data": [f"{_CIFAR_OBJECT}.data"],
    "datasets.ImageFolder": [
        (
            f"tv.datasets.ImageFolder(root={_HERE}.images(), transform={_TO_TENSOR},"
            " target_transform=lambda y: y + 1, loader=tv.datasets.folder.default_loader)[1]"
        )
    ],
    "datasets.ImageFolder.imgs": [f"[label for _, label in {_IMAGE_FOLDER}.imgs]"],
    "datasets.DatasetFolder.classes": [f"{_IMAGE_FOLDER}.classes"],
    "datasets.DatasetFolder.class_to_idx": [f"list({_IMAGE_FOLDER}.class_to_idx)"],
    "datasets.DatasetFolder.samples": [f"len({_IMAGE_FOLDER}.samples)"],
    "datasets.VisionDataset.transform": [f"{_IMAGE_FOLDER}.transform"],
    "datasets.VisionDataset.transforms": [f"{_IMAGE_FOLDER}.transforms"],
    "datasets.VisionDataset": ["tv.datasets.VisionDataset('.').root"],
    "datasets.FakeData": [
        (
            "tv.datasets.FakeData(size=3, image_size=(3, 4, 4), num_classes=5,"
            f" transform={_TO_TENSOR})[2]"
        )
    ],
    "datasets.folder.default_loader": [f"tv.datasets.folder.default_loader({_HERE}.file()).size"],
    # --- pictures
    "utils.make_grid": [
        (
            "tv.utils.make_grid(tensor=image.repeat(5, 1, 1, 1), nrow=2, padding=1, normalize=True,"
            " value_range=(0, 40), scale_each=True, pad_value=0.5)"
        )
    ],
    "utils.save_image": [
        (
            f"(lambda f: (tv.utils.save_image({_SMALL}, f, nrow=4, padding=1, normalize=True),"
            f" tv.datasets.folder.default_loader(f).size)[-1])(str({_FOLDER}) + '/a.png')"
        )
    ],
    # --- boxes
    "ops.nms": ["tv.ops.nms(t.tensor([[0.0, 1, 3, 5], [0, 1, 3, 6]]), t.tensor([0.5, 0.6]), 0.3)"],
    "ops.box_area": ["tv.ops.box_area(t.tensor([[0.0, 1, 3, 5]]))"],
    "ops.box_iou": ["tv.ops.box_iou(t.tensor([[0.0, 1, 3, 5]]), t.tensor([[1.0, 1, 4, 6]]))"],
    "ops.MultiScaleRoIAlign": [f"repr({_POOLER})"],
    "ops.MultiScaleRoIAlign.output_size": [f"{_POOLER}.output_size"],
    "ops.FrozenBatchNorm2d": ["tv.ops.FrozenBatchNorm2d(3)(image)"],
    "ops.masks_to_boxes": ["tv.ops.masks_to_boxes(m[None])"],
    # --- networks
    "models.resnet18": [
        *_model("resnet18", "pretrained=False", "weights=None, num_classes=5"),
        _logits("tv.models.resnet18(num_classes=5)"),
    ],
    "models.resnet34": _model("resnet34", "pretrained=False", "weights=None, num_classes=5"),
    "models.resnet50": _model("resnet50", "pretrained=False", "weights=None, num_classes=5"),
    "models.resnet152": _model("resnet152", "pretrained=False"),
    "models.wide_resnet50_2": _model("wide_resnet50_2", "num_classes=5"),
    "models.vgg16": _model(
        "vgg16", "pretrained=False, num_classes=5", "weights=None, num_classes=5"
    ),
    "models.vgg19": _model("vgg19", "pretrained=False, progress=False, num_classes=5"),
    "models.alexnet": _model("alexnet", "pretrained=False, num_classes=5"),
    "models.efficientnet_b0": _model("efficientnet_b0", "weights=None", "pretrained=False"),
    "models.efficientnet_b2": _model("efficientnet_b2", "weights=None", "pretrained=False"),
    "models.vit_b_16": _model("vit_b_16", "weights=None, num_classes=5"),
    "models.mobilenet_v3_large": _model("mobilenet_v3_large", "pretrained=False"),
    "models.densenet121": _model("densenet121", "pretrained=False"),
    "models.inception_v3": _model("inception_v3", "pretrained=False, aux_logits=False"),
    "models.googlenet": _model("googlenet", "weights=None"),
    "models.squeezenet1_1": _model("squeezenet1_1", "pretrained=False"),
    **{
        f"models.{name}_Weights.DEFAULT": [f"tv.models.{name}_Weights.DEFAULT.url"]
        for name in ("EfficientNet_B0", "EfficientNet_B2", "ViT_B_16", "Inception_V3", "ResNet50")
    },
    "models.get_model": ["tv.models.get_model('resnet18', weights=None).fc.out_features"],
    "models.ResNet50_Weights.IMAGENET1K_V2": ["tv.models.ResNet50_Weights.IMAGENET1K_V2.url"],
    "models.VGG16_Weights.IMAGENET1K_V1": ["tv.models.VGG16_Weights.IMAGENET1K_V1.name"],
}
