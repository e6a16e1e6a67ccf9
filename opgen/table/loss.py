"""Losses of predictions.

The public functions read the arguments; the operators behind them, with an underscore, take
operands of the same type and shape, and are one pass over the elements each way. `reduction` is a
number: 0 none, 1 mean, 2 sum.
"""

from opgen.model import (
    composite,
    floating,
    floating_complex,
    native,
    none,
    not_implemented,
    numeric,
    op,
    real_bool,
)

OLD = "size_average: bool | None = None, reduce: bool | None = None"
NAMED = f"{OLD}, reduction: str = 'mean'"


def public(
    signature: str, doc: str, dtypes: tuple[str, ...] = floating, autocast: str = "float32"
) -> None:
    """A function of nn.functional that is composed of the operators below."""
    op(
        f"{signature} -> Tensor",
        kind=native,
        namespace="nn.functional",
        dtypes=dtypes,
        forms="function",
        grad=composite,
        doc=doc,
        autocast=autocast,
    )


def numbered(signature: str, name: str, doc: str, dtypes: tuple[str, ...] = floating) -> None:
    """The function of the same name at the top, where reduction is a number."""
    op(
        f"{signature} -> Tensor",
        kind=native,
        dtypes=dtypes,
        forms="function",
        cpp=f"numbered_{name}",
        grad=composite,
        doc=f"{doc} reduction: 0 none, 1 mean, 2 sum.",
        autocast="float32",
    )


# --- element by element

for name, operands, params, node in (
    ("mse_loss", "input target", "", ""),
    ("l1_loss", "input target", "", ""),
    ("smooth_l1_loss", "input target", "beta: float", ""),
    ("huber_loss", "input target", "delta: float", ""),
    ("binary_cross_entropy", "input target", "", ""),
    ("logits_loss", "input target", "", "BinaryCrossEntropyWithLogitsBackward0"),
    (
        "weighted_logits_loss",
        "input target pos_weight",
        "",
        "BinaryCrossEntropyWithLogitsBackward0",
    ),
    ("kl_div", "input target", "log_target: bool", ""),
    ("poisson_loss", "input target", "log_input: bool, eps: float", "PoissonNllLossBackward0"),
    (
        "gaussian_loss",
        "input target var",
        "eps: float, constant: float",
        "GaussianNllLossBackward0",
    ),
    ("hinge_loss", "input target", "margin: float", "HingeEmbeddingLossBackward0"),
    ("ranking_loss", "input target input2", "margin: float", "MarginRankingLossBackward0"),
    ("soft_margin_loss", "input target", "", ""),
):
    tensors = operands.split()
    params_of_call = [each.split(":")[0].strip() for each in params.split(",") if each]
    given = ", ".join([*tensors, *params_of_call, "reduction"])
    declared = ", ".join(
        [*(f"{each}: Tensor" for each in tensors), *([params] if params else []), "reduction: int"]
    )
    op(
        f"_{name}({declared}) -> Tensor",
        kind=native,
        dtypes=floating,
        forms="inner",
        grad={
            each: f"{name}_backward({k}, grad, {given})"
            for k, each in enumerate(tensors)
            if (name, each) != ("hinge_loss", "target")  # which only selects one of two cases
        },
        node=node,
        doc=f"{name} of operands of one type and shape, reduced in the same pass.",
    )
