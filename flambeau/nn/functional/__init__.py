"""The functions that neural networks are made of, one subject a file."""

import typing as _typing

from flambeau.nn.functional.activation import *
from flambeau.nn.functional.attention import *
from flambeau.nn.functional.convolution import *
from flambeau.nn.functional.distance import *
from flambeau.nn.functional.dropout import *
from flambeau.nn.functional.embedding import *
from flambeau.nn.functional.folding import *
from flambeau.nn.functional.grouped import *
from flambeau.nn.functional.linear import *
from flambeau.nn.functional.linear_cross_entropy import *
from flambeau.nn.functional.loss import *
from flambeau.nn.functional.normalization import *
from flambeau.nn.functional.padding import *
from flambeau.nn.functional.pooling import *
from flambeau.nn.functional.resampling import *

# The functions, and not the files they are in.
if not _typing.TYPE_CHECKING:
    __all__ = [name for name, value in globals().items() if callable(value) and name[0] != "_"]

    def __dir__():
        return __all__
