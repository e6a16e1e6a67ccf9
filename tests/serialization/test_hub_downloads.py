"""Weights from servers that break off, move, lie, fail or fall silent."""

from __future__ import annotations

import hashlib
import io
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.error import HTTPError, URLError

import pytest

import flambeau as fb
from flambeau import hub
from flambeau.hub import _transfer
from flambeau.vision import models
from tests.vision.dataset_server import DATA, Server, serving

DIGITS = hashlib.sha256(DATA).hexdigest()[:8]


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


@pytest.fixture
def fetch(server: Server, tmp_path: Path) -> Callable[..., bytes]:
    """Fetch a file that must begin its SHA-256 with some digits, and return what it holds."""

    def fetched(name: str, digits: str | None = DIGITS) -> bytes:
        path = tmp_path / "file"
        hub.download_url_to_file(f"{server.url}/{name}", str(path), digits, progress=False)
        assert os.listdir(tmp_path) == ["file"]
        return path.read_bytes()

    return fetched


@pytest.mark.parametrize("name", ["data.bin", "moved.bin", "whole.bin"])
@pytest.mark.parametrize("digits", [DIGITS, None])
def test_whole_files(fetch: Callable[..., bytes], name: str, digits: str | None) -> None:
    assert fetch(name, digits) == DATA


def test_an_older_file_is_replaced_or_kept(
    fetch: Callable[..., bytes], server: Server, tmp_path: Path
) -> None:
    (tmp_path / "file").write_bytes(b"older")
    with pytest.raises(HTTPError):
        fetch("gone.bin")
    assert (tmp_path / "file").read_bytes() == b"older"
    assert fetch("data.bin") == DATA


def test_an_interrupted_transfer_goes_on(
    fetch: Callable[..., bytes], server: Server, tmp_path: Path
) -> None:
    with pytest.raises(URLError, match="ended early"):
        fetch("cut.bin")
    assert os.listdir(tmp_path) == ["file.part"]
    assert fetch("cut.bin") == DATA
    assert server.ranges() == [None, f"bytes={len(DATA) // 2}-"]


def test_without_a_hash_it_starts_again(
    fetch: Callable[..., bytes], server: Server, tmp_path: Path
) -> None:
    with pytest.raises(URLError, match="ended early"):
        fetch("cut.bin", None)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("name", ["data.bin", "whole.bin", "other.bin"])
def test_beginnings_of_another_file(fetch: Callable[..., bytes], name: str, tmp_path: Path) -> None:
    (tmp_path / "file.part").write_bytes(b"another beginning")
    assert fetch(name) == DATA


def test_silence(
    fetch: Callable[..., bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_transfer, "_PATIENCE", 0.2)
    with pytest.raises(URLError, match=r"ended early.*timed out"):
        fetch("slow.bin")
    assert os.listdir(tmp_path) == ["file.part"]
    monkeypatch.undo()
    assert fetch("slow.bin") == DATA


@pytest.mark.parametrize("name", ["page.bin", "short.bin"])
def test_a_wrong_hash_keeps_nothing(fetch: Callable[..., bytes], name: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=f'invalid hash value .expected "{DIGITS}", got '):
        fetch(name)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("name", "code"), [("gone", 404), ("broken", 500), ("loop", 302)])
def test_errors_say_where_to_put_the_file(
    name: str, code: int, server: Server, tmp_path: Path
) -> None:
    url = f"{server.url}/{name}-{DIGITS}.pth"
    with pytest.raises(HTTPError) as caught:
        hub.load_state_dict_from_url(url, str(tmp_path), check_hash=True, progress=False)
    assert caught.value.code == code
    assert f"put the file at {tmp_path / name}-{DIGITS}.pth" in str(caught.value)
    assert os.listdir(tmp_path) == []


def test_weights_that_a_server_does_not_have(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TORCH_HOME", str(tmp_path))
    monkeypatch.delenv("FLAMBEAU_WEIGHTS", raising=False)
    weights = models.ResNet18_Weights.DEFAULT
    monkeypatch.setattr(weights.value, "url", f"{server.url}/gone-{DIGITS}.pth")
    with pytest.raises(HTTPError, match=r"404.*put the file at .*gone-.*FLAMBEAU_WEIGHTS names"):
        models.resnet18(weights=weights)


def test_offline_says_where_to_put_the_file(tmp_path: Path) -> None:
    with pytest.raises(URLError) as caught:  # port 1 refuses connections
        hub.load_state_dict_from_url("http://127.0.0.1:1/net.pth", str(tmp_path), progress=False)
    assert str(caught.value).startswith("http://127.0.0.1:1/net.pth cannot be fetched: ")
    assert str(caught.value).endswith(
        f"Without a network connection, put the file at {tmp_path / 'net.pth'}"
    )
    fb.save({"x": fb.ones(1)}, tmp_path / "net.pth")
    state = hub.load_state_dict_from_url("http://127.0.0.1:1/net.pth", str(tmp_path))
    assert state["x"].tolist() == [1]


def _saved(value: object) -> bytes:
    file = io.BytesIO()
    fb.save(value, file)
    return file.getvalue()


def test_a_state_dict(server: Server, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    server.files["net-cut.pth?x=1"] = _saved({"x": fb.arange(4)})
    digits = hashlib.sha256(server.files["net-cut.pth?x=1"]).hexdigest()[:8]
    options = {"model_dir": str(tmp_path), "file_name": f"mine-{digits}.pth", "check_hash": True}
    with pytest.raises(URLError, match=r"bytes have arrived; the next attempt goes on"):
        hub.load_state_dict_from_url(f"{server.url}/net-cut.pth?x=1", progress=False, **options)
    state = hub.load_state_dict_from_url(f"{server.url}/net-cut.pth?x=1", **options)
    assert state["x"].tolist() == [0, 1, 2, 3]
    assert os.listdir(tmp_path) == [f"mine-{digits}.pth"]
    assert 'Downloading: "http' in capsys.readouterr().err
    kept = hub.load_state_dict_from_url("http://127.0.0.1:1/", map_location="cpu", **options)
    assert kept["x"].tolist() == [0, 1, 2, 3]


def test_an_archive_around_one_file(server: Server, tmp_path: Path) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("net.pth", _saved({"x": fb.ones(2)}))
    server.files["net.zip"] = packed.getvalue()
    state = hub.load_state_dict_from_url(f"{server.url}/net.zip", str(tmp_path), progress=False)
    assert state["x"].tolist() == [1, 1]


def test_only_tensors_unless_trusted(server: Server, tmp_path: Path) -> None:
    server.files["net.pth"] = _saved(fb.nn.Linear(1, 1))
    url = f"{server.url}/net.pth"
    with pytest.raises(Exception, match="Unsupported global"):
        hub.load_state_dict_from_url(url, str(tmp_path), progress=False)
    whole = hub.load_state_dict_from_url(url, str(tmp_path), weights_only=False)
    assert isinstance(whole, fb.nn.Linear)
