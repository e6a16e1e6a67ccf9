"""``flambeau classify``: what it prints, the files it takes, and what it says of mistakes."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

import flambeau as fb
from flambeau import cli
from flambeau.serialization.safetensors import save_file
from flambeau.vision import io, models
from flambeau.vision.models import _recognition

MODEL = "squeezenet1_1"
NAMES = ["cat", "dog", "鸟"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two pictures, and weights of a network for three classes."""
    folder = tmp_path_factory.mktemp("classify")
    fb.manual_seed(0)
    for name, (height, width) in {"a.png": (60, 80), "b.jpg": (90, 70)}.items():
        pixels = (fb.rand(3, height, width) * 255).to(fb.uint8)
        (io.write_png if name.endswith("png") else io.write_jpeg)(pixels, str(folder / name))
    fb.save(models.get_model(MODEL, num_classes=3).state_dict(), folder / "three.pt")
    return folder


@pytest.fixture
def classify(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> Callable[..., tuple[int, str, str]]:
    monkeypatch.chdir(folder)

    def run(*arguments: str) -> tuple[int, str, str]:
        code = cli.main(["classify", *arguments])
        return code, *capsys.readouterr()

    return run


Classify = Callable[..., tuple[int, str, str]]


def expected(folder: Path, picture: str, state: Any) -> list[float]:
    """The probabilities, by hand."""
    model = models.get_model(MODEL, num_classes=3).eval()
    model.load_state_dict(state)
    prepare = models.SqueezeNet1_1_Weights.DEFAULT.transforms()
    with fb.no_grad():
        scores = model(prepare(io.read_image(str(folder / picture)))[None])
    return scores.softmax(1)[0].tolist()


def top(printed: str) -> dict[str, float]:
    rows = re.findall(r"^  (\S.*?)  [ █▏▎▍▌▋▊▉]* *([\d.]+)%$", printed, re.MULTILINE)
    return {name.strip(): float(share) for name, share in rows}


def test_one_image(classify: Classify, folder: Path) -> None:
    code, printed, errors = classify("a.png", "--model", MODEL, "--weights", "three.pt")
    assert (code, errors) == (0, "")
    right = expected(folder, "a.png", fb.load(folder / "three.pt"))
    found = top(printed)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    for number, share in enumerate(right):
        assert found[f"class {number}"] == pytest.approx(100 * share, abs=0.051)
    assert printed.startswith(
        "squeezenet1_1, 0.7 million parameters, 3 classes, weights three.pt\n"
    )
    assert re.search(r"^a\.png  80×60 pixels, \d+ ms$", printed, re.MULTILINE)
    assert "\033" not in printed


def test_json(classify: Classify, folder: Path) -> None:
    code, printed, _ = classify("a.png", "b.jpg", "none.png", "--weights", "three.pt", "--json")
    assert code == 1
    content = json.loads(printed)
    assert content["model"] == MODEL
    first, second, third = content["images"]
    assert (first["file"], first["width"], first["height"]) == ("a.png", 80, 60)
    assert third == {"file": "none.png", "error": "there is no file none.png"}
    shares = {each["index"]: each["probability"] for each in second["classes"]}
    right = expected(folder, "b.jpg", fb.load(folder / "three.pt"))
    assert [shares[number] for number in range(3)] == pytest.approx(right, abs=1e-6)


def test_many_images_have_a_line_each(classify: Classify, tmp_path: Path) -> None:
    for number in range(12):
        pixels = fb.full((3, 8, 8), 20 * number, dtype=fb.uint8)
        io.write_png(pixels, str(tmp_path / f"{number:02}.png"))
    (tmp_path / "notes.txt").write_text("no image")
    code, printed, _ = classify(str(tmp_path), "--weights", "three.pt")
    lines = printed.splitlines()
    assert code == 0
    assert len(lines) == 1 + 12 + 2
    assert re.fullmatch(rf"{re.escape(str(tmp_path))}/00\.png +[\d.]+%  class \d", lines[1])
    assert re.fullmatch(r"12 images in [\d.]+ s, \d+ ms each", lines[-1])
    assert (
        len(classify(str(tmp_path), "--weights", "three.pt", "--top", "2")[1].split("\n\n")) == 14
    )


def _wrapped(state: Any, folder: Path) -> dict[str, Path]:
    """One state dict in the ways that people save it."""
    prefixed = {f"module.{name}": value for name, value in state.items()}
    numbered = {name: number for number, name in enumerate(NAMES)}
    files = {
        "state_dict": {"state_dict": prefixed, "epoch": 3, "classes": NAMES},
        "model_state_dict": {"model_state_dict": state, "class_to_idx": numbered},
        "model": {"model": state, "arch": MODEL, "optimizer": {"lr": 1}, "class_names": NAMES},
        "compiled": {
            "net": {f"_orig_mod.{name}": value for name, value in prefixed.items()},
            "idx_to_class": {str(number): name for name, number in numbered.items()},
        },
        "other": {"my_network": dict(state), "categories": NAMES},
    }
    for name, content in files.items():
        fb.save(content, folder / f"{name}.pt")
    tensors = {name: value.contiguous() for name, value in state.items()}
    notes = {"classes": json.dumps(NAMES), "arch": MODEL}
    save_file(tensors, folder / "tensors.safetensors", notes)
    return {path.stem: path for path in folder.glob("*.[ps][ta]*")}


def test_checkpoints_in_their_wrappings(classify: Classify, folder: Path, tmp_path: Path) -> None:
    state = fb.load(folder / "three.pt")
    right = [100 * share for share in expected(folder, "a.png", state)]
    files = _wrapped(state, tmp_path)
    assert len(files) == 6
    for path in files.values():
        code, printed, errors = classify("a.png", "--weights", str(path))
        assert (code, errors) == (0, "")
        found = top(printed)
        assert [found[name] for name in NAMES] == pytest.approx(right, abs=0.051)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("list.txt", "cat\ndog\n\n鸟\n"),
        ("list.json", '["cat", "dog", "鸟"]'),
        ("numbers.json", '{"cat": 0, "鸟": 2, "dog": 1}'),
        ("names.json", '{"0": "cat", "1": "dog", "2": "鸟"}'),
    ],
)
def test_names_of_classes(classify: Classify, tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text, encoding="utf-8")
    _, printed, _ = classify("a.png", "--weights", "three.pt", "--classes", str(tmp_path / name))
    assert sorted(top(printed)) == sorted(NAMES)


