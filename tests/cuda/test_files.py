"""Files, pickles and processes: tensors between the device and the host."""

import io
import pickle
import zipfile
from collections.abc import Callable
from multiprocessing.reduction import ForkingPickler
from typing import Any

import pytest

import flambeau as fb
import flambeau.multiprocessing
from flambeau import nn
from tests.cuda.moving import CUDA

CPU = fb.device("cpu")


def saved(value: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    fb.save(value, file, **options)
    return file.getvalue()


def load(contents: bytes, **options: Any) -> Any:
    return fb.load(io.BytesIO(contents), **options)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_keep_the_device(protocol: int) -> None:
    x = fb.arange(4.0).to(CUDA)
    views = pickle.loads(pickle.dumps([x, x[1:3], x[:0], nn.Parameter(x.clone())], protocol))
    assert [each.device for each in views] == [CUDA] * 4
    assert views[1].tolist() == [1.0, 2.0]
    assert views[1].data_ptr() == views[0].data_ptr() + 4
    assert views[3].requires_grad


LOCATIONS: list[tuple[Any, fb.device]] = [
    (None, CUDA),
    ("cpu", CPU),
    (CPU, CPU),
    ("cuda", CUDA),
    ("cuda:0", CUDA),
    ({"cuda:0": "cpu"}, CPU),
    (lambda storage, location: storage, CPU),
    (lambda storage, location: storage.cuda(0), CUDA),
]


@pytest.mark.parametrize(("location", "expected"), LOCATIONS)
@pytest.mark.parametrize("zipped", [True, False])
def test_files_of_the_device(location: Any, expected: fb.device, zipped: bool) -> None:
    x = fb.arange(6.0).to(CUDA)
    optimizer = fb.optim.Adam([x])
    x.grad = fb.ones(6, device=CUDA)
    optimizer.step()
    x.grad = None
    state = {"x": x, "view": x.reshape(2, 3).t(), "optimizer": optimizer.state_dict(), "n": 3}
    contents = saved(state, _use_new_zipfile_serialization=zipped)
    loaded = load(contents, map_location=location)
    assert loaded["x"].device == expected
    assert loaded["view"].stride() == (1, 3)
    assert fb.equal(loaded["x"].cpu(), x.cpu())
    assert loaded["optimizer"]["state"][0]["exp_avg"].device == expected


@pytest.mark.parametrize("location", ["cuda", CUDA, {"cpu": "cuda:0"}])
def test_files_of_the_host_go_to_the_device(location: Any) -> None:
    contents = saved({"x": fb.arange(3), "y": fb.ones(2, dtype=fb.bfloat16)})
    loaded = load(contents, map_location=location)
    assert loaded["x"].device == loaded["y"].device == CUDA
    assert loaded["x"].tolist() == [0, 1, 2]
    with fb.device("cuda"):
        assert load(contents)["x"].device == CPU


def with_location(contents: bytes, before: str, after: str) -> bytes:
    """A file whose storages say that they were elsewhere, as PyTorch would have written it."""
    change: Callable[[bytes], bytes] = lambda data: data.replace(  # noqa: E731
        b"X" + len(before).to_bytes(4, "little") + before.encode(),
        b"X" + len(after).to_bytes(4, "little") + after.encode(),
    )
    if not zipfile.is_zipfile(io.BytesIO(contents)):
        return change(contents)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(contents)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            data = old.read(name)
            new.writestr(name, change(data) if name.endswith("data.pkl") else data)
    return out.getvalue()


@pytest.mark.parametrize("zipped", [True, False])
def test_files_of_pytorch_with_storages_of_a_gpu(zipped: bool) -> None:
    """Their pickles differ from those of the host by the name of the place alone."""
    net = nn.Sequential(nn.Linear(3, 2), nn.BatchNorm1d(2))
    contents = saved(net.state_dict(), _use_new_zipfile_serialization=zipped)
    written = with_location(contents, "cpu", "cuda:0")
    assert written != contents
    for location, expected in ((None, CUDA), ("cpu", CPU)):
        loaded = load(written, map_location=location, weights_only=True)
        assert {each.device for each in loaded.values()} == {expected}
        for name, value in net.state_dict().items():
            assert fb.equal(loaded[name].cpu(), value)
    net.cuda().load_state_dict(load(written, map_location="cpu"))
    elsewhere = with_location(contents, "cpu", "cuda:7")
    with pytest.raises(RuntimeError, match=r"CUDA device 7 but torch.cuda.device_count\(\) is"):
        load(elsewhere)
    assert load(elsewhere, map_location="cuda:0")["0.weight"].device == CUDA
    assert load(elsewhere, map_location={"cuda:7": "cuda:0"})["0.weight"].device == CUDA


def test_what_is_written_is_what_pytorch_writes() -> None:
    here, there = fb.arange(3.0), fb.arange(3.0).to(CUDA)
    with zipfile.ZipFile(io.BytesIO(saved(there))) as file:
        name = next(each for each in file.namelist() if each.endswith("data.pkl"))
        found = file.read(name)
    with zipfile.ZipFile(io.BytesIO(with_location(saved(here), "cpu", "cuda:0"))) as file:
        assert file.read(name) == found


def test_other_processes_get_copies_or_an_error() -> None:
    x = fb.arange(3.0).to(CUDA)
    with pytest.raises(RuntimeError, match=r"another process.*\.cpu\(\)"):
        ForkingPickler.dumps(x)
    assert pickle.loads(ForkingPickler.dumps(x.cpu())).tolist() == [0.0, 1.0, 2.0]
