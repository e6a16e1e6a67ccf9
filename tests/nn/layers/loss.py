"""Losses, in all their reductions."""

from tests.nn.layers.registry import function, layer, refused

CLASSES = ["5 4", "int64[0:4] 5"]
IMAGES = ["2 3 4 5", "int64[0:3] 2 4 5"]
WEIGHTS = "weight=torch.tensor([0.5, 2.0, 1.5])"

# mean of nothing is NaN, in both.
for reduction in ("mean", "sum", "none"):
    how = f"reduction={reduction!r}"
    layer(f"CrossEntropyLoss({how})", inputs=CLASSES)
    layer(f"CrossEntropyLoss({WEIGHTS}, ignore_index=1, {how})", inputs=IMAGES)
    layer(f"CrossEntropyLoss({WEIGHTS}, label_smoothing=0.2, {how})", inputs=IMAGES, double=False)
    layer(f"CrossEntropyLoss(label_smoothing=0.1, ignore_index=0, {how})", inputs=CLASSES)
    layer(f"CrossEntropyLoss({how})", inputs=["2 3 4 5", "uniform 2 3 4 5"])
    layer(f"CrossEntropyLoss(label_smoothing=0.3, {how})", inputs=["5 4", "uniform 5 4"])
    layer(f"NLLLoss({how})", inputs=CLASSES)
    # PyTorch has no gradient of strided images.
    layer(f"NLLLoss(ignore_index=2, {how})", inputs=IMAGES, call="m(a.contiguous(), b)")
    for name in ("MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss"):
        layer(f"{name}({how})", inputs=["3 4", "3 4"])
    layer(f"SmoothL1Loss(beta=0.5, {how})", inputs=["2 3 4 5", "2 3 4 5"])
    layer(f"HuberLoss(delta=0.5, {how})", inputs=["2 3 4 5", "2 3 4 5"])
    layer(f"BCELoss({how})", inputs=["3 4", "uniform 3 4"], call="m(a.sigmoid(), b)")
    layer(f"BCEWithLogitsLoss({how})", inputs=["3 4", "uniform 3 4"])
    layer(f"KLDivLoss({how})", inputs=["3 4", "positive 3 4"])
    layer(f"KLDivLoss(log_target=True, {how})", inputs=["3 4", "3 4"])
    layer(f"PoissonNLLLoss({how})", inputs=["3 4", "positive 3 4"])
    layer(f"PoissonNLLLoss(log_input=False, eps=0.1, {how})", inputs=["positive 3 4"] * 2)
    layer(f"PoissonNLLLoss(full=True, {how})", inputs=["3 4", "positive 3 4"], call="m(a, b * 5)")
    layer(f"GaussianNLLLoss({how})", inputs=["3 4", "3 4", "positive 3 4"])
    # The gradient of a variance below eps is that of eps: not what finite differences give.
    layer(
        f"GaussianNLLLoss(full=True, eps=0.5, {how})",
        inputs=["3 4", "3 4", "positive 3 1"],
        double=False,
    )
    layer(f"HingeEmbeddingLoss(margin=0.5, {how})", inputs=["3 4", "3 4"], call="m(a, b.sign())")
    layer(
        f"CosineEmbeddingLoss(margin=0.1, {how})",
        inputs=["4 3", "4 3", "4"],
        call="m(a, b, c.sign())",
    )
    layer(f"MarginRankingLoss(margin=0.2, {how})", inputs=["4", "4", "4"], call="m(a, b, c.sign())")
    layer(f"SoftMarginLoss({how})", inputs=["3 4", "3 4"], call="m(a, b.sign().detach())")
    # PyTorch leaves the sum of no losses undefined.
    layer(f"MultiLabelMarginLoss({how})", inputs=["3 4", "int64[-1:4] 3 4"], zero_batch=None)
    layer(f"MultiLabelSoftMarginLoss({how})", inputs=["3 4", "uniform 3 4"])
    layer(f"MultiMarginLoss({how})", inputs=CLASSES, zero_batch=None)
    layer(f"MultiMarginLoss(p=2, margin=0.5, {how})", inputs=CLASSES, zero_batch=None)
    layer(f"TripletMarginLoss({how})", inputs=["4 3"] * 3)
    layer(f"TripletMarginLoss(margin=2.0, p=1.0, swap=True, eps=1e-3, {how})", inputs=["4 3"] * 3)
    layer(f"TripletMarginWithDistanceLoss(swap=True, {how})", inputs=["4 3"] * 3)
    layer(
        f"CTCLoss({how})",
        inputs=["8 3 5", "int64[1:5] 3 3"],
        call="m(a.log_softmax(2), b, (8, 7, 5), (3, 2, 1))",
        zero_batch=None,
    )
    layer(
        f"CTCLoss(blank=4, zero_infinity=True, {how})",
        inputs=["5 3 5", "int64[0:4] 9"],
        call="m(a.log_softmax(2), b.clone(), torch.tensor([5, 2, 4]), torch.tensor([3, 4, 2]))",
        zero_batch=None,
    )

