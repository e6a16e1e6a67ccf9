"""Fetching and unpacking: resumed, checked, safe, all or nothing."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import tarfile
import threading
import zipfile
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from flambeau.vision import datasets
from flambeau.vision.datasets import utils

DATA = bytes(range(256)) * 4096
MD5 = hashlib.md5(DATA).hexdigest()


class _Handler(BaseHTTPRequestHandler):
    """Sends ``DATA``; a path with "cut" breaks off in the middle of the first answer."""

    asked: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        self.asked.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start >= len(DATA):
            self.send_error(416)
            return
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(DATA) - start))
        self.end_headers()
        cut = "cut" in self.path and not wanted
        self.wfile.write(DATA[start : len(DATA) // 2 if cut else None])

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as running:
        thread = threading.Thread(target=running.serve_forever)
        thread.start()
        _Handler.asked.clear()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()
        thread.join()


def test_download(server: str, tmp_path: Path) -> None:
    utils.download_url(f"{server}/data.bin", tmp_path / "new", md5=MD5)
    assert (tmp_path / "new" / "data.bin").read_bytes() == DATA
    assert os.listdir(tmp_path / "new") == ["data.bin"]
    utils.download_url(f"{server}/data.bin", tmp_path / "new", md5=MD5)
    assert len(_Handler.asked) == 1, "a file that is there was fetched again"


def test_download_goes_on(server: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match=r"524288 bytes have arrived"):
        utils.download_url(f"{server}/cut.bin", tmp_path, md5=MD5)
    assert os.listdir(tmp_path) == ["cut.bin.part"]
    utils.download_url(f"{server}/cut.bin", tmp_path, md5=MD5)
    assert _Handler.asked == [None, "bytes=524288-"]
    assert (tmp_path / "cut.bin").read_bytes() == DATA
    assert os.listdir(tmp_path) == ["cut.bin"]


def test_wrong_sum_keeps_nothing(server: str, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="MD5"):
        utils.download_url(f"{server}/data.bin", tmp_path, md5="0" * 32)
    assert os.listdir(tmp_path) == []


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


def _tar(path: Path, members: dict[str, Any], mode: Any = "w") -> Path:
    with tarfile.open(path, mode) as file:
        for name, content in members.items():
            info = tarfile.TarInfo(name)
            if isinstance(content, bytes):
                info.size = len(content)
                file.addfile(info, io.BytesIO(content))
            else:
                info.type, info.linkname = content
                file.addfile(info)
    return path


@pytest.mark.parametrize(
    ("suffix", "mode"),
    [
        (".tar", "w"),
        (".tar.gz", "w:gz"),
        (".tgz", "w:gz"),
        (".tar.xz", "w:xz"),
        (".tar.bz2", "w:bz2"),
    ],
)
def test_tar(suffix: str, mode: str, tmp_path: Path) -> None:
    archive = _tar(tmp_path / f"a{suffix}", {"x/y.txt": b"why", "z": b""}, mode)
    assert utils.extract_archive(archive, tmp_path / "out") == str(tmp_path / "out")
    assert (tmp_path / "out" / "x" / "y.txt").read_bytes() == b"why"
    assert sorted(os.listdir(tmp_path / "out")) == ["x", "z"]


def test_zip_and_single_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("x/y.txt", "why")
    utils.extract_archive(tmp_path / "a.zip", remove_finished=True)
    assert (tmp_path / "x" / "y.txt").read_text() == "why"
    assert not (tmp_path / "a.zip").exists()
    for suffix, compress in (
        (".gz", gzip.compress),
        (".bz2", bz2.compress),
        (".xz", lzma.compress),
    ):
        (tmp_path / f"plain{suffix}").write_bytes(compress(b"text"))
        result = utils.extract_archive(tmp_path / f"plain{suffix}", tmp_path / suffix)
        assert Path(result) == tmp_path / suffix / "plain"
        assert Path(result).read_bytes() == b"text"


HARMFUL: dict[str, dict[str, Any]] = {
    "up": {"good": b"1", "../evil": b"2"},
    "absolute": {"good": b"1", "/tmp/evil": b"2"},
    "inner": {"good": b"1", "a/../../evil": b"2"},
    "link": {"good": b"1", "link": (tarfile.SYMTYPE, "/etc")},
    "hard link": {"good": b"1", "link": (tarfile.LNKTYPE, "good")},
    "device": {"good": b"1", "pipe": (tarfile.FIFOTYPE, "")},
}


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_archives(name: str, tmp_path: Path) -> None:
    archive = _tar(tmp_path / "a.tar", HARMFUL[name])
    with pytest.raises(RuntimeError, match=r"a\.tar: refused"):
        utils.extract_archive(archive, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == [], "something was unpacked"
    assert sorted(os.listdir(tmp_path)) == ["a.tar", "out"]


def test_harmful_zip(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("link")
    link.external_attr = 0o120777 << 16
    for member in (zipfile.ZipInfo("../evil"), link):
        with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
            file.writestr("good", "1")
            file.writestr(member, "/etc")
        with pytest.raises(RuntimeError, match=r"a\.zip: refused"):
            utils.extract_archive(tmp_path / "a.zip", tmp_path / "out")
        assert os.listdir(tmp_path / "out") == []


def test_damaged_archives(tmp_path: Path) -> None:
    whole = _tar(tmp_path / "a.tar.gz", {"x": DATA}, "w:gz").read_bytes()
    cases = {"a.tar.gz": whole[:-200], "b.zip": b"PK", "c.gz": b"text", "d.tar": b"x" * 100}
    for name, data in cases.items():
        (tmp_path / name).write_bytes(data)
        with pytest.raises(RuntimeError, match=f"{name}: damaged"):
            utils.extract_archive(tmp_path / name, tmp_path / "out")
        assert os.listdir(tmp_path / "out") == []
    with pytest.raises(RuntimeError, match="Unknown compression"):
        utils.extract_archive(tmp_path / "a.rar")


def test_helpers(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(DATA)
    (tmp_path / "b").mkdir()
    assert utils.calculate_md5(tmp_path / "a.txt") == MD5
    assert utils.check_integrity(tmp_path / "a.txt", MD5)
    assert not utils.check_integrity(tmp_path / "b")
    assert utils.list_dir(tmp_path) == ["b"]
    assert utils.list_files(tmp_path, ".txt", prefix=True) == [str(tmp_path / "a.txt")]
    with pytest.raises(ValueError, match="'x' for argument part"):
        utils.verify_str_arg("x", "part", ("y", "z"))
    with pytest.raises(RuntimeError, match="drive"):
        utils.download_file_from_google_drive("id", tmp_path, "big.zip")
