"""The modules of neural networks, one subject a file."""

from flambeau.nn.modules import (
    activation,
    adaptive,
    batchnorm,
    channelshuffle,
    container,
    conv,
    distance,
    dropout,
    flatten,
    fold,
    instancenorm,
    lazy,
    linear,
    linear_cross_entropy,
    loss,
    normalization,
    padding,
    pixelshuffle,
    pooling,
    rnn,
    sparse,
    transformer,
    upsampling,
)
from flambeau.nn.modules.activation import *
from flambeau.nn.modules.adaptive import *
from flambeau.nn.modules.batchnorm import *
from flambeau.nn.modules.channelshuffle import *
from flambeau.nn.modules.container import *
from flambeau.nn.modules.conv import *
from flambeau.nn.modules.distance import *
from flambeau.nn.modules.dropout import *
from flambeau.nn.modules.flatten import *
from flambeau.nn.modules.fold import *
from flambeau.nn.modules.instancenorm import *
from flambeau.nn.modules.lazy import *
from flambeau.nn.modules.linear import *
from flambeau.nn.modules.linear_cross_entropy import *
from flambeau.nn.modules.loss import *
from flambeau.nn.modules.module import Module
from flambeau.nn.modules.normalization import *
from flambeau.nn.modules.padding import *
from flambeau.nn.modules.pixelshuffle import *
from flambeau.nn.modules.pooling import *
from flambeau.nn.modules.rnn import *
from flambeau.nn.modules.sparse import *
from flambeau.nn.modules.transformer import *
from flambeau.nn.modules.upsampling import *

# Only the modules: the names of the files would hide `nn.utils` and others.
__all__ = ["Module"]
__all__ += activation.__all__
__all__ += adaptive.__all__
__all__ += batchnorm.__all__
__all__ += channelshuffle.__all__
__all__ += container.__all__
__all__ += conv.__all__
__all__ += distance.__all__
__all__ += dropout.__all__
__all__ += flatten.__all__
__all__ += fold.__all__
__all__ += instancenorm.__all__
__all__ += lazy.__all__
__all__ += linear.__all__
__all__ += linear_cross_entropy.__all__
__all__ += loss.__all__
__all__ += normalization.__all__
__all__ += padding.__all__
__all__ += pixelshuffle.__all__
__all__ += pooling.__all__
__all__ += rnn.__all__
__all__ += sparse.__all__
__all__ += transformer.__all__
__all__ += upsampling.__all__
