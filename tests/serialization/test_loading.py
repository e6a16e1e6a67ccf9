"""Where and how things are loaded: devices, mapped files, allowed classes, and what is no file."""

from __future__ import annotations

import collections
import io
import mmap
import pickle
import struct

import pytest

import flambeau as fb
from flambeau import serialization

from .archives import archive, load, packed, pickled_tensor, saved

STORAGE = struct.pack("<4f", 1, 2, 3, 4)


def on_device(location: str) -> bytes:
    name = b"X" + struct.pack("<I", len(location)) + location.encode()
    return archive(pickled_tensor(location=name), {"0": STORAGE})


class TestMapLocation:
    @pytest.mark.parametrize(
        "place",
        [
            "cpu",
            fb.device("cpu"),
            {"cuda:0": "cpu"},
            lambda storage, location: storage,
        ],
        ids=["text", "device", "dictionary", "function"],
    )
    def test_from_a_device_that_is_not_here(self, place):
        assert load(on_device("cuda:0"), map_location=place).tolist() == [1, 2, 3, 4]

    @pytest.mark.parametrize("place", [None, {"cuda:1": "cpu"}, lambda storage, location: None])
    def test_without_a_place(self, place):
        with pytest.raises(RuntimeError, match=r"CUDA device but .*map_location=torch.device"):
            load(on_device("cuda:0"), map_location=place)

    def test_functions_see_storage_and_location(self):
        seen = []

        def place(storage, location):
            seen.append((type(storage), storage.nbytes(), location))
            return storage

        load(on_device("cuda:3"), map_location=place)
        assert seen == [(fb.UntypedStorage, 16, "cuda:3")]

    def test_unknown_places(self):
        with pytest.raises(RuntimeError, match=r"don't know how to restore .*tagged with moon"):
            load(on_device("moon"))
        with pytest.raises(TypeError, match="map_location"):
            load(on_device("cpu"), map_location=3)

    def test_registered_packages(self, monkeypatch):
        monkeypatch.setattr(serialization._locations, "_packages", [])
        serialization.register_package(5, lambda s: "moon", lambda s, place: s)
        data = saved(fb.ones(2))
        assert b"moon" in data
        assert load(data).tolist() == [1, 1]
        assert serialization.location_tag(fb.ones(1).untyped_storage()) == "moon"
        storage = fb.ones(1).untyped_storage()
        assert serialization.default_restore_location(storage, "anywhere") is storage


class TestMapped:
    @pytest.fixture
    def path(self, tmp_path):
        base = fb.arange(1000.0)
        fb.save({"base": base, "view": base[10:20], "empty": fb.ones(0)}, tmp_path / "x.pt")
        return tmp_path / "x.pt"

    def test_changes_stay_in_memory(self, path):
        state = fb.load(path, mmap=True)
        state["base"][10] = -1
        assert state["view"][0] == -1
        assert fb.load(path)["view"][0] == 10

    def test_memory_is_that_of_the_file(self, path):
        state = fb.load(path, mmap=True)
        with open("/proc/self/maps") as maps:
            lines = [line.split() for line in maps if str(path) in line]
        places = [[int(end, 16) for end in line[0].split("-")] for line in lines]
        assert any(start <= state["base"].data_ptr() < end for start, end in places)
        assert state["base"].data_ptr() % 64 == 0

    def test_storages_end_where_their_records_end(self, tmp_path):
        tensors = {str(n): fb.full((100,), n) for n in range(20)}
        fb.save(tensors, tmp_path / "x.pt")
        state = fb.load(tmp_path / "x.pt", mmap=True)
        for name, tensor in state.items():
            assert tensor.untyped_storage().nbytes() == tensors[name].untyped_storage().nbytes()
            with pytest.raises(RuntimeError, match="storage"):
                tensor.as_strided((101,), (1,))
        for form in ({}, {"_use_new_zipfile_serialization": False}):
            again, once = io.BytesIO(), io.BytesIO()
            fb.save(state["3"], again, **form)
            fb.save(tensors["3"], once, **form)
            assert len(again.getvalue()) == len(once.getvalue())

    def test_shared_with_the_file(self, path):
        with serialization.set_default_mmap_options(mmap.MAP_SHARED):
            fb.load(path, mmap=True)["base"][10] = -1
        assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
        assert fb.load(path)["view"][0] == -1
        with pytest.raises(ValueError, match="MAP_PRIVATE"):
            serialization.set_default_mmap_options(77)

    def test_only_archives_at_paths(self, path, tmp_path):
        with pytest.raises(ValueError, match="file path"):
            fb.load(io.BytesIO(path.read_bytes()), mmap=True)
        fb.save([1], tmp_path / "old", _use_new_zipfile_serialization=False)
        with pytest.raises(RuntimeError, match="mmap can only be used with"):
            fb.load(tmp_path / "old", mmap=True)


