"""Small data sets in the layouts in which the large ones are published."""

from __future__ import annotations

import bz2
import csv
import io
import json
import tarfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

LAYOUTS: dict[str, Callable[[Path], None]] = {}


def layout(make: Callable[[Path], None]) -> Callable[[Path], None]:
    """Enter a function that writes the files of a data set."""
    LAYOUTS[make.__name__] = make
    return make


def image(path: Path, seed: int = 0, mode: str = "RGB", size: tuple[int, int] = (8, 6)) -> None:
    """Write an image of noise."""
    path.parent.mkdir(parents=True, exist_ok=True)
    shape = (size[1], size[0], *([3] if mode == "RGB" else []))
    pixels = np.random.default_rng(seed + len(path.name)).integers(0, 256, shape, dtype=np.uint8)
    picture = Image.fromarray(pixels)
    (picture.convert(mode) if mode != picture.mode else picture).save(path)


def text(path: Path, lines: Iterable[str]) -> None:
    """Write lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{line}\n" for line in lines))


def document(path: Path, content: Any) -> None:
    """Write JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content))


def matlab(path: Path, **variables: Any) -> None:
    """Write a file of MATLAB."""
    from scipy.io import savemat

    path.parent.mkdir(parents=True, exist_ok=True)
    savemat(path, variables)


@layout
def food101(root: Path) -> None:
    dishes = {"apple_pie": ["apple_pie/1", "apple_pie/22"], "ramen": ["ramen/3"]}
    for split in ("train", "test"):
        document(root / "food-101" / "meta" / f"{split}.json", dishes)
    for names in dishes.values():
        for name in names:
            image(root / "food-101" / "images" / f"{name}.jpg")


@layout
def flowers102(root: Path) -> None:
    folder = root / "flowers-102"
    for number in range(1, 7):
        image(folder / "jpg" / f"image_{number:05d}.jpg", number)
    matlab(folder / "imagelabels.mat", labels=np.array([[1, 5, 102, 7, 7, 1]]))
    matlab(folder / "setid.mat", trnid=[[1, 3]], valid=[[2, 6]], tstid=[[5, 4]])


@layout
def dtd(root: Path) -> None:
    for split in ("train", "val", "test"):
        for part in (1, 2):
            names = [f"dotted/{split}_{part}.jpg", f"banded/{split}_{part}.jpg"]
            text(root / "dtd" / "dtd" / "labels" / f"{split}{part}.txt", names)
            for name in names:
                image(root / "dtd" / "dtd" / "images" / name)


@layout
def fgvc_aircraft(root: Path) -> None:
    folder = root / "fgvc-aircraft-2013b" / "data"
    names = {
        "variant": ("variants", ["737-200", "A340 300"]),
        "family": ("families", ["Boeing 737", "A340"]),
        "manufacturer": ("manufacturers", ["Boeing", "Airbus"]),
    }
    for level, (listed, classes) in names.items():
        text(folder / f"{listed}.txt", classes)
        for split in ("train", "val", "trainval", "test"):
            rows = [f"000001{number} {classes[number % 2]}" for number in range(3)]
            text(folder / f"images_{level}_{split}.txt", rows)
    for number in range(3):
        image(folder / "images" / f"000001{number}.jpg", number)


@layout
def rendered_sst2(root: Path) -> None:
    for split in ("train", "valid", "test"):
        for kind in ("negative", "positive"):
            image(root / "rendered-sst2" / split / kind / f"{split}.png", len(kind + split))


@layout
def clevr(root: Path) -> None:
    folder = root / "clevr" / "CLEVR_v1.0"
    for split in ("train", "val", "test"):
        names = [f"CLEVR_{split}_00000{number}.png" for number in (2, 0, 1)]
        for name in names:
            image(folder / "images" / split / name)
        if split != "test":
            scenes = [
                {"image_filename": name, "objects": [{}] * number}
                for number, name in enumerate(names, 3)
            ]
            document(folder / "scenes" / f"CLEVR_{split}_scenes.json", {"scenes": scenes})


@layout
def country211(root: Path) -> None:
    for split in ("train", "valid", "test"):
        for country in ("AD", "ZW"):
            image(root / "country211" / split / country / "1.jpg", len(split + country))


