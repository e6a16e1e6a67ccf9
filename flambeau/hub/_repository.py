"""Models by their code: functions of the file ``hubconf.py`` in a folder or on GitHub.

Such code is run as it is, so one that comes from the network must be trusted first.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import sys
import zipfile
from collections.abc import Callable
from types import ModuleType
from typing import Any

from flambeau.hub._download import download_url_to_file, get_dir

__all__: list[str] = []

_CONFIG = "hubconf.py"


def load(
    repo_or_dir: str,
    model: str,
    *args: Any,
    source: str = "github",
    trust_repo: bool | str | None = "check",
    force_reload: bool = False,
    verbose: bool = True,
    skip_validation: bool = False,
    **kwargs: Any,
) -> Any:
    """Return what the function ``model`` of a repository's ``hubconf.py`` returns.

    ``repo_or_dir`` is ``"owner/name[:branch]"`` on GitHub, or with ``source="local"`` a folder.
    Code from GitHub runs if ``trust_repo=True`` or once a question in the terminal was answered.
    """
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        repo_or_dir = _fetched(repo_or_dir, force_reload, trust_repo, verbose)
    return _entry(_config_of(repo_or_dir), model)(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
    verbose: bool = True,
) -> Any:
    """Return the names of the models of a repository on GitHub."""
    config = _config_of(_fetched(github, force_reload, trust_repo, verbose))
    return [
        name for name, value in vars(config).items() if callable(value) and not name.startswith("_")
    ]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
) -> str | None:
    """Return the documentation of a model of a repository on GitHub."""
    config = _config_of(_fetched(github, force_reload, trust_repo, True))
    return _entry(config, model).__doc__


def _config_of(folder: str) -> ModuleType:
    path = os.path.join(folder, _CONFIG)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub: there is no {_CONFIG} in {folder}")
    spec = importlib.util.spec_from_file_location(_CONFIG.removesuffix(".py"), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, folder)  # it may import files beside it
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(folder)
    needed = getattr(module, "dependencies", ())
    missing = [name for name in needed if importlib.util.find_spec(name) is None]
    if missing:
        raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
    return module


def _entry(config: ModuleType, model: str) -> Callable[..., Any]:
    function = getattr(config, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    found: Callable[..., Any] = function
    return found


def _fetched(repository: str, is_forced: bool, trust: bool | str | None, is_verbose: bool) -> str:
    """The folder of a repository, fetched unless it is there."""
    owner, name, branch = _parsed(repository)
    _check_trust(owner, name, trust)
    folder = os.path.join(get_dir(), f"{owner}_{name}_{branch.replace('/', '_')}")
    if os.path.isdir(folder) and not is_forced:
        if is_verbose:
            print(f"Using cache found in {folder}", file=sys.stderr)
        return folder
    os.makedirs(get_dir(), exist_ok=True)
    packed = folder + ".zip"
    download_url_to_file(_address(owner, name, branch), packed, progress=is_verbose)
    try:
        _unpack(packed, folder)
    finally:
        os.unlink(packed)
    return folder


def _address(owner: str, name: str, branch: str) -> str:
    return f"https://github.com/{owner}/{name}/zipball/{branch}"


def _parsed(repository: str) -> tuple[str, str, str]:
    path, _, branch = repository.partition(":")
    owner, slash, name = path.partition("/")
    if not slash or not owner or not name or "/" in name:
        raise ValueError(f'hub: expected "owner/name" or "owner/name:branch", got {repository!r}')
    return owner, name, branch or "main"


def _unpack(packed: str, folder: str) -> None:
    """Put what lies in the archive's only folder into ``folder``."""
    temporary = folder + ".new"
    shutil.rmtree(temporary, ignore_errors=True)
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(temporary)  # which keeps names inside of it
    (inner,) = os.listdir(temporary)
    shutil.rmtree(folder, ignore_errors=True)  # an older one stays if the archive is damaged
    os.replace(os.path.join(temporary, inner), folder)
    os.rmdir(temporary)


def _check_trust(owner: str, name: str, trust: bool | str | None) -> None:
    """Ask before code of an unknown repository is run; the answer is remembered."""
    path = os.path.join(get_dir(), "trusted_list")
    known = set()
    if os.path.exists(path):
        with open(path) as file:
            known = set(file.read().split())
    repository = f"{owner}_{name}"
    if repository in known and trust is not False:
        return
    if trust is not True:
        question = (
            f"The repository {owner}/{name} does not belong to the list of trusted repositories "
            "and its code would be run. Do you trust it? (y/N) "
        )
        if not _is_agreed(question):
            raise PermissionError(
                "Untrusted repository. If you trust its code, pass trust_repo=True."
            )
    if repository in known:
        return
    os.makedirs(get_dir(), exist_ok=True)
    with open(path, "a") as file:
        file.write(repository + "\n")


def _is_agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:  # nobody is there
        return False
