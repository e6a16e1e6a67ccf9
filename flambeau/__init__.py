"""Flambeau: a lighter torch. ``import flambeau as torch`` is meant to work."""

import importlib as _importlib
import typing as _typing
from math import e as e
from math import inf as inf
from math import nan as nan
from math import pi as pi

# The order matters: each of these uses names of the package that those above it have brought.
# isort: off
from flambeau._core import loading as _loading  # noqa: F401  (it loads the native module)
from flambeau._C import *
from flambeau._C import _install_source_locations
from flambeau._C import _dirichlet_grad as _dirichlet_grad
from flambeau._C import _sample_dirichlet as _sample_dirichlet
from flambeau._C import _standard_gamma as _standard_gamma
from flambeau._C import _standard_gamma_grad as _standard_gamma_grad
from flambeau._core.lazy import lazy as _lazy
from flambeau._core.typeinfo import *
from flambeau._core.printing import *
from flambeau._core.settings import *
from flambeau._core.legacy import *
from flambeau._core.storage import *
from flambeau._core.interop import *
from flambeau._core.overriding import _assert as _assert
from flambeau._core.tensor import *
from flambeau._limits.refusing import refused_in as _refused_in
from flambeau._core import native_names as _native_names  # noqa: F401  (it adds to the native module)
from flambeau._core.grad_mode import *
from flambeau.random import get_rng_state as get_rng_state
from flambeau.random import initial_seed as initial_seed
from flambeau.random import manual_seed as manual_seed
from flambeau.random import seed as seed
from flambeau.random import set_rng_state as set_rng_state
from flambeau import random as random
from flambeau import version as version
from flambeau.version import __version__ as __version__
# isort: on

# Files of the package are not the user's: errors name the line that called into it.
_install_source_locations(__file__.removesuffix("__init__.py"))
del _install_source_locations

newaxis = None
spmm = dsmm = mm  # noqa: F405  (which takes sparse matrices too)
legacy_contiguous_format = contiguous_format  # noqa: F405