op(
    "_loss_gradient(kind: int, operand: int, gradient: Tensor, x: Tensor, y: Tensor, z: Tensor | None,"
    " p: float, q: float, reduction: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="loss_gradient",
    grad=not_implemented,
    doc="The gradient of a loss of elements by one of its operands; kind is a LossKind.",
)
public(
    f"mse_loss(input: Tensor, target: Tensor, {NAMED}, weight: Tensor | None = None)",
    "The squared error (input - target)^2; a weighted mean is divided by the sum of the weights.",
)
public(
    f"l1_loss(input: Tensor, target: Tensor, {NAMED}, weight: Tensor | None = None)",
    "The absolute error |input - target|; a weighted mean is divided by the sum of the weights.",
    floating_complex,
)
public(
    f"smooth_l1_loss(input: Tensor, target: Tensor, {NAMED}, beta: float = 1.0)",
    "The absolute error, smoothed to a square where it is less than beta.",
)
public(
    "huber_loss(input: Tensor, target: Tensor, reduction: str = 'mean', delta: float = 1.0,"
    " weight: Tensor | None = None)",
    "The Huber loss: half the squared error up to delta, linear beyond.",
)
public(
    f"binary_cross_entropy(input: Tensor, target: Tensor, weight: Tensor | None = None, {NAMED})",
    "Binary cross entropy: -(target log(input) + (1 - target) log(1 - input)), logarithms no less than -100.",
)
public(
    f"binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None, {NAMED},"
    " pos_weight: Tensor | None = None)",
    "Binary cross entropy of sigmoid(input), without its overflow.",
)
numbered(
    "binary_cross_entropy_with_logits(input: Tensor, target: Tensor, weight: Tensor | None = None,"
    " pos_weight: Tensor | None = None, reduction: int = 0)",
    "logits",
    "Binary cross entropy of sigmoid(input), without its overflow.",
)
public(
    f"kl_div(input: Tensor, target: Tensor, {NAMED}, log_target: bool = False)",
    "The Kullback-Leibler divergence: target (log(target) - input), and 0 where target is 0.",
)
numbered(
    "kl_div(input: Tensor, target: Tensor, reduction: int = 0, *, log_target: bool = False)",
    "kl_div",
    "The Kullback-Leibler divergence: target (log(target) - input), and 0 where target is 0.",
)
public(
    "poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool = True, full: bool = False,"
    " size_average: bool | None = None, eps: float = 1e-08, reduce: bool | None = None,"
    " reduction: str = 'mean')",
    "Poisson negative log likelihood: exp(input) - target input, or input - target log(input + eps).",
)
numbered(
    "poisson_nll_loss(input: Tensor, target: Tensor, log_input: bool, full: bool, eps: float,"
    " reduction: int)",
    "poisson",
    "Poisson negative log likelihood: exp(input) - target input, or input - target log(input + eps).",
)
public(
    "gaussian_nll_loss(input: Tensor, target: Tensor, var: Tensor | Number, full: bool = False,"
    " eps: float = 1e-06, reduction: str = 'mean')",
    "Gaussian negative log likelihood: (log(var) + (input - target)^2 / var) / 2.",
    autocast="",  # PyTorch has no rule for it
)
public(
    f"hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, {NAMED})",
    "The hinge loss of distances: input where target is 1, max(0, margin - input) where it is -1.",
)
numbered(
    "hinge_embedding_loss(input: Tensor, target: Tensor, margin: float = 1.0, reduction: int = 0)",
    "hinge",
    "The hinge loss of distances: input where target is 1, max(0, margin - input) where it is -1.",
)
public(
    f"margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0, {NAMED})",
    "The margin ranking loss: max(0, margin - target (input1 - input2)).",
)
numbered(
    "margin_ranking_loss(input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0,"
    " reduction: int = 0)",
    "ranking",
    "The margin ranking loss: max(0, margin - target (input1 - input2)).",
)
public(
    f"soft_margin_loss(input: Tensor, target: Tensor, {NAMED})",
    "The logistic loss: log(1 + exp(-target input)).",
)
public(
    f"multilabel_soft_margin_loss(input: Tensor, target: Tensor, weight: Tensor | None = None, {NAMED})",
    "Binary cross entropy of sigmoid(input), averaged over the classes.",
    autocast="",  # PyTorch has no rule for it
)

# --- class numbers

CLASSES = "input: Tensor, target: Tensor, weight: Tensor | None"

for spatial in ("", "2d"):  # PyTorch's graph has different names for images and vectors
    op(
        f"_cross_entropy{spatial}({CLASSES}, ignore_index: int, label_smoothing: float, reduction: int)"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=floating,
        forms="inner",
        returns="output statistics",
        grad={
            "input": "cross_entropy_backward(grad, input, target, weight, statistics, ignore_index,"
            " label_smoothing, reduction)",
            "weight": not_implemented,
        },
        node=f"NllLoss{spatial.upper()}Backward0",
        doc="nn.functional.cross_entropy of class numbers, and what its gradient needs.",
    )
    op(
        f"_nll_loss{spatial}({CLASSES}, ignore_index: int, reduction: int) -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=floating,
        forms="inner",
        returns="output total_weight",
        grad={
            "input": "_nll_loss_gradient(grad, input, target, weight, total_weight, ignore_index, reduction)",
            "weight": not_implemented,
        },
        node=f"NllLoss{spatial.upper()}Backward0",
        doc="nn.functional.nll_loss, and the weight of all samples that count.",
    )
