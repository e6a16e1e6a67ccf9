"""``torch.linalg``: linear algebra."""

from flambeau import _C
from flambeau._C.linalg import *  # noqa: F403

LinAlgError = _C._LinAlgError