# Modules that programs reach as attributes without importing them, loaded when asked for.
if _typing.TYPE_CHECKING:
    from flambeau import __config__ as __config__
    from flambeau import _dynamo as _dynamo
    from flambeau import _inductor as _inductor
    from flambeau import _lowrank as _lowrank
    from flambeau import _subclasses as _subclasses
    from flambeau import _utils as _utils
    from flambeau import accelerator as accelerator
    from flambeau import amp as amp
    from flambeau import ao as ao
    from flambeau import autograd as autograd
    from flambeau import backends as backends
    from flambeau import compat as compat
    from flambeau import compiler as compiler
    from flambeau import cpu as cpu
    from flambeau import cuda as cuda
    from flambeau import datasets as datasets
    from flambeau import distributed as distributed
    from flambeau import distributions as distributions
    from flambeau import export as export
    from flambeau import fft as fft
    from flambeau import func as func
    from flambeau import functional as functional
    from flambeau import futures as futures
    from flambeau import fx as fx
    from flambeau import hub as hub
    from flambeau import jit as jit
    from flambeau import library as library
    from flambeau import linalg as linalg
    from flambeau import masked as masked
    from flambeau import mps as mps
    from flambeau import mtia as mtia
    from flambeau import multiprocessing as multiprocessing
    from flambeau import nested as nested
    from flambeau import nn as nn
    from flambeau import onnx as onnx
    from flambeau import optim as optim
    from flambeau import overrides as overrides
    from flambeau import profiler as profiler
    from flambeau import quantization as quantization
    from flambeau import return_types as return_types
    from flambeau import serialization as serialization
    from flambeau import signal as signal
    from flambeau import sparse as sparse
    from flambeau import special as special
    from flambeau import storage as storage
    from flambeau import testing as testing
    from flambeau import types as types
    from flambeau import utils as utils
    from flambeau import vision as vision
    from flambeau import xpu as xpu
    from flambeau._core.checks import _assert_async as _assert_async
    from flambeau._core.checks import _check as _check
    from flambeau._core.checks import _check_index as _check_index
    from flambeau._core.checks import _check_is_size as _check_is_size
    from flambeau._core.checks import _check_not_implemented as _check_not_implemented
    from flambeau._core.checks import _check_tensor_all as _check_tensor_all
    from flambeau._core.checks import _check_type as _check_type
    from flambeau._core.checks import _check_value as _check_value
    from flambeau._core.checks import _shape_as_tensor as _shape_as_tensor
    from flambeau._core.device_modules import get_device_module as get_device_module
    from flambeau._core.legacy import range as range
    from flambeau._core.streams import Event as Event
    from flambeau._core.streams import Stream as Stream
    from flambeau._core.symbolic import SymBool as SymBool
    from flambeau._core.symbolic import SymFloat as SymFloat
    from flambeau._core.symbolic import SymInt as SymInt
    from flambeau._core.symbolic import sym_float as sym_float
    from flambeau._core.symbolic import sym_int as sym_int
    from flambeau._core.symbolic import sym_ite as sym_ite
    from flambeau._core.symbolic import sym_max as sym_max
    from flambeau._core.symbolic import sym_min as sym_min
    from flambeau._core.symbolic import sym_not as sym_not
    from flambeau._core.symbolic import sym_sqrt as sym_sqrt
    from flambeau._core.symbolic import sym_sum as sym_sum
    from flambeau._display.progress import progress as progress
    from flambeau._limits.classes import classes as classes
    from flambeau._lowrank import pca_lowrank as pca_lowrank
    from flambeau._lowrank import svd_lowrank as svd_lowrank
    from flambeau._operators.control import cond as cond
    from flambeau._operators.control import while_loop as while_loop
    from flambeau._operators.inplace import addmv_ as addmv_
    from flambeau._operators.inplace import as_strided_ as as_strided_
    from flambeau._operators.inplace import clamp_ as clamp_
    from flambeau._operators.inplace import clamp_max_ as clamp_max_
    from flambeau._operators.inplace import clamp_min_ as clamp_min_
    from flambeau._operators.inplace import clip_ as clip_
    from flambeau._operators.inplace import gcd_ as gcd_
    from flambeau._operators.inplace import index_put_ as index_put_
    from flambeau._operators.inplace import lcm_ as lcm_
    from flambeau._operators.inplace import ldexp_ as ldexp_
    from flambeau._operators.inplace import logit_ as logit_
    from flambeau._operators.inplace import nan_to_num_ as nan_to_num_
    from flambeau._operators.inplace import round_ as round_
    from flambeau._operators.inplace import square_ as square_
    from flambeau._operators.inplace import xlogy_ as xlogy_
    from flambeau._ops import ops as ops
    from flambeau.amp import GradScaler as GradScaler
    from flambeau.amp import autocast as autocast
    from flambeau.amp._switches import *
    from flambeau.compiler._compile import compile as compile
    from flambeau.func import vmap as vmap
    from flambeau.futures import Future as Future
    from flambeau.jit import ScriptModule as ScriptModule
    from flambeau.library import Tag as Tag
    from flambeau.serialization import load as load
    from flambeau.serialization import save as save
    from flambeau.serialization._file_reader import PyTorchFileReader as PyTorchFileReader
    from flambeau.storage import BFloat16Storage as BFloat16Storage
    from flambeau.storage import BoolStorage as BoolStorage
    from flambeau.storage import ByteStorage as ByteStorage
    from flambeau.storage import CharStorage as CharStorage
    from flambeau.storage import ComplexDoubleStorage as ComplexDoubleStorage
    from flambeau.storage import ComplexFloatStorage as ComplexFloatStorage
    from flambeau.storage import DoubleStorage as DoubleStorage
    from flambeau.storage import FloatStorage as FloatStorage
    from flambeau.storage import HalfStorage as HalfStorage
    from flambeau.storage import IntStorage as IntStorage
    from flambeau.storage import LongStorage as LongStorage
    from flambeau.storage import ShortStorage as ShortStorage
    from flambeau.storage import Storage as Storage