@layout
def eurosat(root: Path) -> None:
    for kind in ("Forest", "River"):
        for number in (1, 2):
            image(root / "eurosat" / "2750" / kind / f"{kind}_{number}.jpg", number)


@layout
def gtsrb(root: Path) -> None:
    folder = root / "gtsrb"
    for kind in ("00000", "00001"):
        image(folder / "GTSRB" / "Training" / kind / "00000_00000.ppm", int(kind))
        (folder / "GTSRB" / "Training" / kind / f"GT-{kind}.csv").write_text("")
    for number in (1, 0):
        image(folder / "GTSRB" / "Final_Test" / "Images" / f"{number:05d}.ppm", number)
    text(
        folder / "GT-final_test.csv", ["Filename;Width;ClassId", "00000.ppm;8;16", "00001.ppm;8;1"]
    )


@layout
def stanford_cars(root: Path) -> None:
    folder = root / "stanford_cars"
    kind = np.dtype([("bbox_x1", "O"), ("class", "O"), ("fname", "O")])
    rows = np.array([[(1, 2, "00001.jpg"), (1, 1, "00002.jpg")]], dtype=kind)
    matlab(folder / "devkit" / "cars_train_annos.mat", annotations=rows)
    matlab(folder / "cars_test_annos_withlabels.mat", annotations=rows[:, ::-1])
    names = np.empty((1, 2), dtype=object)
    names[0, :] = ["AM General Hummer SUV 2000", "Acura RL Sedan 2012"]
    matlab(folder / "devkit" / "cars_meta.mat", class_names=names)
    for split in ("train", "test"):
        for number in (1, 2):
            image(folder / f"cars_{split}" / f"0000{number}.jpg", number)


@layout
def sun397(root: Path) -> None:
    folder = root / "SUN397"
    text(folder / "ClassName.txt", ["/a/abbey", "/a/apartment_building/outdoor"])
    image(folder / "a" / "abbey" / "sun_a.jpg")
    image(folder / "a" / "apartment_building" / "outdoor" / "sun_b.jpg")


@layout
def imagenette(root: Path) -> None:
    for suffix in ("", "-320", "-160"):
        for split in ("train", "val"):
            for wnid in ("n03445777", "n01440764"):
                folder = root / f"imagenette2{suffix}" / split / wnid
                image(folder / "a.jpg")
                (folder / "a.jpg").rename(folder / "a.JPEG")


@layout
def oxford_iiit_pet(root: Path) -> None:
    folder = root / "oxford-iiit-pet"
    rows = ["Abyssinian_100 1 1 1", "great_pyrenees_7 2 2 1", "Abyssinian_101 1 1 1"]
    for split in ("trainval", "test"):
        text(folder / "annotations" / f"{split}.txt", rows)
    for row in rows:
        name = row.split()[0]
        image(folder / "images" / f"{name}.jpg")
        image(folder / "annotations" / "trimaps" / f"{name}.png", mode="L")


@layout
def caltech101(root: Path) -> None:
    folder = root / "caltech101"
    for name, outlines, count in (
        ("BACKGROUND_Google", "", 1),
        ("Faces", "Faces_2", 2),
        ("ant", "ant", 1),
    ):
        for number in range(1, count + 1):
            path = folder / "101_ObjectCategories" / name / f"image_{number:04d}.jpg"
            image(path, number, "L" if name == "ant" else "RGB")
            if outlines:
                points = np.arange(6.0).reshape(2, 3) + number
                file = folder / "Annotations" / outlines / f"annotation_{number:04d}.mat"
                matlab(file, obj_contour=points)


@layout
def caltech256(root: Path) -> None:
    folder = root / "caltech256" / "256_ObjectCategories"
    for number, name in enumerate(("001.ak47", "002.american-flag"), 1):
        for each in range(1, number + 2):
            image(folder / name / f"{number:03d}_{each:04d}.jpg", each)