def test_published_weights(
    classify: Classify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their names, from a folder; their transforms also when the file alone is given."""
    weights = models.SqueezeNet1_1_Weights.DEFAULT
    path = tmp_path / weights.url.rpartition("/")[2]
    fb.save(models.get_model(MODEL).state_dict(), path)
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    ways = [
        ["--model", MODEL],
        ["--model", MODEL, "--weights", "IMAGENET1K_V1"],
        ["--model", "SqueezeNet-1-1", "--weights", "DEFAULT"],
        ["--weights", "SqueezeNet1_1_Weights.IMAGENET1K_V1"],
        ["--weights", str(path)],
    ]
    results = [classify("a.png", *way) for way in ways]
    assert {code for code, _, _ in results} == {0}
    first = top(results[0][1])
    assert set(first) < set(weights.meta["categories"])
    assert all(top(printed) == first for _, printed, _ in results)


def test_kinds_of_images(classify: Classify, tmp_path: Path) -> None:
    """Grey, 16 bits, a palette, alpha, on its side, several in a file: all become three colours."""
    picture = Image.linear_gradient("L").resize((60, 40))
    turned = Image.Exif()
    turned[0x0112] = 6  # the camera was held upright
    picture.save(tmp_path / "grey.png")
    picture.convert("I").point(lambda value: value * 257).convert("I;16").save(
        tmp_path / "deep.png"
    )
    picture.convert("RGBA").save(tmp_path / "alpha.png")
    picture.convert("P").save(tmp_path / "palette.png")
    picture.save(tmp_path / "moving.gif", save_all=True, append_images=[picture.rotate(180)])
    picture.rotate(90, expand=True).save(tmp_path / "turned.jpg", exif=turned, quality=95)
    (tmp_path / "folder.png").mkdir()
    code, printed, _ = classify(str(tmp_path), "--weights", "three.pt", "--json")
    images = json.loads(printed)["images"]
    assert code == 0
    assert len(images) == 6
    assert {(each["width"], each["height"]) for each in images} == {(60, 40)}
    shares = [[c["probability"] for c in each["classes"]] for each in images]
    # JPEG loses details, and a palette colours, of a picture that otherwise is the same.
    assert all(share == pytest.approx(shares[0], abs=0.01) for share in shares)


def test_preparation_of_a_checkpoint(classify: Classify, folder: Path, tmp_path: Path) -> None:
    state = fb.load(folder / "three.pt")
    small = {"crop_size": 40, "resize_size": 40}
    fb.save({"state_dict": state, "transforms": small}, tmp_path / "small.pt")
    _, printed, _ = classify("a.png", "--weights", str(tmp_path / "small.pt"))
    fb.save(state, tmp_path / "plain.pt")
    _, usual, _ = classify("a.png", "--weights", str(tmp_path / "plain.pt"))
    assert top(printed) != top(usual)
    _, sized, _ = classify("a.png", "--weights", str(tmp_path / "small.pt"), "--size", "224")
    assert top(sized) != top(printed)


def _mistakes(folder: Path) -> None:
    (folder / "bad.png").write_bytes((folder / "a.png").read_bytes()[:200])
    (folder / "text.pt").write_text("not a checkpoint")
    (folder / "nothing.png").write_bytes(b"")
    (folder / "empty").mkdir(exist_ok=True)
    (folder / "two.txt").write_text("cat\ndog\n")
    fb.save({"epoch": 3, "loss": 0.1}, folder / "nothing.pt")
    fb.save(models.get_model(MODEL), folder / "whole.pt")
    fb.save({"layer.weight": fb.zeros(3)}, folder / "unknown.pt")
    small = models.resnet18(num_classes=3)
    small.conv1 = fb.nn.Conv2d(3, 64, 3, bias=False)
    fb.save(small.state_dict(), folder / "small.pt")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("none.png --weights three.pt", "there is no file none.png"),
        ("bad.png --weights three.pt", "bad.png: "),
        ("nothing.png --weights three.pt", "nothing.png is empty"),
        ("empty --weights three.pt", r"there is no image in empty \(.jpg, "),
        ("a.png --weights none.pt", r"no file none.pt, .* resnet18 are called ResNet18_Weights\."),
        ("a.png --weights empty", "empty is a folder"),
        ("a.png --weights text.pt", "text.pt cannot be read as weights: "),
        ("a.png --weights nothing.pt", "holds no state dict, .* keys 'epoch', 'loss'"),
        ("a.png --weights whole.pt", r"save model.state_dict\(\) instead"),
        ("a.png --weights unknown.pt", "fits none of .* begins with layer.weight"),
        (
            "a.png --weights small.pt",
            "fits none of .* nearest is resnet18: conv1.weight is 64×3×3×3 instead of 64×3×7×7",
        ),
        (
            "a.png --weights three.pt --model squeezenet1_0",
            r"features\.0\.weight is 64×3×3×3 instead of 96×3×7×7; .*\. It fits squeezenet1_1: --",
        ),
        ("a.png --weights three.pt --model resnet18", "conv1.weight is missing; .* squeezenet1_1"),
        ("a.png --weights three.pt --classes two.txt", "3 classes, .* 2 names in two.txt"),
        ("a.png --weights three.pt --classes none.txt", "classes cannot be read: none.txt"),
        ("a.png --weights VGG16_Weights.IMAGENET1K_FEATURES", "features only"),
        ("a.png --weights three.pt --size 3", "squeezenet1_1 cannot take images of 3×3 pixels: "),
    ],
)
def test_mistakes(classify: Classify, folder: Path, arguments: str, message: str) -> None:
    _mistakes(folder)
    code, _, errors = classify(*arguments.split())
    assert code == 1
    assert re.match(f"flambeau classify: .*{message}", errors), errors
    assert errors.count("\n") == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("a.png --model resnt18", "no model 'resnt18'; did you mean resnet18 or "),
        ("a.png --model nothing", "no model 'nothing'"),
        ("a.png --top 0", "expected a positive number"),
        ("", "required: IMAGE"),
    ],
)
def test_wrong_arguments(capsys: pytest.CaptureFixture[str], arguments: str, message: str) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["classify", *arguments.split()])
    assert ended.value.code == 2
    assert message in capsys.readouterr().err


def test_a_damaged_file_in_the_folder(
    classify: Classify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    path = tmp_path / "resnet18-f37072fd.pth"
    path.write_bytes(b"half a file")
    code, _, errors = classify("a.png")
    assert code == 1
    assert str(path) in errors
    fb.save(models.get_model(MODEL).state_dict(), path)
    code, _, errors = classify("a.png")
    assert code == 1
    assert re.search(r"resnet18-f37072fd\.pth does not fit resnet18: .* fits squeezenet1_1", errors)


def test_without_pillow(classify: Classify, monkeypatch: pytest.MonkeyPatch) -> None:
    Image.new("RGB", (9, 9)).save("c.bmp")
    monkeypatch.setitem(sys.modules, "PIL.Image", None)
    assert classify("a.png", "b.jpg", "--weights", "three.pt")[0] == 0
    code, _, errors = classify("c.bmp", "--weights", "three.pt")
    assert code == 1
    assert "pip install flambeau[vision]" in errors


def test_offline(classify: Classify, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FLAMBEAU_WEIGHTS", raising=False)
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    weights = models.ResNet18_Weights.DEFAULT
    monkeypatch.setattr(weights.value, "url", "http://127.0.0.1:1/resnet18-f37072fd.pth")
    code, _, errors = classify("a.png")
    assert code == 1
    assert re.search(r"put the file at .*resnet18-f37072fd.pth, .* FLAMBEAU_WEIGHTS", errors)


@pytest.mark.filterwarnings("ignore:The default weight init:FutureWarning")
@pytest.mark.parametrize(
    "name", ["densenet121", "googlenet", "maxvit_t", "regnet_y_400mf", "swin_t"]
)
def test_networks_are_recognised(name: str) -> None:
    """Without memory for them: names and shapes are enough."""
    with fb.device("meta"):
        state = models.get_model(name, num_classes=7).state_dict()
    found = _recognition.recognised(state)
    assert found is not None
    assert (found.model, found.classes, found.problems) == (name, 7, [])


def test_parts_that_are_missing() -> None:
    """Weights without auxiliary classifiers, in half precision."""
    state = models.inception_v3(init_weights=False, num_classes=3).state_dict()
    half = {name: v.half() for name, v in state.items() if not name.startswith("AuxLogits")}
    found = _recognition.fit("inception_v3", half)
    assert not found.problems
    network = _recognition.loaded(found, half).eval()
    assert network(fb.rand(1, 3, 75, 75)).shape == (1, 3)


def test_size_of_images_is_recognised() -> None:
    with fb.device("meta"):
        state = models.vit_b_16(num_classes=7, image_size=384).state_dict()
    found = _recognition.fit("vit_b_16", state)
    assert not found.problems
    assert found.weights is models.ViT_B_16_Weights.IMAGENET1K_SWAG_E2E_V1


def test_models(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setenv("FLAMBEAU_WEIGHTS", str(tmp_path))
    (tmp_path / "resnet18-f37072fd.pth").write_bytes(b"")
    assert cli.main(["models", "resnet*"]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^resnet18 +11\.7 M +1\.81 +69\.8 % +45 MB  ✓$", printed, re.MULTILINE)
    assert len(printed.splitlines()) == 6
    assert cli.main(["models", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["model"] for row in rows] == models.list_models(module=models)
    assert cli.main(["models", "x*"]) == 1
    assert "no model matches x*" in capsys.readouterr().err


def test_files_of_any_name(classify: Classify, folder: Path) -> None:
    name = os.fsdecode(b"\xff\xfe.png")
    (folder / name).write_bytes((folder / "a.png").read_bytes())
    try:
        assert r"\udcff\udcfe.png" in classify(name, "--weights", "three.pt")[1]
        printed = classify(name, "--weights", "three.pt", "--json")[1]
        assert json.loads(printed)["images"][0]["file"] == name
    finally:
        (folder / name).unlink()


@pytest.mark.parametrize("kind", ["checkpoint", "safetensors"])
def test_names_that_are_orders_to_the_terminal(
    classify: Classify, folder: Path, tmp_path: Path, kind: str
) -> None:
    """Cleared screens, changed titles and text that runs backwards: in no output are they raw."""
    names = ["\x1b[2J\x1b]0;title\x07cat", "\x9b31mdog", "\u202ebird\r\n"]
    state = fb.load(folder / "three.pt")
    if kind == "checkpoint":
        fb.save({"state_dict": state, "arch": MODEL, "classes": names}, tmp_path / "w.pt")
    else:
        notes = {"arch": MODEL, "classes": json.dumps(names)}
        save_file(state, tmp_path / "w.safetensors", notes)
    weights = next(str(path) for path in tmp_path.iterdir())
    for options in ([], ["--top", "1"], ["--json"]):
        code, printed, errors = classify("a.png", "--weights", weights, *options)
        assert (code, errors) == (0, "")
        assert printed.replace("\n", "").isprintable()
    assert {each["name"] for each in json.loads(printed)["images"][0]["classes"]} == set(names)
    fb.save({"state_dict": {"\x1b[2J": fb.ones(1)}, "arch": "\x1b[2J"}, tmp_path / "x.pt")
    fb.save({"\x1b[2J": 1}, tmp_path / "y.pt")
    for path in ("x.pt", "y.pt"):
        code, printed, errors = classify("a.png", "--weights", str(tmp_path / path))
        assert code == 1
        assert errors.replace("\n", "").isprintable()


def test_weights_of_other_numbers(classify: Classify, folder: Path, tmp_path: Path) -> None:
    state, path = fb.load(folder / "three.pt"), tmp_path / "other.pt"
    for dtype in (fb.int32, fb.bool, fb.complex64):
        fb.save({name: value.to(dtype) for name, value in state.items()}, path)
        code, _, error = classify("a.png", "--weights", str(path), "--model", MODEL)
        assert code == 1
        assert f"is of {dtype} instead of torch.float32" in error
    fb.save({name: value * float("nan") for name, value in state.items()}, path)
    code, _, error = classify("a.png", "--weights", str(path))
    assert code == 1
    assert "a.png" in error
    assert "gives NaN" in error


@pytest.mark.parametrize(
    "transforms", [{"crop_size": "large"}, {"crop_size": 10**9}, {"crop_size": 9, "std": [0, 0, 0]}]
)
def test_preparations_that_cannot_be(
    classify: Classify, folder: Path, tmp_path: Path, transforms: dict[str, Any]
) -> None:
    state = fb.load(folder / "three.pt")
    fb.save({"state_dict": state, "transforms": transforms}, tmp_path / "odd.pt")
    code, _, error = classify("a.png", "--weights", str(tmp_path / "odd.pt"))
    assert code == 1
    assert "a.png, 80×60 pixels, cannot be classified" in error


def test_names_nested_without_end(classify: Classify, tmp_path: Path) -> None:
    (tmp_path / "names.json").write_text("[" * 100_000)
    arguments = ("--weights", "three.pt", "--classes", str(tmp_path / "names.json"))
    code, _, error = classify("a.png", *arguments)
    assert code == 1
    assert "is no JSON" in error
