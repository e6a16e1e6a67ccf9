"""Methods of tensors that concern the graph."""

from opgen.model import op, python

op(
    "backward(input: Tensor, gradient: Tensor | None = None, retain_graph: bool | None = None,"
    " create_graph: bool = False, inputs: Any = None) -> None",
    kind=python,
    forms="method",
    body="flambeau.autograd._tensor:backward",
    doc="Adds the gradients of the tensor to the .grad of the leaves it was computed from.",
)
op(
    "register_hook(input: Tensor, hook: Any) -> Any",
    kind=python,
    forms="method",
    body="flambeau.autograd._tensor:register_hook",
    doc="Calls hook(grad) when the gradient is computed; what it returns, if anything, replaces it.",
)
op(
    "register_post_accumulate_grad_hook(input: Tensor, hook: Any) -> Any",
    kind=python,
    forms="method",
    body="flambeau.autograd._tensor:register_post_accumulate_grad_hook",
    doc="Calls hook(leaf) when the gradient has been added to the leaf's .grad.",
)
op(
    "retain_grad(input: Tensor) -> None",
    kind=python,
    forms="method",
    body="flambeau.autograd._tensor:retain_grad",
    doc="Keeps the gradient of a tensor that is not a leaf in its .grad, too.",
)
