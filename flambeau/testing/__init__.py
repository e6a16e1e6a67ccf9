"""Help for tests: ``assert_close`` and ``make_tensor``."""

from flambeau.testing._comparison import assert_allclose, assert_close
from flambeau.testing._creation import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]