@layout
def celeba(root: Path) -> None:
    folder = root / "celeba"
    names = [f"{number:06d}.jpg" for number in range(1, 6)]
    for number, name in enumerate(names):
        image(folder / "img_align_celeba" / name, number)
    parts = ("0", "1", "2", "0", "2")
    tables: dict[str, tuple[list[str], Callable[[int], str]]] = {
        "list_eval_partition.txt": ([], lambda at: parts[at]),
        "identity_CelebA.txt": ([], lambda at: str(2880 + at)),
        "list_bbox_celeba.txt": (
            ["5", "image_id x_1 y_1 width height"],
            lambda at: f"   {at} 2  3 4",
        ),
        "list_landmarks_align_celeba.txt": (
            ["5", "lefteye_x lefteye_y"],
            lambda at: f"{at}  10",
        ),
        "list_attr_celeba.txt": (
            ["5", "5_o_Clock_Shadow Bald Young "],
            lambda at: f" {(-1) ** at}  1 -1",
        ),
    }
    for file, (header, row) in tables.items():
        rows = [f"{name} {row(number)}" for number, name in enumerate(names)]
        text(folder / file, [*header, *rows])


_XML = """<annotation>
  <folder>VOC2012</folder><filename>{name}.jpg</filename><empty/>
  <size><width>8</width><height>6</height></size>
  {objects}
</annotation>"""
_OBJECT = """<object><name>{name}</name><bndbox><xmin>1</xmin></bndbox>
  <part><name>head</name></part><part><name>foot</name></part></object>"""


@layout
def voc(root: Path) -> None:
    for place in ("VOCdevkit/VOC2012", "VOCdevkit/VOC2007", "TrainVal/VOCdevkit/VOC2011"):
        folder = root / place
        for number, objects in (("2007_000027", 1), ("2007_000032", 2), ("2007_000033", 0)):
            image(folder / "JPEGImages" / f"{number}.jpg", objects)
            image(folder / "SegmentationClass" / f"{number}.png", objects, "P")
            found = "".join(_OBJECT.format(name=f"cat{each}") for each in range(objects))
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
def usps(root: Path) -> None:
    root.mkdir(parents=True, exist_ok=True)
    values = np.linspace(-1, 1, 256)
    for name, labels in (("usps.bz2", (7, 10)), ("usps.t.bz2", (1,))):
        rows = (
            f"{label} " + " ".join(f"{at}:{value:.4f}" for at, value in enumerate(values, 1))
            for label in labels
        )
        (root / name).write_bytes(bz2.compress("".join(f"{row} \n" for row in rows).encode()))


@layout
def semeion(root: Path) -> None:
    rows = []
    for digit in (3, 0, 9):
        pixels = [f"{(at * digit) % 2}.0000" for at in range(256)]
        rows.append(" ".join([*pixels, *("1" if at == digit else "0" for at in range(10))]) + " ")
    text(root / "semeion.data", rows)


@layout
def omniglot(root: Path) -> None:
    for part in ("background", "evaluation"):
        text(root / "omniglot-py" / f"images_{part}.zip", ["the archive"])
        for alphabet in ("Greek", "Latin"):
            for letter in ("character01", "character02"):
                folder = root / "omniglot-py" / f"images_{part}" / alphabet / letter
                image(folder / "0001_01.png", len(alphabet + part), "1")


@layout
def imagenet(root: Path) -> None:
    """The three archives, of four classes of which one is no leaf."""
    root.mkdir(parents=True, exist_ok=True)
    kind = np.dtype([(name, "O") for name in ("ILSVRC2012_ID", "WNID", "words", "gloss")])
    kind = np.dtype([*kind.descr, ("num_children", "O"), ("children", "O")])
    rows = [
        (1, "n01440764", "tench, Tinca tinca", "a fish", 0, []),
        (2, "n01443537", "goldfish, Carassius auratus", "a fish", 0, []),
        (3, "n01484850", "great white shark", "a fish", 0, []),
        (1001, "n00000001", "animal", "all", 3, [1, 2, 3]),
    ]
    matlab(root / "meta.mat", synsets=np.array([[row] for row in rows], dtype=kind))
    text(root / "truth.txt", ["2", "1", "2"])
    data = "ILSVRC2012_devkit_t12/data"
    with tarfile.open(root / "ILSVRC2012_devkit_t12.tar.gz", "w:gz") as file:
        file.add(root / "meta.mat", f"{data}/meta.mat")
        file.add(root / "truth.txt", f"{data}/ILSVRC2012_validation_ground_truth.txt")
    with tarfile.open(root / "ILSVRC2012_img_train.tar", "w") as file:
        for wnid in ("n01443537", "n01440764"):
            _add(file, f"{wnid}.tar", _tar_of_images(f"{wnid}_1.JPEG", f"{wnid}_2.JPEG"))
    names = [f"ILSVRC2012_val_0000000{number}.JPEG" for number in (1, 2, 3)]
    (root / "ILSVRC2012_img_val.tar").write_bytes(_tar_of_images(*names))
    for name in ("meta.mat", "truth.txt"):
        (root / name).unlink()


