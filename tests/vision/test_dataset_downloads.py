"""Fetching files: resumed, checked, by one process at a time, whole or not there."""

from __future__ import annotations

import gzip
import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from flambeau.vision import datasets
from flambeau.vision.datasets import utils
from tests.vision.dataset_server import DATA, Server, serving

MD5 = hashlib.md5(DATA).hexdigest()


@pytest.fixture
def server() -> Iterator[Server]:
    with serving() as running:
        yield running


def test_download(server: Server, tmp_path: Path) -> None:
    utils.download_url(f"{server.url}/data.bin?version=1", tmp_path / "new", md5=MD5)
    assert (tmp_path / "new" / "data.bin").read_bytes() == DATA
    assert os.listdir(tmp_path / "new") == ["data.bin"]
    utils.download_url(f"{server.url}/data.bin", tmp_path / "new", md5=MD5)
    assert len(server.asked) == 1, "a file that is there was fetched again"


def test_a_wrong_file_is_replaced(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin").write_bytes(b"another")
    utils.download_url(f"{server.url}/data.bin", tmp_path, md5=MD5)
    assert (tmp_path / "data.bin").read_bytes() == DATA


def test_download_goes_on(server: Server, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"cut\.bin.*ended early.*524288 bytes have arrived"):
        utils.download_url(f"{server.url}/cut.bin", tmp_path, md5=MD5)
    assert os.listdir(tmp_path) == ["cut.bin.part"]
    utils.download_url(f"{server.url}/cut.bin", tmp_path, md5=MD5)
    assert server.ranges() == [None, "bytes=524288-"]
    assert (tmp_path / "cut.bin").read_bytes() == DATA
    assert os.listdir(tmp_path) == ["cut.bin"]


@pytest.mark.parametrize("name", ["whole.bin", "other.bin", "data.bin"])
def test_beginnings_that_do_not_fit(name: str, server: Server, tmp_path: Path) -> None:
    """A server that cannot go on, one that sends another part, and a beginning of another file."""
    beginning = DATA[:1000] if name != "data.bin" else b"x" * 1000
    (tmp_path / f"{name}.part").write_bytes(beginning)
    utils.download_url(f"{server.url}/{name}", tmp_path, md5=MD5)
    assert (tmp_path / name).read_bytes() == DATA
    assert os.listdir(tmp_path) == [name]


@pytest.mark.parametrize("size", [len(DATA), len(DATA) + 1])
def test_nothing_is_left_to_fetch(size: int, server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").write_bytes((DATA + b"x")[:size])
    utils.download_url(f"{server.url}/data.bin", tmp_path, md5=MD5)
    assert (tmp_path / "data.bin").read_bytes() == DATA


def test_without_a_sum_nothing_is_resumed(server: Server, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended early"):
        utils.download_url(f"{server.url}/cut.bin", tmp_path)
    assert os.listdir(tmp_path) == []
    (tmp_path / "data.bin.part").write_bytes(b"x" * 1000)
    utils.download_url(f"{server.url}/data.bin", tmp_path)
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert server.ranges() == [None, None]


@pytest.mark.parametrize("name", ["page.bin", "short.bin"])
def test_a_wrong_sum_keeps_nothing(name: str, server: Server, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=f"{name} from .* has the MD5 sum .* instead of {MD5}"):
        utils.download_url(f"{server.url}/{name}", tmp_path, md5=MD5)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(("name", "why"), [("gone.bin", "404"), ("loop.bin", "302")])
def test_errors_of_a_server(name: str, why: str, server: Server, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError) as caught:
        utils.download_url(f"{server.url}/{name}", tmp_path, md5=MD5)
    assert why in f"{caught.value}"
    assert f"put the file at {tmp_path / name}" in f"{caught.value}"
    assert os.listdir(tmp_path) == []


def test_a_length_that_is_too_long_and_a_redirection(server: Server, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="ended early"):
        utils.download_url(f"{server.url}/long.bin", tmp_path, md5=MD5)
    # All of it had come: the next attempt finds out.
    utils.download_url(f"{server.url}/long.bin", tmp_path, md5=MD5)
    utils.download_url(f"{server.url}/moved.bin", tmp_path, md5=MD5)
    assert (tmp_path / "long.bin").read_bytes() == (tmp_path / "moved.bin").read_bytes() == DATA


def test_mirrors(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is down, one with another file, one that has it."""
    packed = gzip.compress(b"\0\0\x08\x01\0\0\0\x02\x05\x06")
    md5 = hashlib.md5(packed).hexdigest()
    server.files["good/labels.gz"] = packed
    mirrors = ["http://127.0.0.1:1/", f"{server.url}/page/", f"{server.url}/good/"]
    monkeypatch.setattr(datasets.MNIST, "mirrors", mirrors)
    monkeypatch.setattr(datasets.MNIST, "resources", [("labels.gz", md5)])
    monkeypatch.setattr(datasets.MNIST, "_load_data", lambda self: ([], []))
    datasets.MNIST(tmp_path, download=True)
    assert sorted(os.listdir(tmp_path / "MNIST" / "raw")) == ["labels", "labels.gz"]
    assert [name for name, _ in server.asked] == ["page/labels.gz", "good/labels.gz"]


def test_offline_says_where_to_put_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Port 1 refuses connections.
    monkeypatch.setattr(datasets.MNIST, "mirrors", ["http://127.0.0.1:1/"])
    with pytest.raises(RuntimeError) as caught:
        datasets.MNIST(tmp_path, download=True)
    expected = tmp_path / "MNIST" / "raw" / "train-images-idx3-ubyte.gz"
    assert f"put the file at {expected}" in f"{caught.value}"
    assert os.listdir(expected.parent) == []


def test_a_folder_that_is_a_file(server: Server, tmp_path: Path) -> None:
    (tmp_path / "data.bin.part").mkdir()
    with pytest.raises(RuntimeError, match=r"data\.bin.*directory"):
        utils.download_url(f"{server.url}/data.bin", tmp_path, md5=MD5)


def test_google_drive(server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(utils, "_DRIVE", f"{server.url}/{{}}")
    utils.download_file_from_google_drive("number", tmp_path, "big.zip", MD5)
    assert (tmp_path / "big.zip").read_bytes() == DATA
    # A file that many fetch, or one that is gone, is a page that says so.
    for md5 in (MD5, None):
        with pytest.raises(RuntimeError, match=r"browser.*id=page.*other\.zip"):
            utils.download_file_from_google_drive("page", tmp_path, "other.zip", md5)
    assert os.listdir(tmp_path) == ["big.zip"]


_FETCH = """
import sys
from flambeau.vision.datasets import utils
sys.stdin.readline()
utils.download_url(sys.argv[1], sys.argv[2], md5=sys.argv[3])
"""


def test_several_processes(server: Server, tmp_path: Path) -> None:
    url = f"{server.url}/data.bin"
    command = [sys.executable, "-c", _FETCH, url, str(tmp_path), MD5]
    running = [subprocess.Popen(command, stdin=subprocess.PIPE) for _ in range(2)]
    for process in running:  # all have imported what they need before the first begins
        assert process.stdin is not None
        process.stdin.close()
    assert [process.wait() for process in running] == [0, 0]
    assert (tmp_path / "data.bin").read_bytes() == DATA
    assert os.listdir(tmp_path) == ["data.bin"]
