"""Function transforms: derivatives and maps over a dimension, which nest in any order."""

from flambeau.func._derivatives import grad as grad
from flambeau.func._derivatives import grad_and_value as grad_and_value
from flambeau.func._derivatives import jvp as jvp
from flambeau.func._derivatives import linearize as linearize
from flambeau.func._derivatives import value_and_grad as value_and_grad
from flambeau.func._derivatives import vjp as vjp
from flambeau.func._jacobians import hessian as hessian
from flambeau.func._jacobians import jacfwd as jacfwd
from flambeau.func._jacobians import jacrev as jacrev
from flambeau.func._modules import functional_call as functional_call
from flambeau.func._modules import stack_module_state as stack_module_state
from flambeau.func._vmap import vmap as vmap
