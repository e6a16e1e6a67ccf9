"""Weights by their address, and models by their code. The network is a folder of this machine."""

from __future__ import annotations

import hashlib
import io
import os
import shutil
import subprocess
import sys
import zipfile
from email.message import Message
from urllib.error import HTTPError

import pytest

import flambeau as fb
from flambeau import compat, hub
from flambeau.hub import _download, _repository

SOURCE = '''
"""Models."""
dependencies = ["json"]
from beside import factor

def scaled(value, by=factor):
    """A value, scaled."""
    return value * by

def _hidden():
    pass
'''


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """The folder that things are kept in."""
    monkeypatch.setattr(_download, "_chosen_dir", None)
    hub.set_dir(tmp_path / "hub")
    return tmp_path / "hub"


class TestWeights:
    @pytest.fixture
    def path(self, tmp_path):
        fb.save({"x": fb.arange(3)}, tmp_path / "net.pt")
        digest = hashlib.sha256((tmp_path / "net.pt").read_bytes()).hexdigest()[:8]
        return (tmp_path / "net.pt").rename(tmp_path / f"net-{digest}.pt")

    def test_is_fetched_once(self, path, folder, capsys):
        url = path.as_uri()
        assert hub.load_state_dict_from_url(url, progress=False)["x"].tolist() == [0, 1, 2]
        assert "Downloading" in capsys.readouterr().err
        path.unlink()
        assert hub.load_state_dict_from_url(url, progress=False)["x"].tolist() == [0, 1, 2]
        assert "Downloading" not in capsys.readouterr().err
        assert os.listdir(folder / "checkpoints") == [path.name]

    def test_hash(self, path, tmp_path):
        hub.load_state_dict_from_url(path.as_uri(), check_hash=True, progress=False)
        with pytest.raises(RuntimeError, match=r'invalid hash value .expected "0123"'):
            hub.download_url_to_file(path.as_uri(), str(tmp_path / "x"), "0123", progress=False)
        assert not (tmp_path / "x").exists()

    def test_no_code_is_run(self, tmp_path):
        fb.save(fb.nn.Linear(1, 1), tmp_path / "net.pt")
        with pytest.raises(Exception, match="Unsupported global"):
            hub.load_state_dict_from_url((tmp_path / "net.pt").as_uri(), progress=False)

    def test_older_name(self, path):
        state = fb.utils.model_zoo.load_url(path.as_uri(), progress=False)
        assert state["x"].tolist() == [0, 1, 2]


def test_folder(monkeypatch):
    monkeypatch.setattr(_download, "_chosen_dir", None)
    monkeypatch.setenv("TORCH_HOME", "/somewhere")
    assert hub.get_dir() == "/somewhere/hub"
    monkeypatch.delenv("TORCH_HOME")
    monkeypatch.setenv("XDG_CACHE_HOME", "/cache")
    assert hub.get_dir() == "/cache/torch/hub"


