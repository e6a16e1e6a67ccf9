"""Dropout: random elements or whole channels set to 0. For the same seed the same as PyTorch's."""

from opgen.model import composite, floating, native, none, op, pointwise

_FUNCTIONAL = "input: Tensor, p: float = 0.5, training: bool = {training}, inplace: bool = False"

op(
    "_masked_scale(mask: Tensor, input: Tensor, scale: float) -> Tensor",
    kind=pointwise,
    dtypes=floating,
    forms="inner",
    cpp="masked_scale",
    bool_inputs=("mask",),
    grad={"input": "_masked_scale(mask, grad, scale)"},
    node="MulBackward0",
    doc="input times scale where the mask is set, times 0 elsewhere.",
)
op(
    "_dropout_mask(input: Tensor, p: float, channels: bool, *, generator: Generator | None = None)"
    " -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad=none,
    random=True,
    doc="False with probability p for each element of the input, or each channel.",
)
op(
    "native_dropout(input: Tensor, p: float, train: bool | None) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    random=True,
    doc="dropout, with the mask of the elements that were kept.",
)

_RULES = {
    "dropout": "Sets elements to 0 with probability p and scales the others by 1 / (1 - p).",
    "feature_dropout": "Sets channels to 0 with probability p and scales the others by 1 / (1 - p).",
    "alpha_dropout": "Sets elements to the lower limit of SELU with probability p, then shifts"
    " and scales so that mean and variance stay.",
    "feature_alpha_dropout": "Sets channels to the lower limit of SELU with probability p, then"
    " shifts and scales so that mean and variance stay.",
}
for _name, _doc in _RULES.items():
    op(
        f"{_name}(input: Tensor, p: float, train: bool) -> Tensor",
        kind=native,
        dtypes=floating,
        forms="function",
        grad=composite,
        random=True,
        doc=f"{_doc} Returns the input itself unless train.",
    )
    op(
        f"{_name}_(input: Tensor, p: float, train: bool) -> Tensor",
        kind=native,
        dtypes=floating,
        forms="function",
        mutates=True,
        grad=composite,
        random=True,
        doc=f"{_name} in place.",
    )

for _name, _doc, _training in (
    ("dropout", _RULES["dropout"], True),
    ("dropout1d", f"{_RULES['feature_dropout']} Of (N, C, L) or (C, L).", True),
    ("dropout2d", f"{_RULES['feature_dropout']} Of (N, C, H, W).", True),
    ("dropout3d", f"{_RULES['feature_dropout']} Of (N, C, D, H, W) or (C, D, H, W).", True),
    ("alpha_dropout", _RULES["alpha_dropout"], False),
    ("feature_alpha_dropout", _RULES["feature_alpha_dropout"], False),
):
    op(
        f"{_name}({_FUNCTIONAL.format(training=_training)}) -> Tensor",
        kind=native,
        namespace="nn.functional",
        dtypes=floating,
        forms="function",
        grad=composite,
        random=True,
        doc=f"{_doc} Returns the input itself unless training.",
    )
