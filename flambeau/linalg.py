"""``torch.linalg``: linear algebra."""

from flambeau._C import _LinAlgError as LinAlgError
from flambeau._C.linalg import *  # noqa: F403
