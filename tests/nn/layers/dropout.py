"""Dropout in the configurations that the conformance suite compares, mask by mask."""

from tests.nn.layers.registry import function, layer, refused

for _shape in ("40", "3 50", "2 3 4 5"):
    layer("Dropout()", inputs=[_shape], modes="train eval")
    layer("Dropout(0.1)", inputs=[_shape], modes="train")
    layer("AlphaDropout(0.3)", inputs=[_shape], modes="train eval")
layer("Dropout(0.0)", inputs=["3 5"], modes="train")
layer("Dropout(1.0)", inputs=["3 5"], modes="train")
layer("Dropout1d(0.3)", inputs=["2 30 4"], modes="train eval")
layer("Dropout1d(0.3)", inputs=["30 4"], modes="train")
layer("Dropout2d(0.3)", inputs=["2 30 4 3"], modes="train eval")
layer("Dropout3d(0.3)", inputs=["2 30 4 3 2"], modes="train eval")
layer("Dropout3d(0.3)", inputs=["30 4 3 2"], modes="train")
layer("FeatureAlphaDropout(0.3)", inputs=["2 30 4 3"], modes="train eval")

function("dropout", "F.dropout(x, 0.3)", x="7 9")
function("dropout", "F.dropout(x * 1, 0.3, True, True)", x="7 9")
function("dropout", "F.dropout(x, training=False)", x="7 9")
function("dropout2d", "F.dropout2d(x, p=0.3)", x="7 9 2 2")
function("alpha_dropout", "F.alpha_dropout(x, 0.3, training=True)", x="7 9")
function("feature_alpha_dropout", "F.feature_alpha_dropout(x, 0.3, True)", x="7 9 2")

refused("F.dropout(x, 1.1)", x="3 4")
refused("F.dropout2d(x, -0.1)", x="3 4 2 2")
refused("F.dropout1d(x, 0.5)", x="3 4 2 2")
refused("nn.Dropout(2)(x)", x="3 4")
