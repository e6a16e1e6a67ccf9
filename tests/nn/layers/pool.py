"""Configurations of pooling."""

from tests.nn.layers.registry import function, layer, refused

SIGNAL, IMAGE, VOLUME = "2 3 11", "2 3 9 11", "2 3 5 6 7"

for rank, shape in ((1, SIGNAL), (2, IMAGE), (3, VOLUME)):
    for options in (
        "2",
        "3, 2, 1",
        "3, stride=1",
        "2, stride=3",
        "2, dilation=2",
        "3, 2, 1, ceil_mode=True",
        "2, ceil_mode=True",
    ):
        layer(f"MaxPool{rank}d({options})", inputs=[shape])
    layer(f"MaxPool{rank}d(2, return_indices=True)", inputs=[shape])
    for options in (
        "2",
        "3, 2, 1",
        "3, stride=1",
        "3, 2, 1, count_include_pad=False",
        "3, 2, 1, ceil_mode=True",
        "3, 2, 1, True, False",
    ):
        layer(f"AvgPool{rank}d({options})", inputs=[shape])
    for size in ("1", "3", "4"):
        layer(f"AdaptiveAvgPool{rank}d({size})", inputs=[shape])
        layer(f"AdaptiveMaxPool{rank}d({size})", inputs=[shape])
    layer(f"AdaptiveMaxPool{rank}d(2, return_indices=True)", inputs=[shape])
    layer(f"LPPool{rank}d(2, 3)", inputs=[shape])
    layer(f"LPPool{rank}d(3, 2, stride=1, ceil_mode=True)", inputs=[f"positive {shape}"])
    for name in ("max_pool", "avg_pool", "adaptive_avg_pool", "adaptive_max_pool"):
        function(f"{name}{rank}d", f"F.{name}{rank}d(x, 2)", x=shape[2:])  # a single sample

for options in ("(3, 2)", "(3, 2), (2, 1), (1, 0)", "(2, 3), stride=(1, 2), dilation=(2, 1)"):
    layer(f"MaxPool2d({options})", inputs=[IMAGE])
layer("AvgPool2d(2, divisor_override=3)", inputs=[IMAGE])
layer("AvgPool3d((1, 2, 3), divisor_override=5)", inputs=[VOLUME])
layer("AdaptiveAvgPool2d((None, 5))", inputs=[IMAGE])
layer("AdaptiveAvgPool2d((13, 2))", inputs=[IMAGE])
layer("AdaptiveMaxPool2d((4, None))", inputs=[IMAGE])
layer("AdaptiveAvgPool3d((2, None, 3))", inputs=[VOLUME])
layer("MaxPool2d(2)", inputs=["2 20 24 24"])
layer("MaxPool2d(3, 2, 1)", inputs=["1 33 35 35"])
layer("AvgPool2d(3, 2, 1)", inputs=["1 33 35 35"])
layer("AdaptiveAvgPool2d(1)", inputs=["2 70 7 7"])
layer("AdaptiveAvgPool2d((6, 6))", inputs=["2 16 13 13"])
layer("MaxPool2d(17, 1, 8)", inputs=["1 2 20 20"])  # more places than a byte can count

layer("FractionalMaxPool2d(2, output_size=4)", inputs=[IMAGE], zero_batch=False)
layer("FractionalMaxPool2d((2, 3), output_ratio=(0.5, 0.4))", inputs=[IMAGE], zero_batch=False)
layer("FractionalMaxPool2d(3, output_size=(3, 1))", inputs=["3 9 11"], zero_batch=False)
layer("FractionalMaxPool3d(2, output_size=3)", inputs=[VOLUME], zero_batch=False)
layer(
    "FractionalMaxPool3d(2, output_ratio=0.5, return_indices=True)",
    inputs=[VOLUME],
    zero_batch=False,
)