def _add(file: tarfile.TarFile, name: str, data: bytes) -> None:
    info = tarfile.TarInfo(name)
    info.size = len(data)
    file.addfile(info, io.BytesIO(data))


def _tar_of_images(*names: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as file:
        for number, name in enumerate(names):
            picture = io.BytesIO()
            Image.new("RGB", (8, 6), (number * 40, 20, 90)).save(picture, "jpeg")
            _add(file, name, picture.getvalue())
    return packed.getvalue()


@layout
def places365(root: Path) -> None:
    text(root / "categories_places365.txt", ["/a/airfield 0", "/b/bar 1", "/a/apartment/outdoor 2"])
    trained = ["/a/airfield/00000001.jpg 0", "/a/apartment/outdoor/00000002.jpg 2"]
    for variant in ("standard", "challenge"):
        text(root / f"places365_train_{variant}.txt", trained)
        for size in ("256", "large"):
            for line in trained:
                image(root / f"data_{size}_{variant}{line.split()[0]}")
    text(root / "places365_val.txt", ["Places365_val_00000001.jpg 1"])
    text(root / "places365_test.txt", ["Places365_test_00000001.jpg"])
    for split in ("val", "test"):
        for size in ("256", "large"):
            image(root / f"{split}_{size}" / f"Places365_{split}_00000001.jpg")


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
                for kind in ("instanceIds", "labelIds", "color"):
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


def _faces(path: Path, columns: list[str], rows: list[dict[str, str]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with open(path, "w", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore", quoting=csv.QUOTE_MINIMAL)
        writer.writeheader()
        writer.writerows(rows)


def faces() -> list[dict[str, str]]:
    """Rows of FER2013, of each use one."""
    pixels = " ".join(str(at % 256) for at in range(48 * 48))
    usages = ("Training", "PublicTest", "PrivateTest")
    rows = [
        {"emotion": str(number), "Usage": usage, "pixels": pixels}
        for number, usage in enumerate(usages, 2)
    ]
    return [{**row, " Usage": row["Usage"], " pixels": row["pixels"]} for row in rows]


@layout
def fer2013(root: Path) -> None:
    folder = root / "fer2013"
    _faces(folder / "train.csv", ["emotion", "pixels"], faces()[:1])
    _faces(folder / "test.csv", ["pixels"], faces()[1:])


@layout
def fer2013_whole(root: Path) -> None:
    _faces(root / "fer2013" / "fer2013.csv", ["emotion", "pixels", "Usage"], faces())


@layout
def fer2013_icml(root: Path) -> None:
    columns = ["emotion", " Usage", " pixels"]
    _faces(root / "fer2013" / "icml_face_data.csv", columns, faces())


@layout
def moving_mnist(root: Path) -> None:
    folder = root / "MovingMNIST"
    folder.mkdir(parents=True)
    films = np.random.default_rng(0).integers(0, 256, (20, 3, 64, 64), dtype=np.uint8)
    np.save(folder / "mnist_test_seq.npy", films)


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
def inaturalist(root: Path) -> None:
    names = [
        "00000_Animalia_Annelida_Clitellata_Haplotaxida_Lumbricidae_Lumbricus_terrestris",
        "00001_Animalia_Chordata_Aves_Piciformes_Picidae_Picus_viridis",
        "00002_Animalia_Chordata_Aves_Piciformes_Picidae_Picus_canus",
    ]
    for version in ("2021_train", "2021_train_mini", "2021_valid"):
        for number, name in enumerate(names):
            image(root / version / name / f"{number}.jpg", number)
    for version, species in (("2017", ("a", "b", "c")), ("2018", ("2", "0", "1"))):
        for group, name in zip(("Aves", "Plantae", "Aves"), species, strict=True):
            image(root / version / group / name / f"{name}.jpg", len(group))


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
