"""Configurations of layers and functions that change the resolution of images."""

from tests.nn.layers.registry import function, layer, refused

SIGNAL, IMAGE, VOLUME = "2 3 7", "2 3 5 6", "1 2 3 4 5"

for mode, shapes in (
    ("nearest", (SIGNAL, IMAGE, VOLUME)),
    ("nearest-exact", (SIGNAL, IMAGE, VOLUME)),
    ("area", (SIGNAL, IMAGE, VOLUME)),
    ("linear", (SIGNAL,)),
    ("bilinear", (IMAGE,)),
    ("bicubic", (IMAGE,)),
    ("trilinear", (VOLUME,)),
):
    for shape in shapes:
        for options in ("scale_factor=2", "size=4", "scale_factor=1.7", "scale_factor=0.6"):
            layer(f"Upsample({options}, mode={mode!r})", inputs=[shape])
        function(
            "interpolate",
            f"F.interpolate(x, scale_factor=1.7, mode={mode!r}, recompute_scale_factor=True)",
            x=shape,
        )
        function("interpolate", f"F.interpolate(x, scale_factor=1.0, mode={mode!r})", x=shape)
        if "linear" in mode or mode == "bicubic":
            for size in (1, 3, 11):
                layer(f"Upsample(size={size}, mode={mode!r}, align_corners=True)", inputs=[shape])
layer("Upsample(size=(3, 9))", inputs=[IMAGE])
layer("Upsample(scale_factor=(2, 0.5), mode='bilinear', align_corners=False)", inputs=[IMAGE])
layer("Upsample(scale_factor=2, mode='bilinear')", inputs=["1 33 6 7"])
layer("Upsample(scale_factor=2.3, recompute_scale_factor=True)", inputs=[IMAGE])
layer("UpsamplingNearest2d(scale_factor=2)", inputs=[IMAGE])
layer("UpsamplingBilinear2d(size=(7, 3))", inputs=[IMAGE])
for mode in ("bilinear", "bicubic", "lanczos"):
    for size in ("(3, 4)", "(12, 3)", "9"):
        function(
            "interpolate",
            f"F.interpolate(x, {size}, mode={mode!r}, antialias=True)",
            x="2 3 10 8",
        )
    function(
        "interpolate",
        f"F.interpolate(x, scale_factor=0.45, mode={mode!r}, antialias=True)",
        x="2 3 10 8",
    )
function("interpolate", "F.interpolate(x, 4)", x="uint8[0:255] 1 3 7 5", gradients=False)
function("upsample", "F.upsample(x, 4)", x=IMAGE)
function("upsample_nearest", "F.upsample_nearest(x, scale_factor=2)", x=IMAGE)
function("upsample_bilinear", "F.upsample_bilinear(x, scale_factor=2)", x=IMAGE)

# PyTorch's backward of an empty batch loses the shape.
layer("PixelShuffle(2)", inputs=["2 8 3 4"], zero_batch=False)
layer("PixelShuffle(3)", inputs=["9 2 2"], zero_batch=False)
layer("PixelUnshuffle(2)", inputs=["2 3 4 6"], zero_batch=False)
layer("ChannelShuffle(2)", inputs=["2 6 3 4"])
function("channel_shuffle", "torch.channel_shuffle(x, 3)", x="2 6 3")

for mode in ("bilinear", "nearest", "bicubic"):
    for padding in ("zeros", "border", "reflection"):
        for corners in (False, True):
            function(
                "grid_sample",
                f"F.grid_sample(x, g, {mode!r}, {padding!r}, align_corners={corners})",
                x="2 3 5 6",
                g="2 4 7 2",
            )
        if mode != "bicubic":
            function(
                "grid_sample",
                f"F.grid_sample(x, g, {mode!r}, {padding!r}, align_corners=False)",
                x="2 3 4 5 6",
                g="2 3 2 4 3",
            )
function("grid_sample", "F.grid_sample(x, g * 1e20, align_corners=False)", x="2 3 5 6", g="2 4 7 2")
function("grid_sample", "F.grid_sample(x, g)", x="1 40 30 30", g="1 30 30 2")
for corners in (None, False, True):
    function("affine_grid", f"F.affine_grid(t, (2, 3, 4, 5), {corners})", t="2 2 3")
    function("affine_grid", f"F.affine_grid(t, (1, 3, 2, 4, 5), {corners})", t="1 3 4")
function("affine_grid", "F.affine_grid(t, (2, 3, 1, 1), True)", t="2 2 3")

refused("F.interpolate(x)", x=IMAGE)
refused("F.interpolate(x, 4, 2)", x=IMAGE)
refused("F.interpolate(x, (4, 4, 4))", x=IMAGE)
refused("F.interpolate(x, scale_factor=(2, 2, 2))", x=IMAGE)
refused("F.interpolate(x, 4, align_corners=True)", x=IMAGE)
refused("F.interpolate(x, 4, mode='other')", x=IMAGE)
refused("F.interpolate(x, 4, mode='trilinear')", x=IMAGE)
refused("F.interpolate(x, 0)", x=IMAGE)
refused("F.interpolate(x, 4, antialias=True)", x=IMAGE)
refused("F.interpolate(x, 4)", x="4 5")
refused("F.interpolate(x, 4)", x="int64[0:9] 1 2 4 5")
refused("F.interpolate(x, 4.5)", x=IMAGE)
refused("F.interpolate(x[:, :0], 4)", x=IMAGE)
refused("F.grid_sample(x, g, 'other')", x="1 2 3 4", g="1 3 3 2")
refused("F.grid_sample(x, g, padding_mode='other')", x="1 2 3 4", g="1 3 3 2")
refused("F.grid_sample(x, g)", x="1 2 3 4", g="2 3 3 2")
refused("F.grid_sample(x, g)", x="1 2 3 4", g="1 3 3 3")
refused("F.grid_sample(x, g)", x="1 2 3 4", g="float64 1 3 3 2")
refused("F.grid_sample(x[:, :, :0], g)", x="1 2 3 4", g="1 3 3 2")
refused("F.grid_sample(x, g, 'bicubic')", x="1 2 3 4 5", g="1 3 3 3 3")
refused("F.affine_grid(t, (2, 3, 4, 5))", t="2 2 4")
refused("F.affine_grid(t, (2, 3, 4))", t="2 2 3")
refused("F.affine_grid(t, (2, 3, 0, 5))", t="2 2 3")
refused("F.affine_grid(t, (2, 3, 4, 5))", t="int64[0:3] 2 2 3")
refused("F.affine_grid(t, (2, 3, 4, 5))", t="3 2 3")
refused("F.pixel_shuffle(x, 2)", x="2 3 4 4")
refused("F.pixel_shuffle(x, 0)", x="2 4 4 4")
refused("F.pixel_unshuffle(x, 3)", x="2 3 4 4")
refused("F.channel_shuffle(x, 2)", x="2 3 4 4")
refused("F.channel_shuffle(x, 0)", x="2 3 4 4")