else:
    # In this form, because `from flambeau import fft` would find the native module of that name.
    import flambeau.fft as fft  # noqa: F401
    import flambeau.linalg as linalg  # noqa: F401
    import flambeau.special as special  # noqa: F401

    globals().update(_refused_in(""))

    del nn  # the native module: the package of that name is loaded when asked for
    _later = _lazy(
        "flambeau",
        "__config__ _dynamo _inductor _lowrank _subclasses _tensor_str _utils accelerator amp ao "
        "autograd backends compat compiler cpu cuda datasets distributed distributions export "
        "func functional futures fx hub jit library masked mps mtia multiprocessing nested nn "
        "onnx optim overrides profiler quantization return_types serialization signal sparse "
        "storage testing types utils vision xpu",
        {
            "flambeau._C": (
                "_amp_foreach_non_finite_check_and_unscale_ _amp_update_scale_ _fused_adagrad_ "
                "_fused_adam_ _fused_adamw_ _fused_sgd_"
            ),
            "flambeau._core.checks": (
                "_assert_async _check _check_index _check_is_size _check_not_implemented "
                "_check_tensor_all _check_type _check_value _shape_as_tensor"
            ),
            "flambeau._core.device_modules": "get_device_module",
            "flambeau._core.legacy": "range",
            "flambeau._core.streams": "Event Stream",
            "flambeau._core.symbolic": (
                "SymBool SymFloat SymInt sym_float sym_int sym_ite sym_max sym_min sym_not "
                "sym_sqrt sym_sum"
            ),
            "flambeau._display.progress": "progress",
            "flambeau._limits.classes": "classes",
            "flambeau._lowrank": "pca_lowrank svd_lowrank",
            "flambeau._operators.control": "cond while_loop",
            "flambeau._operators.inplace": (
                "addmv_ as_strided_ clamp_ clamp_max_ clamp_min_ clip_ gcd_ index_put_ lcm_ "
                "ldexp_ logit_ nan_to_num_ round_ square_ xlogy_"
            ),
            "flambeau._ops": "ops",
            "flambeau.amp": "GradScaler autocast",
            "flambeau.amp._switches": (
                "autocast_decrement_nesting autocast_increment_nesting clear_autocast_cache "
                "get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype "
                "is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled "
                "set_autocast_cache_enabled set_autocast_cpu_dtype set_autocast_cpu_enabled "
                "set_autocast_dtype set_autocast_enabled set_autocast_gpu_dtype"
            ),
            "flambeau.compiler._compile": "compile",
            "flambeau.func": "vmap",
            "flambeau.futures": "Future",
            "flambeau.jit": "ScriptModule",
            "flambeau.library": "Tag",
            "flambeau.serialization": "load save",
            "flambeau.serialization._file_reader": "PyTorchFileReader",
            "flambeau.sparse._compressed": (
                "_convert_indices_from_coo_to_csr _convert_indices_from_csr_to_coo"
            ),
            "flambeau.storage": (
                "BFloat16Storage BoolStorage ByteStorage CharStorage ComplexDoubleStorage "
                "ComplexFloatStorage DoubleStorage FloatStorage HalfStorage IntStorage "
                "LongStorage ShortStorage Storage"
            ),
        },
    )

    def __getattr__(name):
        try:
            if name.startswith("_foreach_"):
                return _importlib.import_module("flambeau._operators.foreach").foreach(name[9:])
            if name.endswith("_copy"):
                return _importlib.import_module("flambeau._operators.copies").copying(name)
        except KeyError:  # no operator is called so
            pass
        return _later(name)

    def __dir__():
        return sorted({*globals(), *_later.names})
