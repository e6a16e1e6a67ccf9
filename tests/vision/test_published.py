"""Published data sets, from small ones in their layouts."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau.utils.data import DataLoader
from flambeau.vision import datasets, transforms
from tests.vision.published import LAYOUTS


@pytest.fixture(autouse=True)
def without_sums() -> Iterator[None]:
    """The files are not the published ones."""
    with mock.patch("flambeau.vision.datasets.utils.check_md5", return_value=True):
        yield


# A layout, a call and the targets it gives.
CLASSIFIED: list[tuple[str, str, list[Any]]] = [
    ("food101", "Food101(root, 'test')", [0, 0, 1]),
    ("flowers102", "Flowers102(root)", [0, 101]),
    ("flowers102", "Flowers102(root, 'val')", [4, 0]),
    ("flowers102", "Flowers102(root, 'test')", [6, 6]),
    ("dtd", "DTD(root, 'val', partition=2)", [1, 0]),
    ("fgvc_aircraft", "FGVCAircraft(root)", [0, 1, 0]),
    ("fgvc_aircraft", "FGVCAircraft(root, 'test', 'manufacturer')", [0, 1, 0]),
    ("rendered_sst2", "RenderedSST2(root, 'val')", [0, 1]),
    ("clevr", "CLEVRClassification(root)", [4, 5, 3]),
    ("clevr", "CLEVRClassification(root, 'test')", [None] * 3),
    ("country211", "Country211(root, 'valid')", [0, 1]),
    ("eurosat", "EuroSAT(root)", [0, 0, 1, 1]),
    ("gtsrb", "GTSRB(root)", [0, 1]),
    ("gtsrb", "GTSRB(root, 'test')", [16, 1]),
    ("stanford_cars", "StanfordCars(root)", [1, 0]),
    ("stanford_cars", "StanfordCars(root, 'test')", [0, 1]),
    ("sun397", "SUN397(root)", [0, 1]),
    ("imagenette", "Imagenette(root, 'val', '160px')", [0, 1]),
    ("oxford_iiit_pet", "OxfordIIITPet(root)", [0, 1, 0]),
    ("oxford_iiit_pet", "OxfordIIITPet(root, target_types='binary-category')", [0, 1, 0]),
    ("caltech101", "Caltech101(root)", [0, 0, 1]),
    ("caltech256", "Caltech256(root)", [0, 0, 1, 1, 1]),
    ("celeba", "CelebA(root, 'all', 'identity')", [2880, 2881, 2882, 2883, 2884]),
    ("usps", "USPS(root)", [6, 9]),
    ("usps", "USPS(root, train=False)", [0]),
    ("semeion", "SEMEION(root, download=False)", [3, 0, 9]),
    ("places365", "Places365(root, 'train-challenge', small=True)", [0, 2]),
    ("places365", "Places365(root, 'val')", [1]),
    ("places365", "Places365(root, 'test')", [None]),
    ("lfw", "LFWPeople(root)", [0, 1, 1, 2, 2, 2]),
    ("fer2013", "FER2013(root)", [2]),
    ("fer2013", "FER2013(root, 'test')", [None, None]),
    ("fer2013_whole", "FER2013(root, 'test')", [3, 4]),
    ("fer2013_icml", "FER2013(root, 'test')", [3, 4]),
    ("inaturalist", "INaturalist(root)", [0, 1, 2]),
    ("inaturalist", "INaturalist(root, '2021_valid', 'genus')", [0, 1, 1]),
    ("inaturalist", "INaturalist(root, '2017', 'super')", [0, 0, 1]),
    ("inaturalist", "INaturalist(root, '2018')", [0, 1, 2]),
    ("sbu", "SBU(root, download=False)", ["Caption of 1_a.jpg", "Caption of 3_c.jpg"]),
]


@pytest.mark.parametrize(("layout", "call", "targets"), CLASSIFIED)
def test_classified(layout: str, call: str, targets: list[Any], tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path)
    data = eval(f"datasets.{call}", {"datasets": datasets, "root": tmp_path})
    assert [int(t) if isinstance(t, fb.Tensor) else t for _, t in data] == targets
    assert len(data) == len(targets)
    assert isinstance(data[0][0], Image.Image)
    assert f"Number of datapoints: {len(targets)}" in repr(data)


# Those above whose folder can be empty, and what their error names.
@pytest.mark.parametrize("call", sorted({call.split("(")[0] for _, call, _ in CLASSIFIED}))
def test_missing_files(call: str, tmp_path: Path) -> None:
    arguments = {"SBU": {"download": False}, "SEMEION": {"download": False}}.get(call, {})
    with pytest.raises(RuntimeError, match=f"{tmp_path}.* is missing"):
        getattr(datasets, call)(tmp_path, **arguments)
    assert os.listdir(tmp_path) == []


def test_classes(tmp_path: Path) -> None:
    for layout in ("flowers102", "oxford_iiit_pet", "imagenette", "fgvc_aircraft", "sun397"):
        LAYOUTS[layout](tmp_path)
    flowers = datasets.Flowers102(tmp_path)
    assert len(set(flowers.classes)) == 102
    assert flowers.class_to_idx["blackberry lily"] == 101
    assert datasets.OxfordIIITPet(tmp_path).classes == ["Abyssinian", "Great Pyrenees"]
    assert datasets.Imagenette(tmp_path).class_to_idx["Tinca tinca"] == 0
    assert datasets.FGVCAircraft(tmp_path, annotation_level="family").classes[0] == "Boeing 737"
    assert datasets.SUN397(tmp_path).classes == ["abbey", "apartment_building/outdoor"]


def test_several_targets(tmp_path: Path) -> None:
    LAYOUTS["oxford_iiit_pet"](tmp_path)
    kinds = ["segmentation", "category"]
    both = datasets.OxfordIIITPet(tmp_path, target_types=kinds)[1][1]
    assert (both[0].mode, both[1]) == ("L", 1)
    assert datasets.OxfordIIITPet(tmp_path, target_types=[])[0][1] is None
    LAYOUTS["caltech101"](tmp_path)
    image, (outline, number) = datasets.Caltech101(tmp_path, ["annotation", "category"])[1]
    assert (outline.tolist(), number) == ([[2.0, 3.0, 4.0], [5.0, 6.0, 7.0]], 0)
    assert image.mode == "RGB"
    LAYOUTS["celeba"](tmp_path)
    _, (attributes, box) = datasets.CelebA(tmp_path, "test", ["attr", "bbox"])[0]
    assert (attributes.tolist(), box.tolist()) == ([1, 1, 0], [2, 2, 3, 4])
    with pytest.raises(RuntimeError, match="target_type is empty"):
        datasets.CelebA(tmp_path, target_type=[], target_transform=int)


def test_transforms_and_loading(tmp_path: Path) -> None:
    LAYOUTS["food101"](tmp_path)
    data = datasets.Food101(
        tmp_path, "test", transforms.ToTensor(), target_transform=lambda label: label + 10
    )
    images, labels = next(iter(DataLoader(data, batch_size=3)))
    assert images.shape == (3, 3, 6, 8)
    assert labels.tolist() == [10, 10, 11]
    small = datasets.Food101(tmp_path, loader=lambda path: os.path.basename(path))
    assert [image for image, _ in small] == ["1.jpg", "22.jpg", "3.jpg"]


def test_voc(tmp_path: Path) -> None:
    LAYOUTS["voc"](tmp_path)
    image, mask = datasets.VOCSegmentation(tmp_path, image_set="val")[0]
    assert (image.mode, mask.mode) == ("RGB", "P")
    data = datasets.VOCDetection(tmp_path, "2007", "test")
    described = [data[number][1]["annotation"] for number in range(3)]
    assert [len(each["object"]) for each in described] == [2, 1, 0]
    assert described[1]["object"][0]["part"] == [{"name": "head"}, {"name": "foot"}]
    assert described[0]["size"] == {"width": "8", "height": "6"}
    together = datasets.VOCSegmentation(tmp_path, transforms=lambda image, mask: (mask, image))
    assert together[0][0].mode == "P"
    with pytest.raises(ValueError, match="'test' for argument image_set"):
        datasets.VOCDetection(tmp_path, "2012", "test")
    Path(data.annotations[0]).write_text("<annotation>")
    with pytest.raises(RuntimeError, match=r"2007_000032\.xml: damaged"):
        data[0]


def test_coco(tmp_path: Path) -> None:
    LAYOUTS["coco"](tmp_path)
    paths = tmp_path / "images", tmp_path / "annotations.json"
    data = datasets.CocoDetection(*paths)
    assert data.ids == [3, 5, 9]
    assert [[each["id"] for each in data[number][1]] for number in range(3)] == [[7, 6], [], [8]]
    assert datasets.CocoCaptions(*paths)[0][1] == ["a cat", "a hat"]
    assert data.coco.getCatIds(catNms=["dog"]) == [1]
    assert data.coco.getImgIds(catIds=[1, 2]) == [3]
    assert data.coco.getAnnIds([3, 9], catIds=1) == [6, 8]
    assert data.coco.getAnnIds(areaRng=[5, 13]) == [7]
    assert data.coco.loadCats(2)[0]["name"] == "cat"
    with pytest.raises(ValueError, match="of type integer"):
        data["0"]
    for content, message in (
        ("{", "damaged"),
        ("[]", "COCO's form"),
        ('{"images": [1]}', "damaged"),
    ):
        paths[1].write_text(content)
        with pytest.raises(RuntimeError, match=rf"annotations\.json: .*{message}"):
            datasets.CocoDetection(*paths)


# A layout, a call, a file of it, and what makes it no such file.
DAMAGES = [
    ("food101", "Food101(root)", "food-101/meta/train.json", "{"),
    ("food101", "Food101(root)", "food-101/meta/train.json", '{"ramen": 5}'),
    ("clevr", "CLEVRClassification(root)", "clevr/CLEVR_v1.0/scenes/CLEVR_train_scenes.json", "{}"),
    ("gtsrb", "GTSRB(root, 'test')", "gtsrb/GT-final_test.csv", "a;b\n1;2\n"),
    (
        "fgvc_aircraft",
        "FGVCAircraft(root)",
        "fgvc-aircraft-2013b/data/images_variant_trainval.txt",
        "x",
    ),
    ("flowers102", "Flowers102(root)", "flowers-102/setid.mat", "text"),
    ("sun397", "SUN397(root)", "SUN397/ClassName.txt", "/z/other"),
    ("places365", "Places365(root)", "categories_places365.txt", "/a/airfield zero"),
    ("oxford_iiit_pet", "OxfordIIITPet(root)", "oxford-iiit-pet/annotations/trainval.txt", "x"),
    ("lfw", "LFWPeople(root)", "lfw-py/people.txt", "1\nNobody\t1"),
    ("usps", "USPS(root)", "usps.bz2", "text"),
    ("semeion", "SEMEION(root, download=False)", "semeion.data", "1 2 3"),
    ("celeba", "CelebA(root)", "celeba/list_bbox_celeba.txt", "5\nx\na b\n"),
    ("fer2013", "FER2013(root)", "fer2013/train.csv", "emotion,pixels\n1,1 2 3\n"),
    ("widerface", "WIDERFace(root)", "widerface/wider_face_split/wider_face_train_bbx_gt.txt", "x"),
    ("moving_mnist", "MovingMNIST(root)", "MovingMNIST/mnist_test_seq.npy", "text"),
    ("flickr30k", "Flickr30k(root, str(root / 'captions.token'))", "captions.token", "no tab"),
    ("phototour", "PhotoTour(root, 'liberty')", "liberty/info.txt", "x"),
]


@pytest.mark.parametrize(("layout", "call", "file", "content"), DAMAGES)
def test_damaged_files(layout: str, call: str, file: str, content: str, tmp_path: Path) -> None:
    LAYOUTS[layout](tmp_path)
    (tmp_path / file).write_text(content)
    name = "liberty" if layout == "phototour" else Path(file).name
    with pytest.raises(RuntimeError, match=name):
        eval(f"datasets.{call}", {"datasets": datasets, "root": tmp_path, "str": str})


def test_imagenet_from_its_archives(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"ILSVRC2012_devkit_t12\.tar\.gz is not present"):
        datasets.ImageNet(tmp_path)
    LAYOUTS["imagenet"](tmp_path)
    data = datasets.ImageNet(tmp_path, "val")
    assert data.wnids == ["n01440764", "n01443537"]
    assert data.classes[1] == ("goldfish", "Carassius auratus")
    assert data.targets == [0, 1, 1]
    assert [Path(path).name[-6:-5] for path, _ in data.imgs] == ["2", "1", "3"]
    assert len(datasets.ImageNet(tmp_path, "train")) == 4
    assert sorted(name for name in os.listdir(tmp_path) if "." not in name) == ["train", "val"]


def test_an_archive_of_imagenet_that_is_damaged(tmp_path: Path) -> None:
    LAYOUTS["imagenet"](tmp_path)
    path = tmp_path / "ILSVRC2012_img_train.tar"
    path.write_bytes(path.read_bytes()[:3000])
    with pytest.raises(RuntimeError, match=r"ILSVRC2012_img_train\.tar: damaged"):
        datasets.ImageNet(tmp_path)
    assert not any("train" in name and "tar" not in name for name in os.listdir(tmp_path))


def test_detection(tmp_path: Path) -> None:
    LAYOUTS["kitti"](tmp_path)
    data = datasets.Kitti(tmp_path)
    car = next(target for path, (_, target) in zip(data.images, data, strict=True) if "1." in path)
    assert (car[0]["type"], car[0]["occluded"], car[0]["bbox"]) == ("Car", 1, [1, 2, 3, 4])
    assert car[1]["rotation_y"] == -10
    assert datasets.Kitti(tmp_path, train=False)[0][1] is None
    Path(data.targets[0]).write_text("Car 1\n")
    with pytest.raises(RuntimeError, match=r"\.txt: not KITTI annotations"):
        data[0]
    LAYOUTS["widerface"](tmp_path)
    faces = datasets.WIDERFace(tmp_path)[0][1]
    assert faces["bbox"].tolist() == [[1, 2, 3, 4], [5, 6, 7, 8]]
    assert faces["invalid"].tolist() == [0, 1]
    assert datasets.WIDERFace(tmp_path, "test")[0][1] is None


def test_segmentation(tmp_path: Path) -> None:
    LAYOUTS["cityscapes"](tmp_path)
    kinds = ["semantic", "polygon", "color"]
    image, (classes, polygons, colors) = datasets.Cityscapes(tmp_path, "val", target_type=kinds)[0]
    assert (image.mode, classes.mode, colors.mode) == ("RGB", "L", "RGB")
    assert polygons["imgHeight"] == 6
    assert datasets.Cityscapes.classes[26].name == "car"
    with pytest.raises(ValueError, match="'train_extra' for argument split if mode is 'fine'"):
        datasets.Cityscapes(tmp_path, "train_extra")
    with pytest.raises(RuntimeError, match=r"leftImg8bit.*archive.*leftImg8bit_trainvaltest\.zip"):
        datasets.Cityscapes(tmp_path / "nowhere")
    LAYOUTS["sbd"](tmp_path)
    edges = datasets.SBDataset(tmp_path)[0][1]
    assert edges.shape == (20, 6, 8)
    assert (edges[3] == np.eye(6, 8, 3)).all()
    assert datasets.SBDataset(tmp_path, "val", "segmentation")[0][1].size == (8, 6)


def test_pairs_and_captions(tmp_path: Path) -> None:
    LAYOUTS["lfw"](tmp_path)
    pairs = datasets.LFWPairs(tmp_path)
    assert [same for _, _, same in pairs] == [1, 0, 1, 0]
    assert pairs.pair_names[1] == ("Abba_Eban", "Zico")
    with pytest.raises(ValueError, match="cannot be downloaded"):
        datasets.LFWPeople(tmp_path, download=True)
    LAYOUTS["flickr8k"](tmp_path)
    data = datasets.Flickr8k(tmp_path / "images", str(tmp_path / "page.html"))
    assert [captions for _, captions in data] == [
        ["One dog .", "Two dogs , of 17273391 ."],
        ["One dog .", "Two dogs , of 55135290 ."],
    ]
    LAYOUTS["flickr30k"](tmp_path)
    data30 = datasets.Flickr30k(tmp_path / "images", str(tmp_path / "captions.token"))
    assert data30[1][1] == ["Caption 1 of 10002456.jpg", "Caption 0 of 10002456.jpg"]


def test_films_and_patches(tmp_path: Path) -> None:
    LAYOUTS["moving_mnist"](tmp_path)
    assert datasets.MovingMNIST(tmp_path)[2].shape == (20, 1, 64, 64)
    first = datasets.MovingMNIST(tmp_path, "train", 12)
    last = datasets.MovingMNIST(tmp_path, "test", 12)
    assert (len(first), first[0].shape[0], last[0].shape[0]) == (3, 12, 8)
    with pytest.raises(ValueError, match="1 <= split_ratio <= 19"):
        datasets.MovingMNIST(tmp_path, split_ratio=20)
    LAYOUTS["phototour"](tmp_path)
    patches = datasets.PhotoTour(tmp_path, "liberty")
    assert (len(patches), patches[0].shape) == (300, (64, 64))
    left, right, same = datasets.PhotoTour(tmp_path, "liberty", train=False)[0]
    assert (left == patches[7]).all()
    assert (right == patches[299]).all()
    assert same == 1
    picture = np.asarray(Image.open(tmp_path / "liberty" / "patches0000.bmp"))
    assert (patches[17].numpy() == picture[64:128, 64:128]).all()


def test_omniglot(tmp_path: Path) -> None:
    LAYOUTS["omniglot"](tmp_path)
    data = datasets.Omniglot(tmp_path, background=False)
    assert [number for _, number in data] == [0, 1, 2, 3]
    assert data[0][0].mode == "L"


def test_packages_that_are_needed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    LAYOUTS["flowers102"](tmp_path / "flowers")
    for name in ("h5py", "lmdb", "scipy.io"):
        monkeypatch.setitem(sys.modules, name, None)
    folder = tmp_path / "pcam"
    folder.mkdir()
    for kind in "xy":
        (folder / f"camelyonpatch_level_2_split_train_{kind}.h5").write_bytes(b"")
    with pytest.raises(ImportError, match=r"train_x\.h5: pip install h5py"):
        datasets.PCAM(tmp_path)
    with pytest.raises(ImportError, match=r"bedroom_train_lmdb: pip install lmdb"):
        datasets.LSUN(tmp_path, ["bedroom_train"])
    with pytest.raises(ImportError, match=r"imagelabels\.mat: pip install scipy"):
        datasets.Flowers102(tmp_path / "flowers")


@pytest.mark.parametrize("name", ["HMDB51", "Kinetics", "UCF101"])
def test_films_are_there_by_name(name: str) -> None:
    with pytest.raises(NotImplementedError, match=f"{name}.*decoder"):
        getattr(datasets, name)("folder")
