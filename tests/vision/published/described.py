"""Images with boxes, masks, captions, and videos."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from tests.vision.published.files import document, image, layout, matlab, text

_XML = """<annotation>
  <folder>VOC2012</folder><filename>{name}.jpg</filename><empty/>
  <size><width>8</width><height>6</height></size>
  {objects}
</annotation>"""
_OBJECT = """<object><name>{name}</name>
  <bndbox><xmin>{at}</xmin><ymin>1</ymin><xmax>6</xmax><ymax>5</ymax></bndbox>
  <part><name>head</name></part><part><name>foot</name></part></object>"""


@layout
def voc(root: Path) -> None:
    for place in ("VOCdevkit/VOC2012", "VOCdevkit/VOC2007", "TrainVal/VOCdevkit/VOC2011"):
        folder = root / place
        for number, objects in (("2007_000027", 1), ("2007_000032", 2), ("2007_000033", 0)):
            image(folder / "JPEGImages" / f"{number}.jpg", objects)
            image(folder / "SegmentationClass" / f"{number}.png", objects, "P")
            names = ("cat", "tvmonitor")[:objects]
            found = "".join(_OBJECT.format(name=each, at=len(each)) for each in names)
            lines = _XML.format(name=number, objects=found)
            text(folder / "Annotations" / f"{number}.xml", [lines])
        for kind in ("Main", "Segmentation"):
            for split in ("train", "val", "trainval", "test"):
                names = ["2007_000032", "2007_000027", "2007_000033"]
                text(folder / "ImageSets" / kind / f"{split}.txt", names)


@layout
def coco(root: Path) -> None:
    images = [{"id": number, "file_name": f"{number}.jpg"} for number in (9, 3, 5)]
    for each in images:
        each.update(width=8, height=6)
        image(root / "images" / f"{each['file_name']}", int(f"{each['id']}"))
    rows = [
        {"id": 7, "image_id": 3, "category_id": 2, "caption": "a cat", "bbox": [1, 1, 4, 3]},
        {"id": 8, "image_id": 9, "category_id": 1, "caption": "a dog", "bbox": [0, 0, 2, 2]},
        {"id": 6, "image_id": 3, "category_id": 1, "caption": "a hat", "bbox": [2, 2, 5, 3]},
    ]
    for row in rows:
        x, y, w, h = row["bbox"]  # type: ignore[misc]
        row.update(area=w * h, iscrowd=0)
        row["segmentation"] = [[x, y, x + w, y, x + w, y + h, x + 0.5, y + h]]
    categories = [{"id": 1, "name": "dog", "supercategory": "x"}, {"id": 2, "name": "cat"}]
    content = {"images": images, "annotations": rows, "categories": categories}
    document(root / "annotations.json", content)


@layout
def kitti(root: Path) -> None:
    folder = root / "Kitti" / "raw"
    for number in ("000000", "000001"):
        for part in ("training", "testing"):
            image(folder / part / "image_2" / f"{number}.png", int(number))
        rows = [f"Car 0.5 {number[-1]} -1.5 1 2 3 4 1.5 1.6 3.7 -0.7 1.2 9.8 -1.57"]
        rows += ["DontCare -1 -1 -10 5 6 7 8 -1 -1 -1 -1000 -1000 -1000 -10"]
        text(folder / "training" / "label_2" / f"{number}.txt", rows)


@layout
def widerface(root: Path) -> None:
    folder = root / "widerface"
    names = ["0--Parade/0_Parade_1.jpg", "0--Parade/0_Parade_22.jpg"]
    for split in ("train", "val", "test"):
        for name in names:
            image(folder / f"WIDER_{split}" / "images" / name)
        if split != "test":
            rows = [names[0], "2", "1 2 3 4 0 1 0 2 0 0 ", "5 6 7 8 2 0 1 0 0 1 "]
            rows += [names[1], "0", "0 0 0 0 0 0 0 0 0 0 "]
            text(folder / "wider_face_split" / f"wider_face_{split}_bbx_gt.txt", rows)
    text(folder / "wider_face_split" / "wider_face_test_filelist.txt", names)


@layout
def cityscapes(root: Path) -> None:
    splits = {"gtFine": ("train", "val", "test"), "gtCoarse": ("train", "train_extra", "val")}
    for mode, parts in splits.items():
        for split in parts:
            for city, number in (("aachen", "000000"), ("bochum", "000001")):
                start = f"{city}_{number}_000019"
                image(root / "leftImg8bit" / split / city / f"{start}_leftImg8bit.png", len(city))
                things = np.array([[7, 26001], [26002, 7]], np.uint16).repeat(3, 0).repeat(4, 1)
                file = root / mode / split / city / f"{start}_{mode}_instanceIds.png"
                file.parent.mkdir(parents=True, exist_ok=True)
                Image.fromarray(things).save(file)
                for kind in ("labelIds", "color"):
                    file = root / mode / split / city / f"{start}_{mode}_{kind}.png"
                    image(file, len(kind), "RGB" if kind == "color" else "L")
                file = root / mode / split / city / f"{start}_{mode}_polygons.json"
                document(file, {"imgHeight": 6, "objects": [{"label": city}]})


@layout
def sbd(root: Path) -> None:
    from scipy.sparse import csc_matrix

    for split in ("train", "val", "train_noval"):
        text(root / f"{split}.txt", ["2008_000002", "2008_000003"])
    (root / "inst").mkdir()
    for name in ("2008_000002", "2008_000003"):
        image(root / "img" / f"{name}.jpg")
        edges = np.empty((20, 1), dtype=object)
        for number in range(20):
            edges[number, 0] = csc_matrix(np.eye(6, 8, number % 7, dtype=np.uint8))
        kind = np.dtype([("Boundaries", "O"), ("Segmentation", "O"), ("CategoriesPresent", "O")])
        classes = np.empty((1, 1), dtype=kind)
        classes[0, 0] = (edges, np.arange(48, dtype=np.uint8).reshape(6, 8), 1)
        matlab(root / "cls" / f"{name}.mat", GTcls=classes)


@layout
def lfw(root: Path) -> None:
    folder = root / "lfw-py"
    people = {"Aaron_Eckhart": 1, "Abba_Eban": 2, "Zico": 3}
    text(folder / "lfw-names.txt", [f"{name}\t{count}" for name, count in people.items()])
    for images in ("lfw", "lfw_funneled", "lfw-deepfunneled"):
        text(folder / f"{images.replace('_', '-')}.tgz", ["the archive"])
        for name, count in people.items():
            for number in range(1, count + 1):
                image(folder / images / name / f"{name}_{number:04d}.jpg", number)
    rows = [f"{name}\t{count}" for name, count in people.items()]
    same, other = "Zico\t1\t3", "Abba_Eban\t2\tZico\t1"
    for split in ("Train", "Test"):
        text(folder / f"peopleDev{split}.txt", ["3", *rows])
        text(folder / f"pairsDev{split}.txt", ["1", same, other])
    text(folder / "people.txt", ["2", "2", *rows[:2], "1", rows[2]])
    text(folder / "pairs.txt", ["2\t1", same, other, "Abba_Eban\t1\t2", other])


@layout
def moving_mnist(root: Path) -> None:
    folder = root / "MovingMNIST"
    folder.mkdir(parents=True)
    videos = np.random.default_rng(0).integers(0, 256, (20, 3, 64, 64), dtype=np.uint8)
    np.save(folder / "mnist_test_seq.npy", videos)


@layout
def phototour(root: Path) -> None:
    folder = root / "liberty"
    for number in range(2):
        image(folder / f"patches000{number}.bmp", number, "L", (1024, 1024))
    text(folder / "info.txt", [f"{number // 2} 0" for number in range(300)])
    text(folder / "m50_100000_100000_0.txt", ["7 1 0 299 1 0 0", "0 4 0 3 5 0 0"])


@layout
def flickr8k(root: Path) -> None:
    for number in ("17273391", "55135290"):
        image(root / "images" / f"{number}_abc.jpg", int(number))
    row = (
        "<tr><td><a href='http://x/{0}'>http://www.flickr.com/photos/y/{0}/</a></td>"
        "<td><ul><li>One dog .</li><li>Two dogs , of {0} .</li></ul></td></tr>"
    )
    lost = "<tr><td>Image Not Found</td><td><ul><li>Lost</li></ul></td></tr>"
    body = row.format("55135290") + lost + row.format("17273391")
    text(root / "page.html", [f"<html><table>{body}</table><ul><li>after</li></ul></html>"])


@layout
def flickr30k(root: Path) -> None:
    rows = []
    for name in ("1000092795.jpg", "10002456.jpg"):
        image(root / "images" / name, len(name))
        rows += [f"{name}#{number}\tCaption {number} of {name}" for number in range(2)]
    text(root / "captions.token", rows[::-1])


@layout
def sbu(root: Path) -> None:
    names = ["1_a.jpg", "2_b.jpg", "3_c.jpg"]
    folder = root / "dataset"
    stem = "SBU_captioned_photo_dataset"
    text(folder / f"{stem}_urls.txt", [f"http://static.flickr.com/1/{name}" for name in names])
    text(folder / f"{stem}_captions.txt", [f"Caption of {name}" for name in names])
    for name in names[::2]:
        image(folder / name)
    (root / "SBUCaptionedPhotoDataset.tar.gz").write_bytes(b"packed")