op(
    f"_soft_cross_entropy({CLASSES}, label_smoothing: float, reduction: int) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    returns="output statistics",
    grad={
        operand: f"soft_cross_entropy_backward({k}, grad, input, target, weight, statistics, label_smoothing,"
        " reduction)"
        for k, operand in enumerate(("input", "target"))
    }
    | {"weight": not_implemented},
    node="CrossEntropyLossBackward0",
    doc="nn.functional.cross_entropy of rows with a share for each class, and what its gradient needs.",
)
op(
    f"_soft_cross_entropy_gradient(operand: int, gradient: Tensor, {CLASSES}, statistics: Tensor,"
    " label_smoothing: float, reduction: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="soft_cross_entropy_gradient",
    grad=not_implemented,
    doc="The gradient of cross entropy by the scores, operand 0, or by the shares.",
)
op(
    f"_cross_entropy_gradient(gradient: Tensor, {CLASSES}, statistics: Tensor, ignore_index: int,"
    " label_smoothing: float, reduction: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="cross_entropy_gradient",
    grad=not_implemented,
    doc="The gradient of cross entropy by the scores.",
)
op(
    f"_nll_loss_gradient(gradient: Tensor, {CLASSES}, total_weight: Tensor, ignore_index: int,"
    " reduction: int) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="nll_loss_gradient",
    grad={"gradient": "nll_loss_transpose(grad, target, weight, ignore_index, reduction)"},
    doc="The gradient of the negative log-likelihood by the scores.",
)
public(
    f"cross_entropy({CLASSES} = None, size_average: bool | None = None, ignore_index: int = -100,"
    " reduce: bool | None = None, reduction: str = 'mean', label_smoothing: float = 0.0)",
    "Cross entropy of scores: -log softmax(input) at the class target, or averaged by its probabilities.",
)
public(
    f"nll_loss({CLASSES} = None, size_average: bool | None = None, ignore_index: int = -100,"
    " reduce: bool | None = None, reduction: str = 'mean')",
    "The negative log likelihood: -input at the class target, times the weight of the class.",
)
for name, params in (
    ("multi_margin", ", p: int, margin: float, weight: Tensor | None"),
    ("multilabel_margin", ""),
):
    passed = ", p, margin, weight" if params else ""
    op(
        f"_{name}_loss(input: Tensor, target: Tensor{params}, reduction: int) -> Tensor",
        kind=native,
        dtypes=floating,
        forms="inner",
        grad={
            "input": f"{name}_loss_backward(grad, input, target{passed}, reduction)",
            **({"weight": not_implemented} if params else {}),
        },
        doc=f"nn.functional.{name}_loss.",
    )
    op(
        f"_{name}_gradient(gradient: Tensor, input: Tensor, target: Tensor{params}, reduction: int) -> Tensor",
        kind=native,
        dtypes=floating,
        forms="inner",
        cpp=f"{name}_gradient",
        grad=none,
        doc=f"The gradient of {name}_loss by the scores.",
    )
public(
    "multi_margin_loss(input: Tensor, target: Tensor, p: int = 1, margin: float = 1.0,"
    f" weight: Tensor | None = None, {NAMED})",
    "The multi-class hinge loss: the mean over other classes of max(0, margin - input[target] + input)^p.",
)
public(
    f"multilabel_margin_loss(input: Tensor, target: Tensor, {NAMED})",
    "The multi-label hinge loss: the mean of max(0, 1 - input[target] + input) over other classes;"
    " targets end at -1.",
)

op(
    "one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor",
    kind=native,
    namespace="nn.functional",
    dtypes=("int64",),
    forms="function",
    doc="One-hot vectors: 1 at each class number and 0 elsewhere, in a new last dimension.",
)

# --- pairs and triplets of vectors

COSINE = "input1: Tensor, input2: Tensor, target: Tensor"
TRIPLET = (
    "triplet_margin_loss(anchor: Tensor, positive: Tensor, negative: Tensor, margin: float = 1.0,"
    " p: float = 2, eps: float = 1e-06, swap: bool = False"
)
public(
    f"cosine_embedding_loss({COSINE}, margin: float = 0, {NAMED})",
    "The cosine embedding loss: 1 - cos where target is 1, max(0, cos - margin) where it is -1.",
    real_bool,
)
numbered(
    f"cosine_embedding_loss({COSINE}, margin: float = 0.0, reduction: int = 0)",
    "cosine",
    "The cosine embedding loss: 1 - cos where target is 1, max(0, cos - margin) where it is -1.",
    real_bool,
)
public(
    f"{TRIPLET}, {NAMED})",
    "The triplet loss: max(0, margin + distance to positive - distance to negative).",
    numeric,
)
numbered(
    f"{TRIPLET}, reduction: int = 0)",
    "triplet",
    "The triplet loss: max(0, margin + distance to positive - distance to negative).",
    numeric,
)

# --- sequences

op(
    "_ctc_loss(log_probs: Tensor, targets: Tensor, input_lengths: Ints, target_lengths: Ints, blank: int,"
    " zero_infinity: bool) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    returns="output log_alpha",
    grad={
        "log_probs": "_ctc_loss_backward(grad, log_probs, targets, input_lengths, target_lengths, output,"
        " log_alpha, blank, zero_infinity)",
    },
    doc="-log of the probability of all alignments of each target, and of those up to each step.",
)
op(
    "_ctc_loss_backward(gradient: Tensor, log_probs: Tensor, targets: Tensor, input_lengths: Ints,"
    " target_lengths: Ints, output: Tensor, log_alpha: Tensor, blank: int, zero_infinity: bool) -> Tensor",
    kind=native,
    dtypes=floating,
    forms="inner",
    grad=not_implemented,
    doc="The gradient of ctc_loss by logarithms of probabilities that sum to 1.",
)
for overload, lengths in (("", "Ints"), (".Tensor", "Tensor")):
    head = (
        f"ctc_loss{overload}(log_probs: Tensor, targets: Tensor, input_lengths: {lengths}, target_lengths: {lengths},"
        " blank: int = 0"
    )
    doc = "The CTC loss: -log of the probability of the target, once repetitions and blanks are removed."
    public(f"{head}, reduction: str = 'mean', zero_infinity: bool = False)", doc)
    numbered(f"{head}, reduction: int = 0, zero_infinity: bool = False)", "ctc_loss", doc)
