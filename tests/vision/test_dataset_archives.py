"""Unpacking: nothing harmful, nothing too large, all or nothing."""

from __future__ import annotations

import bz2
import errno
import gzip
import hashlib
import io
import lzma
import os
import shutil
import subprocess
import sys
import tarfile
import time
import zipfile
from pathlib import Path
from typing import Any

import pytest

from flambeau.vision.datasets import _extract, utils

DATA = bytes(range(256)) * 4096
MD5 = hashlib.md5(DATA).hexdigest()


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


def _small_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_extract, "_FLOOR", 1 << 16)


@pytest.mark.parametrize("suffix", [".zip", ".tar.gz", ".tar.xz", ".gz", ".bz2"])
def test_archives_that_would_fill_the_disk(
    suffix: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small_limit(monkeypatch)
    zeros = bytes(1 << 21)
    archive = tmp_path / f"bomb{suffix}"
    if suffix == ".zip":
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            file.writestr("zeros", zeros)
    elif ".tar" in suffix:
        _tar(archive, {"zeros": zeros}, f"w:{suffix[5:]}")
    else:
        archive.write_bytes({".gz": gzip.compress, ".bz2": bz2.compress}[suffix](zeros))
    with pytest.raises(RuntimeError, match=r"bomb.*refused, it unpacks to more than \d+ bytes"):
        utils.extract_archive(archive, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_headers_that_would_fill_the_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _small_limit(monkeypatch)
    with tarfile.open(tmp_path / "a.tar.gz", "w:gz", format=tarfile.PAX_FORMAT) as file:
        info = tarfile.TarInfo("x")
        info.pax_headers = {"comment": "a" * (1 << 22)}
        file.addfile(info)
    with pytest.raises(RuntimeError, match="refused, it unpacks to more"):
        utils.extract_archive(tmp_path / "a.tar.gz", tmp_path / "out")


def test_a_full_disk_is_seen_before(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("x", DATA)
    usage = _extract.shutil.disk_usage(tmp_path)._replace(free=1000)
    monkeypatch.setattr(_extract.shutil, "disk_usage", lambda path: usage)
    with pytest.raises(RuntimeError, match=r"a\.zip: 1048576 bytes are needed.*1000 are free"):
        utils.extract_archive(tmp_path / "a.zip", tmp_path / "out")
    assert os.listdir(tmp_path / "out") == []


def test_a_disk_that_runs_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def write(*args: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    archive = _tar(tmp_path / "a.tar", {"x": b"1"})
    monkeypatch.setattr(_extract._Unpacking, "_write", write)
    with pytest.raises(OSError, match=r"No space left.*a\.tar into .*out") as caught:
        utils.extract_archive(archive, tmp_path / "out")
    assert caught.value.errno == errno.ENOSPC
    assert os.listdir(tmp_path / "out") == []


def test_damage_in_the_middle(tmp_path: Path) -> None:
    """A header that cannot be read is no end, and the sum at the end is looked at."""
    data = bytearray(_tar(tmp_path / "a.tar", {"x": b"1", "y": b"2"}).read_bytes())
    data[1024 + 10] ^= 255
    packed = bytearray(gzip.compress(bytes(data)))
    packed[-6] ^= 255
    for name, content in (("a.tar", data), ("b.tar.gz", packed)):
        (tmp_path / name).write_bytes(content)
        with pytest.raises(RuntimeError, match=f"{name}: damaged"):
            utils.extract_archive(tmp_path / name, tmp_path / "out")
        assert os.listdir(tmp_path / "out") == []


def test_encrypted_zip(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as file:
        file.writestr("secret", "text")
    data = bytearray((tmp_path / "a.zip").read_bytes())
    for mark, offset in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        data[data.index(mark) + offset] |= 1
    (tmp_path / "a.zip").write_bytes(data)
    with pytest.raises(RuntimeError, match=r"a\.zip.*'secret' needs a password"):
        utils.extract_archive(tmp_path / "a.zip", tmp_path / "out")


def test_names(tmp_path: Path) -> None:
    """Of two members of a name the last one counts; any name that the system takes is taken."""
    with tarfile.open(tmp_path / "a.tar", "w") as file:
        for name, content in (("x", b"1"), ("x", b"2"), ("ö\n '$(x)", b"3"), ("./a//b", b"4")):
            info = tarfile.TarInfo(name)
            info.size = len(content)
            file.addfile(info, io.BytesIO(content))
    utils.extract_archive(tmp_path / "a.tar", tmp_path / "out")
    assert (tmp_path / "out" / "x").read_bytes() == b"2"
    assert (tmp_path / "out" / "ö\n '$(x)").read_bytes() == b"3"
    assert (tmp_path / "out" / "a" / "b").read_bytes() == b"4"


def test_files_that_are_there(tmp_path: Path) -> None:
    """Files of the same name are replaced, others stay; a folder is no place for a file."""
    out = tmp_path / "out"
    (out / "x").mkdir(parents=True)
    (out / "x" / "old").write_bytes(b"old")
    (out / "x" / "y").write_bytes(b"old")
    utils.extract_archive(_tar(tmp_path / "a.tar", {"x/y": b"new"}), out)
    assert (out / "x" / "y").read_bytes() == b"new"
    assert (out / "x" / "old").read_bytes() == b"old"
    for members in ({"z": b"1", "x": b"2"}, {"z": b"1", "x/y/z": b"2"}):
        with pytest.raises(RuntimeError, match=r"a\.tar: its f.* cannot be put at .*x.*move that"):
            utils.extract_archive(_tar(tmp_path / "a.tar", members), out)
        assert sorted(os.listdir(out)) == ["x"]


_UNPACK = """
import sys
from flambeau.vision.datasets import _extract, utils
print("ready", flush=True)
utils.extract_archive(sys.argv[1], sys.argv[2])
"""


def test_killed_in_the_middle(tmp_path: Path) -> None:
    """What is there afterwards is nothing, or something that is known to be unfinished, or all."""
    names = [f"top/{number}" for number in range(400)]
    archive = _tar(tmp_path / "a.tar.gz", dict.fromkeys(names, DATA[:4096]), "w:gz")
    out = tmp_path / "out"
    for milliseconds in (3, 30):
        command = [sys.executable, "-c", _UNPACK, str(archive), str(out)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            process.stdout.readline()
            time.sleep(milliseconds / 1000)
            process.kill()
        if (out / "top").exists():
            assert len(os.listdir(out / "top")) == 400
        utils.extract_archive(archive, out)
        assert os.listdir(out) == ["top"]
        assert len(os.listdir(out / "top")) == 400
        shutil.rmtree(out)


def test_left_over_by_one_that_was_killed(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "a.tar", {"x": b"1"})
    (tmp_path / "out" / ".extracting-a.tar" / "deep").mkdir(parents=True)
    assert _extract.unfinished(str(tmp_path / "out")) is not None
    utils.extract_archive(archive, tmp_path / "out")
    assert os.listdir(tmp_path / "out") == ["x"]
    assert _extract.unfinished(str(tmp_path / "out")) is None


def test_several_processes(tmp_path: Path) -> None:
    archive = _tar(tmp_path / "a.tar", {"x/y": DATA, "z": DATA})
    command = [sys.executable, "-c", _UNPACK, str(archive), str(tmp_path / "out")]
    running = [subprocess.Popen(command, stdout=subprocess.DEVNULL) for _ in range(2)]
    assert [process.wait() for process in running] == [0, 0]
    assert sorted(os.listdir(tmp_path / "out")) == ["x", "z"]
    assert (tmp_path / "out" / "z").read_bytes() == DATA
