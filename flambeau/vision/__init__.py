"""Image transforms, data sets and pretrained models, under torchvision's names.

Programs that import ``torchvision`` find this package under the import hook. Pillow is needed for
files and for PIL images only (``pip install flambeau[vision]``); tensors need nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from flambeau._core.lazy import lazy as _lazy
from flambeau.vision.version import __version__ as __version__

if TYPE_CHECKING:
    from flambeau.vision import datasets as datasets
    from flambeau.vision import io as io
    from flambeau.vision import models as models
    from flambeau.vision import ops as ops
    from flambeau.vision import transforms as transforms
    from flambeau.vision import tv_tensors as tv_tensors
    from flambeau.vision import utils as utils
else:
    __getattr__ = _lazy(__name__, "datasets io models ops transforms tv_tensors utils")


def set_image_backend(backend: str) -> None:
    """Choose the library that reads images of folders: Pillow is the only one."""
    if backend != "PIL":
        raise ValueError(f"Invalid backend '{backend}'. Options are 'PIL'")


def get_image_backend() -> str:
    """Return the name of the package that reads images of folders."""
    return "PIL"


def set_video_backend(backend: str) -> None:
    """Do nothing, as in torchvision: there is only one name, and no video reader here."""


def get_video_backend() -> str:
    """Return the name of torchvision's default video reader; there is none here."""
    return "pyav"


def disable_beta_transforms_warning() -> None:
    """Do nothing: the warning that this silenced is long gone."""
