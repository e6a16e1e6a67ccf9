"""Images of classes."""

from __future__ import annotations

import bz2
import csv
import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
from PIL import Image

from tests.vision.published.files import document, image, layout, matlab, text


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