layer("KLDivLoss(reduction='batchmean')", inputs=["3 4", "positive 3 4"], zero_batch=None)
layer("CrossEntropyLoss()", inputs=["4", "int64[0:4]"], zero_batch=None)
layer("CrossEntropyLoss()", inputs=["2 3 4", "int64[0:3] 2 4"])
layer("CrossEntropyLoss()", inputs=["2 3 2 2 2", "int64[0:3] 2 2 2 2"])
layer("NLLLoss()", inputs=["4", "int64[0:4]"], zero_batch=None)
layer("MultiMarginLoss()", inputs=["4", "int64[0:4]"], zero_batch=None)
layer("MultiLabelMarginLoss()", inputs=["4", "int64[-1:4] 4"], zero_batch=None)
layer(
    "BCELoss(weight=torch.tensor([0.5, 2.0]))", inputs=["uniform 3 2", "uniform 3 2"], double=False
)
layer(
    "BCEWithLogitsLoss(weight=torch.tensor([0.5, 2.0]), pos_weight=torch.tensor([3.0, 0.3]))",
    inputs=["3 2", "uniform 3 2"],
    double=False,
)
layer("LinearCrossEntropyLoss(3, 5, bias=True)", inputs=["6 3", "int64[0:5] 6"])
layer("LinearCrossEntropyLoss(3, 5, out_features=(2,))", inputs=["6 3", "int64[0:5] 6 2"])
layer(
    "LinearCrossEntropyLoss(3, 5, ignore_index=1, options=nn.LinearCrossEntropyOptions())",
    inputs=["6 3", "int64[0:5] 6"],
    double=False,
    zero_batch=None,
)
layer("TripletMarginWithDistanceLoss(distance_function=F.cosine_similarity)", inputs=["4 3"] * 3)

function("mse_loss", "F.mse_loss(x, y, weight=w)", x="3 4", y="3 4", w="positive 3 4")
function(
    "l1_loss", "F.l1_loss(x, y, weight=w, reduction='sum')", x="3 4", y="3 4", w="positive 3 4"
)
function("huber_loss", "F.huber_loss(x, y, weight=w)", x="3 4", y="3 4", w="positive 3 4")
function("smooth_l1_loss", "F.smooth_l1_loss(x, y, beta=0)", x="3 4", y="3 4")
function("gaussian_nll_loss", "F.gaussian_nll_loss(x, y, 2.0)", x="3 4", y="3 4")
function("gaussian_nll_loss", "F.gaussian_nll_loss(x, y, v)", x="3 4", y="3 4", v="positive 3")
function("one_hot", "F.one_hot(x)", x="int64[0:5] 2 3")
function("one_hot", "F.one_hot(x, num_classes=7)", x="int64[0:5] 2 3")
function("cross_entropy", "F.cross_entropy(x, t.byte())", x="5 4", t="int64[0:4] 5")
function("cross_entropy", "F.cross_entropy(x.half().float(), t)", x="5 4", t="int64[0:4] 5")
function("cross_entropy", "F.cross_entropy(x * 1000, t)", x="5 4", t="int64[0:4] 5")
function("cross_entropy", "F.cross_entropy(x, t)", x="130 1030", t="int64[0:1030] 130")
function("kl_div", "torch.kl_div(x, y, 2, log_target=True)", x="3 4", y="3 4")
function("ctc_loss", "F.ctc_loss(x.log_softmax(1), t, (6,), (3,))", x="6 5", t="int64[1:5] 3")
function(
    "ctc_loss",
    "torch.ctc_loss(x.log_softmax(2), t, [6, 5], [3, 2], 0, 0, True)",
    x="6 2 5",
    t="int64[1:5] 2 3",
)

