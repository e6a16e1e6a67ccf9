"""Neural networks: modules, and the functions they are made of."""

import typing as _typing

from flambeau._core.lazy import lazy as _lazy
from flambeau.nn import functional as functional
from flambeau.nn import parallel as parallel
from flambeau.nn import parameter as parameter
from flambeau.nn._factory import factory_kwargs as factory_kwargs
from flambeau.nn.modules import *
from flambeau.nn.parallel import DataParallel as DataParallel
from flambeau.nn.parameter import Buffer as Buffer
from flambeau.nn.parameter import Parameter as Parameter
from flambeau.nn.parameter import UninitializedBuffer as UninitializedBuffer
from flambeau.nn.parameter import UninitializedParameter as UninitializedParameter

# Modules that programs reach as attributes without importing them, loaded when asked for.
if _typing.TYPE_CHECKING:
    from flambeau.nn import attention as attention
    from flambeau.nn import common_types as common_types
    from flambeau.nn import grad as grad
    from flambeau.nn import init as init
    from flambeau.nn import intrinsic as intrinsic
    from flambeau.nn import quantized as quantized
    from flambeau.nn import utils as utils
else:
    __getattr__ = _lazy(__name__, "attention common_types grad init intrinsic quantized utils")
