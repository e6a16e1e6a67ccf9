"""Programs as graphs: recorded by running them on proxies, changed, and written as Python again."""

from flambeau.fx import immutable_collections as immutable_collections
from flambeau.fx._symbolic_trace import PH as PH
from flambeau.fx._symbolic_trace import Tracer, symbolic_trace, wrap
from flambeau.fx.graph import CodeGen as CodeGen
from flambeau.fx.graph import Graph
from flambeau.fx.graph_module import GraphModule
from flambeau.fx.interpreter import Interpreter, Transformer
from flambeau.fx.node import Node, has_side_effect, map_arg
from flambeau.fx.proxy import Proxy
from flambeau.fx.subgraph_rewriter import replace_pattern

__all__ = [
    "Graph",
    "GraphModule",
    "Interpreter",
    "Node",
    "Proxy",
    "Tracer",
    "Transformer",
    "has_side_effect",
    "map_arg",
    "replace_pattern",
    "symbolic_trace",
    "wrap",
]
