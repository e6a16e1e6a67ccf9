"""Archives that lie about themselves, and files with bytes changed at random."""

from __future__ import annotations

import io
import pickle
import random
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import flambeau as fb

from .archives import archive, load, packed, pickled_tensor, saved

REFUSED = (pickle.UnpicklingError, RuntimeError)
END = b"PK\x05\x06"
CENTRAL = b"PK\x01\x02"
STORAGE = bytes(range(16))


def sound() -> bytes:
    return archive(pickled_tensor(), {"0": STORAGE})


def patched(data: bytes, mark: bytes, offset: int, form: str, value: int, which: int = -1) -> bytes:
    """``data`` with a number behind the first or last ``mark`` replaced."""
    at = data.rfind(mark) if which < 0 else data.find(mark)
    changed = bytearray(data)
    struct.pack_into(form, changed, at + offset, value)
    return bytes(changed)


def test_it_is_sound():
    assert load(sound()).numel() == 4


NUMBERS = {
    "number of records": (END, 10, "<H"),
    "size of the table": (END, 12, "<I"),
    "start of the table": (END, 16, "<I"),
    "size of a record": (CENTRAL, 24, "<I"),
    "stored size of a record": (CENTRAL, 20, "<I"),
    "length of a name": (CENTRAL, 28, "<H"),
    "length of an extra field": (CENTRAL, 30, "<H"),
    "length of a comment": (CENTRAL, 32, "<H"),
    "start of a record": (CENTRAL, 42, "<I"),
}


@pytest.mark.parametrize("place", NUMBERS.values(), ids=NUMBERS)
@pytest.mark.parametrize("value", ["most", "much", "one more"])
def test_numbers_of_the_table(place, value):
    mark, offset, form = place
    data = sound()
    (true,) = struct.unpack_from(form, data, data.rfind(mark) + offset)
    largest = 256 ** struct.calcsize(form) - 1
    wrong = {"most": largest, "much": largest // 2, "one more": true + 1}[value]
    with pytest.raises(REFUSED):
        load(patched(data, mark, offset, form, wrong))


def test_headers_of_records():
    for offset in (0, 26, 28):
        with pytest.raises(REFUSED, match=r"header|overlaps|damaged"):
            load(patched(sound(), b"PK\x03\x04", offset, "<H", 0xFFFF))


def test_compressed_records_are_refused():
    records = {"data.pkl": pickled_tensor(), "data/0": STORAGE, "version": b"3\n"}
    with pytest.raises(RuntimeError, match=r"compressed or encrypted.*zip -0"):
        load(packed(records, zipfile.ZIP_DEFLATED))
    bomb = packed({"data.pkl": b"]" * 100_000_000}, zipfile.ZIP_DEFLATED)
    assert len(bomb) < 200_000
    with pytest.raises(RuntimeError, match="compressed"):
        load(bomb)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_records_of_one_name():
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as writer:
        writer.writestr("archive/data.pkl", b"N.")
        writer.writestr("archive/data.pkl", b"]].")
    with pytest.raises(RuntimeError, match="same name"):
        load(file.getvalue())


def test_overlapping_records():
    """Many records of one place would be read many times: a bomb without compression."""
    data = bytearray(archive(b"N.", {str(key): bytes(1000) for key in range(5)}))
    first = data.find(CENTRAL)
    places = [at for at in range(first, len(data)) if data.startswith(CENTRAL, at)]
    start = data[places[3] + 42 : places[3] + 46]
    for place in places[4:]:
        data[place + 42 : place + 46] = start
    with pytest.raises(RuntimeError, match="overlaps"):
        load(bytes(data))


def test_names_are_never_paths(tmp_path):
    for key in ("../../../../etc/passwd", "/etc/passwd", "..", ""):
        text = b"X" + struct.pack("<I", len(key)) + key.encode()
        with pytest.raises(RuntimeError, match="no record"):
            load(archive(pickled_tensor(key=text), {"0": STORAGE}))


@pytest.mark.parametrize("records", [{}, {"other": b"x"}, {"data/data.pkl": b"N."}])
def test_archives_that_are_no_checkpoints(records):
    with pytest.raises(RuntimeError, match="zip archive"):
        load(packed(records) if records else b"PK\x03\x04" + bytes(100))


def test_scripted_modules_say_what_they_are():
    with pytest.raises(RuntimeError, match="TorchScript"):
        load(packed({"data.pkl": b"N.", "constants.pkl": b"N.", "version": b"3\n"}))


@pytest.mark.parametrize("options", [{}, {"_use_new_zipfile_serialization": False}])
def test_every_truncation_is_refused(options):
    data = saved({"a": fb.arange(3), "b": [1, 2.5, "x"]}, **options)
    for end in range(1, len(data)):
        with pytest.raises(REFUSED):
            load(data[:end])


# In a process of its own, so that a crash is seen, with little memory, so that waste is seen too.
FUZZ = """
import io, pickle, random, sys
import flambeau as fb
from tests.fuzz.calls import limit_memory
from tests.serialization.test_hostile_archives import mutated, specimens

limit_memory()
generator = random.Random(int(sys.argv[1]))
outcomes = {"loaded": 0, "refused": 0}
for data in specimens():
    for _ in range(int(sys.argv[2])):
        try:
            fb.load(io.BytesIO(mutated(data, generator)))
            outcomes["loaded"] += 1
        except (pickle.UnpicklingError, RuntimeError):
            outcomes["refused"] += 1
print(outcomes)
"""


def specimens() -> list[bytes]:
    net = fb.nn.Sequential(fb.nn.Linear(2, 3), fb.nn.BatchNorm1d(3))
    state = {"net": net.state_dict(), "epoch": 3, "tags": {"a"}, "rates": (0.1, [1e-3])}
    state["view"] = fb.arange(6).reshape(2, 3).t()
    state["parameter"] = fb.nn.Parameter(fb.ones(2))
    kinds = ({}, {"pickle_protocol": 4}, {"_use_new_zipfile_serialization": False})
    return [saved(state, **options) for options in kinds]


def mutated(data: bytes, generator: random.Random) -> bytes:
    """``data`` with some bytes changed, removed, doubled or moved."""
    changed = bytearray(data)
    for _ in range(generator.choice((1, 1, 2, 5, 20))):
        at = generator.randrange(len(changed))
        match generator.randrange(5):
            case 0:
                changed[at] = generator.randrange(256)
            case 1:
                changed[at] ^= 1 << generator.randrange(8)
            case 2:
                del changed[at : at + generator.randrange(1, 9)]
            case 3:
                changed[at:at] = changed[at : at + generator.randrange(1, 40)]
            case _:
                width = generator.choice((1, 2, 4, 8))
                changed[at : at + width] = generator.choice((b"\xff", b"\x00", b"\x7f")) * width
    return bytes(changed)


@pytest.mark.parametrize("seed", range(2))
def test_changed_bytes_never_crash(seed):
    done = subprocess.run(
        [sys.executable, "-c", FUZZ, str(seed), "700"],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "refused" in done.stdout
