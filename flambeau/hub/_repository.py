"""Models by their code: functions of the file ``hubconf.py`` in a folder or on GitHub.

Such code is run as it is, so one that comes from the network must be trusted first. It is written
for PyTorch: unless that is imported already, it finds Flambeau under the name ``torch``.
"""

from __future__ import annotations

import contextlib
import importlib.util
import os
import shutil
import sys
import zipfile
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any
from urllib.error import HTTPError, URLError

from flambeau import compat
from flambeau._limits.accepted import accepted
from flambeau.hub._download import download_url_to_file, get_dir
from flambeau.hub._transfer import open_url

__all__: list[str] = []

_CONFIG = "hubconf.py"
_USUAL_BRANCHES = ("main", "master")
# Whose repositories PyTorch trusts unasked.
_TRUSTED_OWNERS = {"facebookresearch", "facebookincubator", "pytorch", "fairinternal"}


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
    """Return what a function of a repository's `hubconf.py` returns, usually a model.

    Args:
        repo_or_dir: `"owner/name[:branch]"` on GitHub, or a directory with `source="local"`.
        model: Name of the function.
        *args: Its arguments.
        source: `"github"` (the default) or `"local"`.
        trust_repo: Whether code from GitHub may run; `"check"` (the default) asks once.
        force_reload: Whether to download again. Default: False.
        verbose: Whether to tell where the files are. Default: True.
        skip_validation: Whether not to check the branch. Default: False.
        **kwargs: Keyword arguments of the function.

    Example:
        >>> from pathlib import Path
        >>> _ = Path("hubconf.py").write_text("answer = lambda plus=0: 42 + plus")
        >>> torch.hub.load(".", "answer", source="local", plus=1)
        43
    """
    if source not in ("github", "local"):
        raise ValueError(f'Unknown source: "{source}". Allowed values: "github" | "local".')
    if source == "github":
        _look_out_for_forks(repo_or_dir, skip_validation)
        repo_or_dir = _fetched(repo_or_dir, force_reload, trust_repo, verbose)
    with _config_of(repo_or_dir) as config:
        return _entry(config, model)(*args, **kwargs)


def list(
    github: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
    verbose: bool = True,
) -> Any:
    """Return the names of the models of a repository on GitHub."""
    _look_out_for_forks(github, skip_validation)
    with _config_of(_fetched(github, force_reload, trust_repo, verbose)) as config:
        names = vars(config).items()
        return [name for name, value in names if callable(value) and not name.startswith("_")]


def help(
    github: str,
    model: str,
    force_reload: bool = False,
    skip_validation: bool = False,
    trust_repo: bool | str | None = "check",
) -> str | None:
    """Return the documentation of a model of a repository on GitHub."""
    _look_out_for_forks(github, skip_validation)
    with _config_of(_fetched(github, force_reload, trust_repo, True)) as config:
        return _entry(config, model).__doc__


def _look_out_for_forks(repository: str, skip_validation: bool) -> None:
    """Say that a commit of somebody else's copy is not told from one of the repository."""
    if ":" in repository and not skip_validation:
        accepted("torch.hub.load(skip_validation)", stacklevel=2)


@contextlib.contextmanager
def _config_of(folder: str) -> Iterator[ModuleType]:
    """The module of a repository, which may import files beside it, now or when it is called."""
    path = os.path.join(folder, _CONFIG)
    if not os.path.isfile(path):
        raise FileNotFoundError(f"hub: there is no {_CONFIG} in {folder}")
    spec = importlib.util.spec_from_file_location(_CONFIG.removesuffix(".py"), path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    with _on_path(folder), _serving_torch():
        spec.loader.exec_module(module)
        needed = getattr(module, "dependencies", ())
        missing = [name for name in needed if importlib.util.find_spec(name) is None]
        if missing:
            raise RuntimeError(f"Missing dependencies: {', '.join(missing)}")
        yield module


@contextlib.contextmanager
def _on_path(folder: str) -> Iterator[None]:
    sys.path.insert(0, folder)
    try:
        yield
    finally:
        with contextlib.suppress(ValueError):  # it may have been removed by the code itself
            sys.path.remove(folder)


@contextlib.contextmanager
def _serving_torch() -> Iterator[None]:
    """Let code import Flambeau as ``torch``, unless PyTorch is in use here.

    What has done so may import more of it whenever it runs, so it is served from then on.
    """
    if compat.is_installed() or _has_torch():
        yield
        return
    compat.install()
    try:
        yield
    finally:
        if not _has_torch():
            compat.uninstall()


def _has_torch() -> bool:
    return "torch" in sys.modules or "torchvision" in sys.modules


def _entry(config: ModuleType, model: str) -> Callable[..., Any]:
    function = getattr(config, model, None)
    if not callable(function):
        raise RuntimeError(f"Cannot find callable {model} in hubconf")
    found: Callable[..., Any] = function
    return found


def _fetched(repository: str, is_forced: bool, trust: bool | str | None, is_verbose: bool) -> str:
    """The folder of a repository, fetched unless it is there."""
    owner, name, branch = _parsed(repository)
    branch = branch or _default_branch(owner, name, is_forced)
    folder = _folder(owner, name, branch)
    _check_trust(owner, name, trust, is_kept=os.path.isdir(folder))
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


def _folder(owner: str, name: str, branch: str) -> str:
    return os.path.join(get_dir(), f"{owner}_{name}_{branch.replace('/', '_')}")


def _default_branch(owner: str, name: str, is_forced: bool) -> str:
    """The branch that is kept here or, if there is none or a new copy is asked for, GitHub's."""
    kept = [each for each in _USUAL_BRANCHES if os.path.isdir(_folder(owner, name, each))]
    if kept and not is_forced:
        return kept[0]
    try:
        with open_url(_page(owner, name, "main")):
            return "main"
    except HTTPError as error:
        if error.code != 404:
            raise
        return "master"
    except URLError as error:
        if kept:
            return kept[0]
        raise RuntimeError(
            "It looks like there is no internet connection and the repo could not be found in the "
            f"cache ({get_dir()}): unpack it as {_folder(owner, name, 'main')}, or pass its folder "
            'with source="local"'
        ) from error


def _page(owner: str, name: str, branch: str) -> str:
    return f"https://github.com/{owner}/{name}/tree/{branch}/"


def _address(owner: str, name: str, branch: str) -> str:
    return f"https://github.com/{owner}/{name}/zipball/{branch}"


def _parsed(repository: str) -> tuple[str, str, str]:
    """Owner, name and branch, which may be empty."""
    path, _, branch = repository.partition(":")
    owner, slash, name = path.partition("/")
    if not slash or not owner or not name or "/" in name:
        raise ValueError(f'hub: expected "owner/name" or "owner/name:branch", got {repository!r}')
    return owner, name, branch


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


def _check_trust(owner: str, name: str, trust: bool | str | None, is_kept: bool) -> None:
    """Ask before code of an unknown repository is run; the answer is remembered.

    One that is kept here already has been trusted before, or was put here by the user.
    """
    path = os.path.join(get_dir(), "trusted_list")
    known = set()
    if os.path.exists(path):
        with open(path) as file:
            known = set(file.read().split())
    repository = f"{owner}_{name}"
    is_trusted = repository in known or is_kept or owner in _TRUSTED_OWNERS
    if is_trusted and trust is not False:
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
    if is_trusted:
        return
    os.makedirs(get_dir(), exist_ok=True)
    with open(path, "a") as file:
        file.write(repository + "\n")


def _is_agreed(question: str) -> bool:
    try:
        return input(question).strip().lower() in ("y", "yes")
    except EOFError:  # nobody is there
        return False
