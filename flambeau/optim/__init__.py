"""Optimisers, with PyTorch's names, options and arithmetic; every step is one native pass."""

from flambeau.optim import lr_scheduler as lr_scheduler
from flambeau.optim import swa_utils as swa_utils
from flambeau.optim._adafactor import Adafactor as Adafactor
from flambeau.optim._muon import Muon as Muon
from flambeau.optim._stateless import (
    swap_in_optimizer_params_and_state as swap_in_optimizer_params_and_state,
)
from flambeau.optim.adadelta import Adadelta as Adadelta
from flambeau.optim.adagrad import Adagrad as Adagrad
from flambeau.optim.adam import Adam as Adam
from flambeau.optim.adamax import Adamax as Adamax
from flambeau.optim.adamw import AdamW as AdamW
from flambeau.optim.asgd import ASGD as ASGD
from flambeau.optim.lbfgs import LBFGS as LBFGS
from flambeau.optim.nadam import NAdam as NAdam
from flambeau.optim.optimizer import Optimizer as Optimizer
from flambeau.optim.radam import RAdam as RAdam
from flambeau.optim.rmsprop import RMSprop as RMSprop
from flambeau.optim.rprop import Rprop as Rprop
from flambeau.optim.sgd import SGD as SGD
from flambeau.optim.sparse_adam import SparseAdam as SparseAdam

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adafactor",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Muon",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
    "SparseAdam",
    "lr_scheduler",
    "swa_utils",
    "swap_in_optimizer_params_and_state",
]
