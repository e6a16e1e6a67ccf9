"""Configurations of padding."""

from tests.nn.layers.registry import function, layer, refused

SHAPES = {1: "2 3 7", 2: "2 3 5 6", 3: "2 3 4 5 6"}
WIDTHS = {1: "(2, 3)", 2: "(1, 2, 3, 0)", 3: "(1, 2, 0, 3, 2, 1)"}

for rank, shape in SHAPES.items():
    for name in ("ReflectionPad", "ReplicationPad", "CircularPad", "ZeroPad"):
        layer(f"{name}{rank}d(2)", inputs=[shape])
        layer(f"{name}{rank}d({WIDTHS[rank]})", inputs=[shape])
        layer(f"{name}{rank}d(1)", inputs=[shape[2:]], zero_batch=False)
    layer(f"ConstantPad{rank}d(2, 0.5)", inputs=[shape])
    layer(f"ConstantPad{rank}d({WIDTHS[rank]}, -1)", inputs=[shape])
layer("ZeroPad2d((-1, 1, 2, -2))", inputs=[SHAPES[2]])
layer("ReflectionPad2d(3)", inputs=["2 20 11 12"])
for mode in ("reflect", "replicate", "circular"):
    function("pad", f"F.pad(x, (1, 2, 0, 1), {mode!r})", x="float64 1 2 3 4")
    function("pad", f"F.pad(x, (-1, 1, 1, -1), mode={mode!r})", x="2 3 5 6")
    function("pad", f"F.pad(x, (1, 1), mode={mode!r})", x="int64[0:9] 2 3 5", gradients=False)
function("pad", "F.pad(x, (1, 1), value=2)", x="int64[0:9] 2 3", gradients=False)
function("pad", "F.pad(x, (1, 1), 'constant', True)", x="bool 2 3", gradients=False)
function("pad", "F.pad(x, (1, 0) * 5)", x="1 2 1 2 3")
function("pad", "F.pad(x, ())", x="2 3")
function("pad", "F.pad(x, [0, 0, 2, 1], value=float('-inf'))", x="2 3 4")

refused("F.pad(x, (1,))", x="2 3")
refused("F.pad(x, 1)", x="2 3")
refused("F.pad(x, (1.5, 1))", x="2 3")
refused("F.pad(x, (1, 1), mode='other')", x="2 3")
refused("F.pad(x, (3, 3), mode='reflect')", x="2 3")
refused("F.pad(x, (4, 3), mode='circular')", x="2 3")
refused("F.pad(x, (1, 1), mode='reflect')", x="2 3 4 5")
refused("F.pad(x, (1, 1), mode='reflect', value=1)", x="2 3")
refused("F.pad(x, (1, 1) * 3)", x="2 3")
refused("F.pad(x, (-5, -5))", x="2 3")
refused("F.pad(x[:, :, :0], (1, 1), mode='replicate')", x="2 3 4")
