"""Automatic differentiation of what operators compute."""

from flambeau.autograd.engine import backward as backward
from flambeau.autograd.engine import grad as grad