class Config:
    def __init__(self, depth):
        self.depth = depth

    def __eq__(self, other):
        return type(other) is Config and self.depth == other.depth


class Slotted:
    __slots__ = ("depth",)


Point = collections.namedtuple("Point", "x y")


class Counts(collections.OrderedDict):
    pass


@pytest.fixture
def _nothing_allowed():
    serialization.clear_safe_globals()
    yield
    serialization.clear_safe_globals()


@pytest.mark.usefixtures("_nothing_allowed")
class TestAllowedClasses:
    def test_message(self):
        with pytest.raises(pickle.UnpicklingError) as refusal:
            load(saved({"config": Config(3)}))
        name = f"{__name__}.Config"
        for part in ("Weights only load failed", f"GLOBAL {name} was not an allowed global"):
            assert part in str(refusal.value)
        assert f"add_safe_globals([{name}])" in str(refusal.value)

    @pytest.mark.parametrize("protocol", [2, 4, 5])
    def test_objects(self, protocol):
        slotted = Slotted()
        slotted.depth = 7
        value = [Config(3), Point(1, fb.ones(2)), Counts(a=1), slotted]
        data = saved(value, pickle_protocol=protocol)
        with serialization.safe_globals([Config, Point, Counts, Slotted]):
            config, point, counts, slots = load(data)
        assert config == Config(3)
        assert type(point) is Point
        assert type(counts) is Counts
        assert counts == {"a": 1}
        assert slots.depth == 7
        assert serialization.get_safe_globals() == []

    def test_added_and_cleared(self):
        serialization.add_safe_globals([Config, Config])
        assert serialization.get_safe_globals() == [Config]
        assert load(saved(Config(1))) == Config(1)
        serialization.clear_safe_globals()
        with pytest.raises(pickle.UnpicklingError):
            load(saved(Config(1)))

    def test_under_another_name(self):
        data = saved(Config(2)).replace(b"test_loading", b"test_leading")
        with serialization.safe_globals([(Config, f"{__name__[:-12]}test_leading.Config")]):
            assert load(data) == Config(2)

    def test_whole_modules(self):
        net = fb.nn.Sequential(fb.nn.Linear(2, 3), fb.nn.ReLU())
        data = saved(net)
        with serialization.safe_globals([fb.nn.Sequential, fb.nn.Linear, fb.nn.ReLU]):
            back = load(data)
        x = fb.randn(1, 2)
        assert fb.equal(back(x), net(x))

    def test_names_in_a_file(self):
        data = saved({"a": Config(1), "b": fb.ones(1), "c": Point(1, 2)}, pickle_protocol=4)
        names = serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
        assert names == [f"{__name__}.Config", f"{__name__}.Point"]
        serialization.add_safe_globals([Config])
        names = serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
        assert names == [f"{__name__}.Point"]

    def test_numbers_of_numpy(self):
        """What programs put beside their weights without noticing."""
        import numpy as np

        data = saved({"best": np.float64(0.5), "history": np.arange(3.0)})
        with pytest.raises(pickle.UnpicklingError, match="numpy"):
            load(data)
        names = serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(data))
        assert "numpy.dtype" in names
        functions = [value.__reduce__()[0] for value in (np.float64(0), np.arange(1))]
        allowed = [*functions, np.dtype, np.ndarray, type(np.dtype("float64"))]
        with serialization.safe_globals(allowed):
            state = load(data)
        assert state["best"] == 0.5
        assert state["history"].tolist() == [0, 1, 2]

    def test_with_trust(self):
        assert load(saved(Config(3)), weights_only=False) == Config(3)


