"""Flambeau: a lighter torch."""

from flambeau._C import *  # noqa: F403
from flambeau._C import _standard_gamma
from flambeau import random
from flambeau.random import get_rng_state, initial_seed, manual_seed, seed, set_rng_state
