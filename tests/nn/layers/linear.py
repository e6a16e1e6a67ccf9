"""Configurations of linear layers."""

from tests.nn.layers.registry import function, layer, refused

layer("Linear(5, 4)", inputs=["3 5"])
layer("Linear(5, 4, bias=False)", inputs=["3 5"])
layer("Linear(5, 4)", inputs=["5"], zero_batch=False)
layer("Linear(5, 4)", inputs=["2 3 5"])
layer("Linear(5, 4, bias=False)", inputs=["2 1 3 5"])
layer("Linear(1, 1)", inputs=["7 1"])
layer("Linear(33, 70)", inputs=["65 33"])
layer("Linear(300, 10)", inputs=["2 300"])
layer("Linear(128, 96)", inputs=["2 40 128"])
layer("Linear(in_features=3, out_features=2, dtype=torch.float64)", inputs=["float64 2 3"])
layer("Bilinear(3, 4, 5)", inputs=["2 3", "2 4"])
layer("Bilinear(3, 4, 5, bias=False)", inputs=["2 6 3", "2 6 4"])
layer("Bilinear(2, 2, 1)", inputs=["2", "2"], zero_batch=False)
layer("Identity()", inputs=["2 3"])
layer("Identity(54, unused_argument1=0.1)", inputs=["2 3"])
layer("Flatten()", inputs=["2 3 4 5"])
layer("Flatten(0)", inputs=["2 3 4"])
layer("Flatten(1, 2)", inputs=["2 3 4 5"])
layer("Flatten(start_dim=-2)", inputs=["2 3 4 5"])
layer("Unflatten(1, (2, 3))", inputs=["4 6"])
layer("Unflatten(-1, [2, -1])", inputs=["4 5 6"])
layer("Unflatten(1, torch.Size([3, 1, 2]))", inputs=["4 6"])
layer("Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))", inputs=["3 4"])
layer("utils.parametrizations.weight_norm(nn.Linear(5, 4))", inputs=["3 5"])
layer("utils.parametrizations.weight_norm(nn.Linear(5, 4), dim=None)", inputs=["3 5"])
layer("utils.parametrizations.weight_norm(nn.Linear(5, 4), dim=1)", inputs=["3 5"])
layer("utils.parametrizations.spectral_norm(nn.Linear(5, 4))", inputs=["3 5"])
layer("utils.parametrizations.spectral_norm(nn.Linear(5, 4), n_power_iterations=3)", inputs=["3 5"])
# Orthogonal matrices come of decompositions, whose gradients divide by differences.
for text in (
    "utils.parametrizations.orthogonal(nn.Linear(5, 5))",
    "utils.parametrizations.orthogonal(nn.Linear(5, 4))",
    "utils.parametrizations.orthogonal(nn.Linear(4, 5), orthogonal_map='cayley')",
    "utils.parametrizations.orthogonal(nn.Linear(5, 5), orthogonal_map='householder')",
    "utils.parametrizations.orthogonal(nn.Linear(4, 5), use_trivialization=False)",
):
    layer(text, inputs=["3 " + text.split("nn.Linear(")[1][0]], tolerance=10)

function("linear", "F.linear(x, w, b)", x="3 5", w="4 5", b="4")
function("linear", "F.linear(x, w)", x="2 3 5", w="4 5")
function("linear", "F.linear(x, w.t(), b)", x="3 5", w="5 4", b="4")
function("linear", "F.linear(x.t(), w[:, ::2], b[::2])", x="5 3", w="4 10", b="8")
function("linear", "F.linear(x.transpose(0, 1), w, b)", x="2 3 5", w="4 5", b="4")
function("linear", "F.linear(x.expand(6, 3, 5), w, b)", x="1 3 5", w="4 5", b="4")
function("linear", "F.linear(x, w)", x="2 5", w="5")
function("linear", "F.linear(x, w, b)", x="3 5", w="4 5", b="1")
function("linear", "F.linear(x, w, b)", x="3 5", w="4 5", b="3 1")
function("linear", "F.linear(x, w, b)", x="0 5", w="4 5", b="4")
function("linear", "F.linear(x, w, b)", x="3 0", w="4 0", b="4")
function("linear", "F.linear(x, w, b)", x="3 5", w="0 5", b="0")
function("linear", "F.linear(x.to(torch.bfloat16), w.to(torch.bfloat16)).float()", x="3 5", w="4 5")
function("bilinear", "F.bilinear(x, y, w, b)", x="2 3", y="2 4", w="5 3 4", b="5")
function("bilinear", "torch.bilinear(x, y, w, None)", x="2 6 3", y="2 6 4", w="5 3 4")

refused("F.linear(x, w)", x="2 3", w="4 5")
refused("F.linear(x, w, b)", x="2 3", w="4 3", b="5")
refused("F.linear(x, w, b)", x="2 3", w="3", b="1")
refused("F.linear(x, w)", x="2 3", w="2 4 3")
refused("F.linear(x, w.double())", x="2 3", w="4 3")
refused("nn.Linear(5, 4)(x)", x="2 3")
refused("nn.Linear(5, 4)(x)", x="int64[0:5] 2 5")
refused("nn.Linear(-1, 4)(x)", x="2 3")
refused("nn.Bilinear(0, 4, 5)(x, x)", x="2 3")
refused("nn.Bilinear(3, 4, 5)(x, x)", x="2 3")
refused("nn.Unflatten(1, 3)(x)", x="2 3")
refused("nn.Unflatten(1, (2, 2))(x)", x="2 3")
refused("nn.Flatten(3)(x)", x="2 3")
