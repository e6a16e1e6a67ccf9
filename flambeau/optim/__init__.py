"""Optimisers, with PyTorch's names, options and arithmetic; every step is one native pass."""

from flambeau.optim import lr_scheduler as lr_scheduler
from flambeau.optim import swa_utils as swa_utils
from flambeau.optim._adafactor import Adafactor as Adafactor
from flambeau.optim._muon import Muon as Muon
from flambeau.optim.adam import Adam as Adam
from flambeau.optim.adamw import AdamW as AdamW
from flambeau.optim.lbfgs import LBFGS as LBFGS
from flambeau.optim.optimizer import Optimizer as Optimizer
from flambeau.optim.sgd import SGD as SGD
from flambeau.optim.sparse_adam import SparseAdam as SparseAdam

__all__ = [
    "LBFGS",
    "SGD",
    "Adafactor",
    "Adam",
    "AdamW",
    "Muon",
    "Optimizer",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
]
