"""The programs of examples/ that learn from images, in short form, from data to resumption."""

from __future__ import annotations

import copy
import importlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import flambeau as fb
from flambeau import cli
from flambeau.vision import models

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.fixture(autouse=True)
def _as_if_run_there(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.syspath_prepend(str(FOLDER))
    yield
    for path in FOLDER.glob("*.py"):
        sys.modules.pop(path.stem, None)


@pytest.fixture
def shapes() -> ModuleType:
    fb.manual_seed(0)
    return importlib.import_module("shapes")


class TestCifar:
    @pytest.fixture
    def data(self, shapes: ModuleType, tmp_path: Path) -> Path:
        """Two kinds that are told apart soon."""
        shapes.write_cifar(tmp_path / "data", ["disc", "stripes"], count=12)
        return tmp_path / "data"

    @staticmethod
    @fb.no_grad()
    def known(program: ModuleType, net: Any, data: Path) -> float:
        """The share of all pictures, by the means of the batch: the running ones lag behind."""
        loader, _ = program.loaders(data, batch_size=60, workers=0)
        images, labels = next(iter(loader))
        return float((copy.deepcopy(net).train()(images).argmax(1) == labels).float().mean())

    def test_learns_and_goes_on_where_it_stopped(
        self, data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        program = importlib.import_module("cifar_resnet")
        options: dict[str, Any] = {"epochs": 2, "batch_size": 10, "lr": 0.01}
        net, accuracies = program.train(data, checkpoint=tmp_path / "whole.pt", **options)
        assert len(accuracies) == 2
        assert self.known(program, net, data) > 0.65

        stopped = tmp_path / "stopped.pt"
        saved = program.Training.save

        def save(self: Any, path: Path) -> None:
            saved(self, path)
            raise KeyboardInterrupt

        with monkeypatch.context() as patch:
            patch.setattr(program.Training, "save", save)
            with pytest.raises(KeyboardInterrupt):
                program.train(data, checkpoint=stopped, **options)
        assert len(fb.load(stopped)["accuracies"]) == 1
        other, again = program.train(data, checkpoint=stopped, **options)
        assert again == accuracies
        for name, value in net.state_dict().items():
            assert (other.state_dict()[name] == value).all(), name
        with pytest.raises(SystemExit, match=r"stopped\.pt is of a longer or shorter training"):
            program.train(data, checkpoint=stopped, **(options | {"epochs": 3}))


class TestFinetuning:
    MODEL = "mobilenet_v3_small"

    @pytest.fixture
    def pictures(self, shapes: ModuleType, tmp_path: Path) -> Path:
        shapes.write_folders(tmp_path / "pictures", ["disc", "stripes"], count=15)
        return tmp_path / "pictures"

    @pytest.fixture
    def weights(self, tmp_path: Path) -> Path:
        fb.manual_seed(0)
        fb.save(models.get_model(self.MODEL).state_dict(), tmp_path / "pretrained.pth")
        return tmp_path / "pretrained.pth"

    def train(self, pictures: Path, weights: Path, **options: Any) -> tuple[Any, float]:
        program = importlib.import_module("finetune")
        checkpoint = pictures.parent / "tuned.pt"
        result: tuple[Any, float] = program.train(
            pictures, weights, self.MODEL, size=32, batch_size=6, checkpoint=checkpoint, **options
        )
        return result

    def test_the_command_reads_what_was_learnt(
        self, pictures: Path, weights: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        _, share = self.train(pictures, weights, epochs=(1, 2))
        assert "head alone: " in capsys.readouterr().out
        checkpoint = str(pictures.parent / "tuned.pt")
        assert (
            cli.main(["classify", str(pictures / "test"), "--weights", checkpoint, "--json"]) == 0
        )
        content = json.loads(capsys.readouterr().out)
        assert content["model"] == self.MODEL
        images = content["images"]
        assert len(images) == 6
        assert {each["name"] for image in images for each in image["classes"]} == {
            "disc",
            "stripes",
        }
        right = [image["classes"][0]["name"] == Path(image["file"]).parent.name for image in images]
        assert sum(right) / len(right) == pytest.approx(share)

    def test_only_the_head_learns_first(self, pictures: Path, weights: Path) -> None:
        net, _ = self.train(pictures, weights, epochs=(1, 0))
        before, after = fb.load(weights), net.state_dict()
        changed = {name for name in before if after[name].shape != before[name].shape}
        assert changed == {"classifier.3.weight", "classifier.3.bias"}
        for name in set(before) - changed:
            assert (after[name] == before[name]).all(), name

    def test_weights_of_another_network(self, pictures: Path, tmp_path: Path) -> None:
        fb.save(models.squeezenet1_1().state_dict(), tmp_path / "other.pth")
        with pytest.raises(SystemExit, match=r"other\.pth holds no weights of mobilenet_v3_small"):
            self.train(pictures, tmp_path / "other.pth")
