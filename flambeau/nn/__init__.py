"""Neural networks: modules, and the functions they are made of."""

from flambeau.nn import functional as functional
from flambeau.nn.modules import *
