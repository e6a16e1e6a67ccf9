"""Normalisation in the configurations that the conformance suite compares."""

from tests.nn.layers.registry import function, layer, refused

# --- batch norm

layer("BatchNorm1d(3)", inputs=["5 3"], modes="train eval")
layer("BatchNorm1d(3)", inputs=["5 3 7"], modes="train eval")
layer("BatchNorm1d(5, eps=0.1, momentum=0.3)", inputs=["4 5 3"], modes="train eval")
layer("BatchNorm1d(100)", inputs=["33 100"], modes="train eval")
layer("BatchNorm2d(3)", inputs=["2 3 5 4"], modes="train eval")
layer("BatchNorm2d(17)", inputs=["3 17 7 7"], modes="train eval")
layer("BatchNorm2d(64)", inputs=["2 64 9 9"], modes="train eval")
layer("BatchNorm2d(4, affine=False)", inputs=["2 4 3 3"], modes="train eval")
layer("BatchNorm2d(4, bias=False)", inputs=["2 4 3 3"], modes="train eval")
layer("BatchNorm2d(4, momentum=None)", inputs=["2 4 3 3"], modes="train eval")
layer("BatchNorm2d(4, track_running_stats=False)", inputs=["2 4 3 3"], modes="train eval")
layer("BatchNorm3d(3)", inputs=["2 3 2 5 3"], modes="train eval")
layer("SyncBatchNorm(3)", inputs=["2 3 5 4"], modes="eval")

# --- instance norm

layer("InstanceNorm1d(3)", inputs=["2 3 7"], modes="train eval")
layer("InstanceNorm1d(3, affine=True)", inputs=["3 7"])
# Of an empty batch PyTorch looks for the first sample.
layer("InstanceNorm2d(3, affine=True)", inputs=["2 3 5 4"], zero_batch=False)
layer(
    "InstanceNorm2d(3, affine=True, track_running_stats=True)",
    inputs=["2 3 5 4"],
    zero_batch=False,
)
layer("InstanceNorm3d(3, eps=0.1)", inputs=["2 3 2 5 3"])

# --- within a sample

layer("LayerNorm(5)", inputs=["2 3 5"])
layer("LayerNorm((3, 5), eps=0.1)", inputs=["2 3 5"])
layer("LayerNorm(768)", inputs=["3 768"])
layer("LayerNorm(17, bias=False)", inputs=["4 2 17"])
layer("LayerNorm(17, elementwise_affine=False)", inputs=["4 2 17"])
layer("RMSNorm(5)", inputs=["2 3 5"])
layer("RMSNorm((3, 5), eps=0.1)", inputs=["2 3 5"])
layer("RMSNorm(33, elementwise_affine=False)", inputs=["2 33"])
layer("GroupNorm(2, 6)", inputs=["2 6 5 4"])
layer("GroupNorm(6, 6)", inputs=["2 6 5"])
layer("GroupNorm(1, 6, eps=0.1)", inputs=["2 6 2 3 2"])
layer("GroupNorm(3, 6, affine=False)", inputs=["3 6"])
layer("GroupNorm(8, 64)", inputs=["2 64 7 7"])
layer("GroupNorm(2, 6, bias=False)", inputs=["2 6 5 4"])
layer("LocalResponseNorm(3)", inputs=["2 6 5 4"])
layer("LocalResponseNorm(2, alpha=0.1, beta=0.5, k=2.0)", inputs=["2 6 5"])

# --- behind convolutions, whose results lie in memory as they like

layer(
    "Sequential(nn.Conv2d(3, 16, 3), nn.BatchNorm2d(16), nn.Dropout(0.3), nn.GroupNorm(2, 16))",
    inputs=["2 3 7 7"],
)
layer(
    "Sequential(nn.Conv2d(3, 6, 3), nn.InstanceNorm2d(6), nn.AlphaDropout(0.3), nn.LayerNorm(5))",
    inputs=["2 3 7 7"],
    zero_batch=False,
)
layer("Sequential(nn.Conv1d(3, 6, 3), nn.BatchNorm1d(6), nn.Dropout1d(0.3))", inputs=["2 3 7"])

# --- functions

function(
    "batch_norm",
    "F.batch_norm(x, m.detach(), v.detach(), w, b)",
    x="2 4 3",
    m="4",
    v="positive 4",
    w="4",
    b="4",
)
function("batch_norm", "F.batch_norm(x, None, None, w, b, training=True)", x="5 4", w="4", b="4")
function("layer_norm", "F.layer_norm(x, (4,), w, b, 0.1)", x="2 3 4", w="4", b="4")
function("group_norm", "F.group_norm(x, 2, w, b)", x="2 4 3", w="4", b="4")
function("instance_norm", "F.instance_norm(x, weight=w, bias=b)", x="2 4 3", w="4", b="4")
function("rms_norm", "F.rms_norm(x, (4,), w)", x="2 3 4", w="4")
function("local_response_norm", "F.local_response_norm(x, 3, 0.1)", x="2 4 3")
function("normalize", "F.normalize(x)", x="3 4")
function("normalize", "F.normalize(x, p=1.0, dim=-1, eps=0.1)", x="2 3 4")

# --- bad input

refused("F.batch_norm(x, None, None)", x="2 4 3")
refused("F.batch_norm(x, m, m)", x="2 4 3", m="3")
refused("F.batch_norm(x, None, None, w, training=True)", x="2 4 3", w="3")
refused("F.batch_norm(x, None, None, training=True)", x="1 4")
refused("F.layer_norm(x, (3,))", x="2 4")
refused("F.layer_norm(x, (4,), w)", x="2 4", w="3")
refused("F.layer_norm(x, 4)", x="2 4")
refused("F.group_norm(x, 3)", x="2 4 3")
refused("F.group_norm(x, 1)", x="4")
refused("F.instance_norm(x)", x="2 4 1")
refused("F.instance_norm(x, use_input_stats=False)", x="2 4 3")
refused("F.rms_norm(x, (3,))", x="2 4")
refused("F.local_response_norm(x, 2)", x="2 4")
refused("F.normalize(x, dim=3)", x="2 4")
refused("nn.BatchNorm1d(3)(x)", x="2 3 4 4")
refused("nn.BatchNorm2d(3)(x)", x="3 4 4")
refused("nn.BatchNorm3d(3)(x)", x="2 3 4 4")
refused("nn.BatchNorm2d(4)(x)", x="2 3 4 4")
refused("nn.InstanceNorm2d(4, affine=True)(x)", x="2 3 4 4")
refused("nn.InstanceNorm1d(3)(x)", x="2 3 4 4")
refused("nn.LayerNorm((3, 4))(x)", x="2 3 4 4")
refused("nn.GroupNorm(3, 10)(x)", x="2 10 4")
refused("nn.SyncBatchNorm(3)(x)", x="3")