for rank, shape in ((1, "2 3 10"), (2, "2 3 8 10"), (3, "1 2 4 6 8")):
    pool, unpool = f"F.max_pool{rank}d", f"F.max_unpool{rank}d"
    function(
        f"max_unpool{rank}d", f"{unpool}(*{pool}(x, 2, 2, return_indices=True), 2, 2)", x=shape
    )
    size = ", ".join(str(int(n) + 1) for n in shape.split()[2:])
    function(
        f"max_unpool{rank}d",
        f"{unpool}(*{pool}(x, 2, 2, return_indices=True), 2, 2, output_size=({size},))",
        x=shape,
    )
    function(
        f"max_pool{rank}d_with_indices", f"F.max_pool{rank}d_with_indices(x, 3, 2, 1)", x=shape
    )
    function(
        f"adaptive_max_pool{rank}d_with_indices",
        f"F.adaptive_max_pool{rank}d_with_indices(x, 3)",
        x=shape,
    )
    function(f"max_pool{rank}d", f"torch.max_pool{rank}d(x, 2, stride=())", x=shape)
function("max_pool1d_with_indices", "torch.max_pool1d_with_indices(x, 2)", x=SIGNAL)
function("adaptive_max_pool1d", "torch.adaptive_max_pool1d(x, 2)", x=SIGNAL)
function("adaptive_avg_pool1d", "torch.adaptive_avg_pool1d(x, 2)", x=SIGNAL)
function("avg_pool1d", "torch.avg_pool1d(x, 2, padding=1)", x=SIGNAL)
for name in ("max_pool2d", "avg_pool2d"):
    function(name, f"F.{name}(x, 3, 2, 1)", x="int64[-9:9] 2 3 6 6", gradients=False)
# Equal elements: the first of them gets the gradient.
function("max_pool2d", "F.max_pool2d(torch.relu(x), 3, 2, 1)", x="2 3 9 9")
function("max_pool2d", "F.max_pool2d(x * 0, 3, 2, 1, return_indices=True)", x="2 3 9 9")

for rank, shape in ((1, SIGNAL), (2, IMAGE), (3, VOLUME)):
    for kind in ("max", "avg"):
        refused(f"F.{kind}_pool{rank}d(x, 3, padding=2)", x=shape)
        refused(f"F.{kind}_pool{rank}d(x, 20)", x=shape)
        refused(f"F.{kind}_pool{rank}d(x, 2, stride=0)", x=shape)
        refused(f"F.{kind}_pool{rank}d(x, 0)", x=shape)
        refused(f"F.{kind}_pool{rank}d(x, 2.5)", x=shape)
        refused(f"F.{kind}_pool{rank}d(x)", x=shape)
        refused(f"F.{kind}_pool{rank}d(x, 2)", x="4")
        refused(f"F.{kind}_pool{rank}d(x, (2, 2, 2, 2))", x=shape)
    refused(f"F.adaptive_avg_pool{rank}d(x, 2)", x="4")
    refused(f"F.adaptive_avg_pool{rank}d(x, -1)", x=shape)
    refused(f"F.adaptive_max_pool{rank}d(x, 2)", x="4")
refused("F.max_pool2d(x[:, :0], 2)", x=IMAGE)
refused("F.avg_pool2d(x, 2, divisor_override=0)", x=IMAGE)
refused("F.max_pool2d(x, 2)", x="bool 2 3 6 6")
refused("F.adaptive_avg_pool2d(x, 2)", x="int64[0:5] 2 3 6 6")
refused("F.max_unpool2d(x, i, 2)", x="1 2 3 3", i="int64[90:99] 1 2 3 3")
refused("F.max_unpool2d(x, i, 2)", x="1 2 3 3", i="int64[-9:-1] 1 2 3 3")
refused("F.max_unpool2d(x, i, 2)", x="1 2 3 3", i="1 2 3 3")
refused("F.max_unpool2d(x, i, 2)", x="1 2 3 3", i="int64[0:4] 1 1 3 3")
refused("F.max_unpool2d(x, i, 2, output_size=(30, 30))", x="1 2 3 3", i="int64[0:4] 1 2 3 3")
refused("F.max_unpool2d(x, i, 2, output_size=(6,))", x="1 2 3 3", i="int64[0:4] 1 2 3 3")
refused("F.fractional_max_pool2d(x, 2)", x=IMAGE)
refused("F.fractional_max_pool2d(x, 2, output_size=20)", x=IMAGE)
refused("nn.FractionalMaxPool2d(2)")
refused("nn.FractionalMaxPool2d(2, output_ratio=1.5)")
refused("nn.FractionalMaxPool2d(2, output_size=2, output_ratio=0.5)")