class TestEnvironment:
    def test_forced_trust(self, monkeypatch):
        monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
        assert load(saved(Config(3))) == Config(3)
        with pytest.raises(pickle.UnpicklingError):
            load(saved(Config(3)), weights_only=True)

    def test_forced_distrust(self, monkeypatch):
        monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
        with pytest.raises(pickle.UnpicklingError):
            load(saved(Config(3)), weights_only=False)


class TestByteOrder:
    def swapped(self, **records):
        data = struct.pack(">4f", 1, 2, 3, 4)
        return packed({"data.pkl": pickled_tensor(), "data/0": data, **records})

    def test_big(self):
        assert load(self.swapped(byteorder=b"big")).tolist() == [1, 2, 3, 4]

    def test_default(self):
        big = serialization.LoadEndianness.BIG
        assert serialization.get_default_load_endianness() is None
        serialization.set_default_load_endianness(big)
        try:
            assert load(self.swapped()).tolist() == [1, 2, 3, 4]
        finally:
            serialization.set_default_load_endianness(None)
        with pytest.raises(TypeError):
            serialization.set_default_load_endianness("big")

    def test_unknown(self):
        with pytest.raises(RuntimeError, match="endianness"):
            load(self.swapped(byteorder=b"middle"))


class TestWhatIsNoCheckpoint:
    def test_missing(self, tmp_path):
        with pytest.raises(FileNotFoundError, match="nowhere"):
            fb.load(tmp_path / "nowhere")
        with pytest.raises(IsADirectoryError):
            fb.load(tmp_path)

    def test_empty(self, tmp_path):
        (tmp_path / "x").touch()
        for file in (tmp_path / "x", io.BytesIO()):
            with pytest.raises(EOFError, match="Ran out of input"):
                fb.load(file)

    def test_garbage(self, tmp_path):
        (tmp_path / "x").write_bytes(b"hello world, this is garbage")
        with pytest.raises(pickle.UnpicklingError, match=r"Weights only.*x: "):
            fb.load(tmp_path / "x")

    def test_a_plain_pickle(self):
        with pytest.raises(RuntimeError, match="magic number"):
            load(pickle.dumps({"a": 1}, 2))

    @pytest.mark.parametrize("file", [3, None])
    def test_what_cannot_be_read(self, file):
        with pytest.raises(AttributeError, match="seekable"):
            fb.load(file)

    def test_what_cannot_be_written_to(self):
        with pytest.raises(AttributeError, match="'write' attribute"):
            fb.save([], 3)

    def test_unknown_arguments(self):
        with pytest.raises(TypeError, match="nonsense"):
            load(saved([1]), nonsense=1)

    def test_names_of_a_damaged_pickle(self):
        with pytest.raises(pickle.UnpicklingError, match="damaged"):
            serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(archive(b"X\xff\xff")))

    def test_tar(self):
        with pytest.raises(RuntimeError, match=r"tar archive.*save it again"):
            load(b"sys_info".ljust(257, b"\0") + b"ustar\x00" + bytes(1000))

    def test_streams(self):
        class Stream(io.BytesIO):
            def seek(self, *args):
                raise io.UnsupportedOperation("seek")

        with pytest.raises(io.UnsupportedOperation, match=r"io\.BytesIO"):
            fb.load(Stream(b"PK"))

    @pytest.mark.parametrize("name", ["uint16", "uint64", "float8_e4m3fn", "QInt8Storage"])
    def test_missing_element_types(self, name):
        with pytest.raises(pickle.UnpicklingError, match=rf"torch\.{name}.*convert"):
            load(archive(b"ctorch\n" + name.encode() + b"\n."))

    def test_checksums_may_be_left_out(self):
        serialization.set_crc32_options(False)
        try:
            assert not serialization.get_crc32_options()
            assert load(saved(fb.ones(3))).tolist() == [1, 1, 1]
        finally:
            serialization.set_crc32_options(True)

    def test_data_may_be_left_out(self, tmp_path):
        state = {"large": fb.ones(100_000), "small": fb.ones(3)}
        fb.save(state, tmp_path / "full")
        with serialization.skip_data():
            fb.save(state, tmp_path / "x")
            assert not fb.load(tmp_path / "full")["large"].any()
        assert fb.load(tmp_path / "full")["large"].all()
        back = fb.load(tmp_path / "x")
        assert back["large"].shape == (100_000,)
        assert not back["large"].any()
        assert not back["small"].any()
