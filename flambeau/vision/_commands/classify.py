"""``flambeau classify``: classify images with a pretrained network."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import flambeau as fb
from flambeau import Tensor
from flambeau._display.terminal import cells, is_live, printable
from flambeau.vision._commands import output
from flambeau.vision._commands.classifier import (
    DEFAULT_MODEL,
    Classifier,
    image_endings,
    read_picture,
)
from flambeau.vision._commands.mistake import Mistake

__all__ = ["add_arguments", "run"]

_FAILED = 1
_TOP = 5
_LINES = "\n"  # of a message
_MANY = 10  # images, of which one class each is enough


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.epilog = """\
examples:
  flambeau classify cat.jpg                            the five most likely ImageNet classes
  flambeau classify photos/ --model mobilenet_v3_small all images of a folder
  flambeau classify cat.jpg --weights finetuned.pt     your own checkpoint and classes
  flambeau classify cat.jpg --json                     for programs

Published weights are looked for in the folder $FLAMBEAU_WEIGHTS and in the cache, then downloaded.
A file may contain a state dict, a checkpoint with one, or safetensors. The number of classes comes
from the file, and so does the architecture unless --model is given."""
    parser.add_argument(
        "images", nargs="+", type=Path, metavar="IMAGE", help="an image file or a folder of them"
    )
    parser.add_argument(
        "--model",
        type=_model,
        metavar="NAME",
        help=f"a network that `flambeau models` lists; default: {DEFAULT_MODEL}",
    )
    parser.add_argument(
        "--weights",
        default="DEFAULT",
        metavar="FILE|NAME",
        help="a checkpoint file, or the name of published weights; default: DEFAULT, the best ones",
    )
    parser.add_argument(
        "--classes", type=Path, metavar="FILE", help="class names, one per line or as JSON"
    )
    parser.add_argument(
        "--top",
        type=_positive,
        metavar="N",
        help=f"how many classes to show; default: {_TOP}, or 1 for more than {_MANY} images",
    )
    parser.add_argument(
        "--size", type=_positive, metavar="N", help="input size of the network in pixels"
    )
    parser.add_argument("--json", action="store_true", help="print everything as JSON")


def run(arguments: argparse.Namespace) -> int:
    try:
        return _run(arguments)
    except Mistake as mistake:
        print(f"flambeau classify: {printable(str(mistake), keep=_LINES)}", file=sys.stderr)
        return _FAILED


def _run(arguments: argparse.Namespace) -> int:
    paths = [path for given in arguments.images for path in _images(given)]
    if not any(path.is_file() for path in paths):
        read_picture(paths[0])  # the mistake shows before weights are fetched for nothing
    classifier = Classifier.made(arguments.model, arguments.weights)
    if arguments.classes:
        classifier.named(arguments.classes)
    if arguments.size:
        classifier.sized(arguments.size)
    top = arguments.top or (_TOP if len(paths) <= _MANY else 1)
    start = time.perf_counter()
    if arguments.json:
        results = list(_results(classifier, paths, top))
        output.show(output.as_json(classifier, results))
    else:
        results = _shown(classifier, paths, top)
    findings = [each for each in results if isinstance(each, output.Finding)]
    if len(findings) > 1 and not arguments.json:
        print("\n" + output.conclude(findings, time.perf_counter() - start))
    return 0 if len(findings) == len(results) else _FAILED


def _shown(
    classifier: Classifier, paths: list[Path], top: int
) -> list[output.Finding | output.Failure]:
    """Print the results as they come, and return them."""
    output.show(output.introduce(classifier))
    widest = max(cells(printable(str(path))) for path in paths)
    results = []
    for result in _results(classifier, paths, top):
        results.append(result)
        if isinstance(result, output.Failure):
            print(f"flambeau classify: {printable(result.error)}", file=sys.stderr)
        elif top == 1:
            output.show(output.as_line(result, classifier.classes, widest))
        else:
            output.show("\n" + output.as_text(result, classifier.classes))
    return results


def _results(
    classifier: Classifier, paths: list[Path], top: int
) -> Iterator[output.Finding | output.Failure]:
    bar = fb.progress(
        paths,
        "classifying",
        unit="image",
        keep=False,
        show=None if len(paths) > 1 and is_live(sys.stderr) else False,
    )
    for path in bar:
        start = time.perf_counter()
        try:
            image = read_picture(path)
            probabilities, numbers = _probabilities(classifier, path, image).topk(
                min(top, len(classifier.classes))
            )
        except Mistake as mistake:
            yield output.Failure(path, str(mistake))
            continue
        height, width = image.shape[-2:]
        yield output.Finding(
            path,
            width,
            height,
            time.perf_counter() - start,
            list(zip(numbers.tolist(), probabilities.tolist(), strict=True)),
        )


def _probabilities(classifier: Classifier, path: Path, image: Tensor) -> Tensor:
    try:
        probabilities = classifier(image)
    except Exception as error:  # of any class: a file may ask for any preparation of images
        height, width = image.shape[-2:]
        text = f"{path}, {width}×{height} pixels, cannot be classified: {error}"
        raise Mistake(text) from error
    if probabilities.isnan().any():
        raise Mistake(f"{path}: {classifier.weights} gives NaN for it, so it tells no classes")
    return probabilities


def _images(given: Path) -> list[Path]:
    """The images of a folder, sorted by name, or the paths as given."""
    if not given.is_dir():
        return [given]
    endings = image_endings()
    inside = sorted(given.rglob("*"))
    return [each for each in inside if each.suffix.lower() in endings and each.is_file()] or [given]


def _model(name: str) -> str:
    from flambeau.vision._commands.models import chosen

    try:
        return chosen(name)
    except Mistake as mistake:
        raise argparse.ArgumentTypeError(str(mistake)) from mistake


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"expected a positive number, got {text!r}")
    return int(text)