refused("F.cross_entropy(x, t)", x="3 4", t="int64[5:6] 3")
refused("F.cross_entropy(x, t)", x="3 4", t="int64[0:4] 2")
refused("F.cross_entropy(x, t)", x="3 4", t="int32[0:4] 3")
refused("F.cross_entropy(x, t)", x="3 4", t="int64[0:4] 3 4")
refused("F.cross_entropy(x, t)", x="2 3 4 5", t="int64[0:3] 2 4")
refused("F.cross_entropy(x, t)", x="2 3 4 5", t="int64[0:3] 2 5 4")
refused("F.cross_entropy(x, t, weight=w)", x="3 4", t="int64[0:4] 3", w="3")
refused("F.cross_entropy(x, t, reduction='most')", x="3 4", t="int64[0:4] 3")
refused("F.cross_entropy(x, t, label_smoothing=1.5)", x="3 4", t="int64[0:4] 3")
refused("F.nll_loss(x, t)", x="int64[0:3] 3 4", t="int64[0:4] 3")
refused("F.mse_loss(x, y)", x="3 4", y="2 4")
refused("F.mse_loss(x, y)", x="int64[0:3] 3", y="int64[0:3] 3")
refused("F.mse_loss(x, y, weight=y)", x="3 4", y="1 4")
refused("F.smooth_l1_loss(x, y, beta=-1)", x="3 4", y="3 4")
refused("F.huber_loss(x, y, delta=0)", x="3 4", y="3 4")
refused("F.binary_cross_entropy(x, y)", x="3 4", y="uniform 3 4")
refused("F.binary_cross_entropy(y, y[:1])", y="uniform 3 4")
refused("F.binary_cross_entropy(y, y.double())", y="uniform 3 4")
refused("F.binary_cross_entropy_with_logits(x, y)", x="3 4", y="3 1")
refused("F.gaussian_nll_loss(x, x, -v)", x="3 4", v="positive 3 4")
refused("F.gaussian_nll_loss(x, x, v)", x="3 4", v="positive 2")
refused("F.margin_ranking_loss(x, x, y)", x="3 4", y="4")
refused("F.cosine_embedding_loss(x, x, y)", x="3 4", y="3 4")
refused("F.multi_margin_loss(x, t, p=3)", x="3 4", t="int64[0:4] 3")
refused("F.multi_margin_loss(x, t)", x="3 4", t="int64[7:8] 3")
refused("F.multilabel_margin_loss(x, t)", x="3 4", t="int64[7:8] 3 4")
refused("F.triplet_margin_loss(x, x, y)", x="3 4", y="4")
refused("F.triplet_margin_loss(x, x, x, margin=-1)", x="3 4")
refused("F.ctc_loss(x, t, (7, 6), (2, 2))", x="6 2 5", t="int64[1:5] 2 3")
refused("F.ctc_loss(x, t, (6, 6), (2, 4))", x="6 2 5", t="int64[1:5] 2 3")
refused("F.ctc_loss(x, t, (6, 6), (2, 2), blank=5)", x="6 2 5", t="int64[1:5] 2 3")
refused("F.one_hot(t, 2)", t="int64[3:4] 2")
refused("F.one_hot(t)", t="2")
refused("nn.TripletMarginLoss(margin=0)")
refused("nn.MultiMarginLoss(p=3)")
refused("nn.HuberLoss(delta='1')")
refused("nn.MSELoss(reduction='most')(x, x)", x="3")
