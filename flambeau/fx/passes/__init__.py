"""Passes over graphs."""

from flambeau.fx.passes import graph_drawer as graph_drawer
from flambeau.fx.passes import shape_prop as shape_prop
