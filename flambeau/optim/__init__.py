"""Optimisers, with PyTorch's names, options and arithmetic; every step is one native pass."""

from flambeau.optim.adam import Adam as Adam
from flambeau.optim.adamw import AdamW as AdamW
from flambeau.optim.optimizer import Optimizer as Optimizer
from flambeau.optim.sgd import SGD as SGD

__all__ = ["SGD", "Adam", "AdamW", "Optimizer"]