class TestModels:
    @pytest.fixture
    def repository(self, tmp_path):
        (tmp_path / "repo").mkdir()
        (tmp_path / "repo" / "hubconf.py").write_text(SOURCE)
        (tmp_path / "repo" / "beside.py").write_text("factor = 3")
        return tmp_path / "repo"

    @pytest.fixture
    def github(self, repository, tmp_path, monkeypatch):
        """GitHub, as far as it is needed."""
        with zipfile.ZipFile(tmp_path / "main", "w") as archive:
            for path in repository.iterdir():
                archive.write(path, f"me-net-1234/{path.name}")
        address = (tmp_path / "main").as_uri()
        monkeypatch.setattr(_repository, "_address", lambda owner, name, branch: address)
        monkeypatch.setattr(_repository, "_page", lambda owner, name, branch: address)
        return tmp_path / "main"

    def test_in_a_folder(self, repository):
        assert hub.load(str(repository), "scaled", 2, source="local") == 6
        assert hub.load(str(repository), "scaled", value=2, by=5, source="local") == 10
        assert not compat.is_installed()  # this code has not asked for torch

    def test_from_github(self, github, folder):
        quiet = {"trust_repo": True, "verbose": False}
        assert hub.load("me/net", "scaled", 2, **quiet) == 6
        github.unlink()
        assert hub.load("me/net:main", "scaled", 2, verbose=False) == 6  # trusted and kept
        assert hub.list("me/net", verbose=False) == ["scaled"]
        assert hub.help("me/net", "scaled") == "A value, scaled."
        assert sorted(os.listdir(folder)) == ["me_net_main", "trusted_list"]

    def test_damaged_archive(self, github):
        quiet = {"trust_repo": True, "verbose": False}
        assert hub.load("me/net", "scaled", 2, **quiet) == 6
        github.write_bytes(b"no archive")
        with pytest.raises(zipfile.BadZipFile):
            hub.load("me/net", "scaled", 2, force_reload=True, **quiet)
        assert hub.load("me/net", "scaled", 2, **quiet) == 6  # the older one

    def test_nobody_is_trusted_unasked(self, github, monkeypatch):
        answers = iter(["n", "yes"])
        monkeypatch.setattr("builtins.input", lambda question: next(answers))
        with pytest.raises(PermissionError, match="trust_repo=True"):
            hub.load("me/net", "scaled", 2, verbose=False)
        assert hub.load("me/net", "scaled", 2, verbose=False) == 6

    def test_offline(self, monkeypatch, tmp_path, folder, repository):
        """What is kept is used; otherwise the error says where to put it."""
        monkeypatch.setattr(_repository, "_page", lambda *names: "http://127.0.0.1:1/")
        with pytest.raises(RuntimeError, match=r"no internet connection.*me_net_main.*local"):
            hub.load("me/net", "scaled", 2, trust_repo=True)
        shutil.copytree(repository, folder / "me_net_master")
        assert hub.load("me/net", "scaled", 2, verbose=False) == 6  # put there by hand
        assert hub.list("me/net", force_reload=False, verbose=False) == ["scaled"]

    def test_older_branch(self, github, monkeypatch, folder):
        def page(*names):
            raise HTTPError("https://github.com", 404, "Not Found", Message(), io.BytesIO())

        monkeypatch.setattr(_repository, "open_url", page)
        assert hub.load("me/net", "scaled", 2, trust_repo=True, verbose=False) == 6
        assert (folder / "me_net_master").is_dir()

    def test_known_owners(self, github, monkeypatch):
        monkeypatch.setattr("builtins.input", lambda question: "n")
        assert hub.load("pytorch/vision", "scaled", 2, verbose=False) == 6
        with pytest.raises(PermissionError):
            hub.load("pytorch/vision", "scaled", 2, trust_repo=False, verbose=False)

    def test_code_for_torch(self, tmp_path):
        """It imports `torch`, now and when it is called, and gets Flambeau."""
        (tmp_path / "late.py").write_text("import torch\none = torch.ones(1)")
        (tmp_path / "hubconf.py").write_text(
            "dependencies = ['torch', 'torchvision']\nimport torch, torchvision\n"
            "def net():\n    import late\n    return torchvision.models.squeezenet1_1(), late.one"
        )
        program = (
            "import sys, flambeau as torch\n"
            "net, one = torch.hub.load(sys.argv[1], 'net', source='local')\n"
            "assert isinstance(net, torch.nn.Module) and isinstance(one, torch.Tensor)\n"
            "assert sys.argv[1] not in sys.path\n"
            "import torch as other\n"
            "assert other.nn is torch.nn\n"
        )
        command = [sys.executable, "-c", program, str(tmp_path)]
        subprocess.run(command, check=True, timeout=120)

    def test_mistakes(self, repository, tmp_path):
        with pytest.raises(RuntimeError, match="Cannot find callable other"):
            hub.load(str(repository), "other", source="local")
        with pytest.raises(ValueError, match="Unknown source"):
            hub.load(str(repository), "scaled", source="moon")
        with pytest.raises(ValueError, match="owner/name"):
            hub.load("net", "scaled")
        with pytest.raises(FileNotFoundError, match="hubconf"):
            hub.load(str(tmp_path), "scaled", source="local")
        (repository / "hubconf.py").write_text("dependencies = ['no_such_module']")
        with pytest.raises(RuntimeError, match="Missing dependencies: no_such_module"):
            hub.load(str(repository), "scaled", source="local")
