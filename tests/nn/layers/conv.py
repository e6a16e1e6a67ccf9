"""Configurations of convolutions, their transposes, and sliding windows."""

from tests.nn.layers.registry import function, layer, refused

# One, two and three dimensions.
layer("Conv1d(3, 8, 3)", inputs=["2 3 9"])
layer("Conv1d(4, 6, 5, stride=2, padding=2, groups=2)", inputs=["3 4 13"])
layer("Conv1d(3, 3, 3, padding='same', dilation=2, groups=3)", inputs=["2 3 9"])
layer("Conv1d(3, 8, 4, padding='same')", inputs=["2 3 9"])
layer("Conv1d(3, 4, 3)", inputs=["3 9"], zero_batch=False)
layer("Conv2d(3, 8, 3)", inputs=["2 3 9 11"])
layer("Conv2d(3, 8, 3, stride=2)", inputs=["2 3 9 11"])
layer("Conv2d(3, 8, 3, padding=1, bias=False)", inputs=["2 3 9 11"])
layer("Conv2d(1, 6, 5)", inputs=["4 1 14 14"])
layer("Conv2d(6, 16, 5)", inputs=["4 6 14 14"])
layer("Conv2d(3, 16, 7, stride=2, padding=3)", inputs=["2 3 21 23"])
# Few channels in, many windows: the gradient as a product of matrices, in several blocks.
layer("Conv2d(3, 16, 7, stride=2, padding=3)", inputs=["2 3 80 80"])
layer("Conv2d(16, 32, 1)", inputs=["2 16 7 5"])
layer("Conv2d(16, 17, 1, stride=2)", inputs=["2 16 7 5"])
layer("Conv2d(16, 16, 3, padding=1, groups=16)", inputs=["2 16 9 8"])
layer("Conv2d(8, 24, 3, padding=1, groups=8)", inputs=["2 8 9 8"])
layer("Conv2d(8, 12, 3, groups=4)", inputs=["2 8 9 8"])
layer("Conv2d(5, 7, (3, 2), stride=(1, 2), padding=(2, 1), dilation=(2, 1))", inputs=["1 5 9 8"])
layer("Conv2d(33, 35, 3, padding=1)", inputs=["2 33 13 11"])
layer("Conv2d(64, 64, 3, padding=1)", inputs=["1 64 17 15"])
layer("Conv2d(32, 48, 3, padding=1)", inputs=["4 32 18 19"])
layer("Conv2d(48, 32, 3, padding=(0, 2), bias=False)", inputs=["4 48 18 19"])
layer("Conv2d(4, 4, 3, padding='same')", inputs=["2 4 6 7"])
layer("Conv2d(4, 4, (2, 4), padding='same', dilation=(1, 3))", inputs=["2 4 9 12"])
layer("Conv2d(4, 4, 3, padding='valid')", inputs=["2 4 6 7"])
layer("Conv2d(3, 4, 3)", inputs=["3 9 9"], zero_batch=False)
layer("Conv3d(2, 4, 3)", inputs=["2 2 5 6 7"])
layer(
    "Conv3d(4, 4, (1, 2, 3), stride=(1, 2, 1), padding=(0, 1, 1), groups=2)", inputs=["1 4 3 6 5"]
)
layer("Conv3d(2, 3, 2, dilation=2)", inputs=["2 5 5 6"], zero_batch=False)
layer("Conv3d(2, 2, 3, padding='same')", inputs=["1 2 4 4 5"])

# What lies outside of the image.
for mode in ("reflect", "replicate", "circular"):
    layer(f"Conv1d(3, 4, 3, padding=2, padding_mode='{mode}')", inputs=["2 3 9"])
    layer(f"Conv2d(3, 4, 3, padding=(1, 2), padding_mode='{mode}')", inputs=["2 3 7 8"])
    layer(f"Conv2d(3, 4, 3, padding='same', padding_mode='{mode}')", inputs=["2 3 7 8"])
    layer(f"Conv3d(2, 3, 3, padding=1, padding_mode='{mode}')", inputs=["1 2 4 5 4"])

# Transposes.
layer("ConvTranspose1d(3, 5, 4, stride=2, padding=1)", inputs=["2 3 7"])
layer("ConvTranspose1d(4, 6, 3, stride=3, output_padding=2, groups=2)", inputs=["2 4 5"])
layer("ConvTranspose1d(3, 5, 4)", inputs=["3 7"], zero_batch=False)
layer("ConvTranspose2d(8, 4, 4, stride=2, padding=1)", inputs=["2 8 7 5"])
layer("ConvTranspose2d(8, 4, 3, stride=2, padding=1, output_padding=1)", inputs=["2 8 7 5"])
layer("ConvTranspose2d(8, 4, 2, stride=2, bias=False)", inputs=["2 8 7 5"])
layer("ConvTranspose2d(6, 9, 3, groups=3, dilation=2)", inputs=["2 6 7 5"])
layer("ConvTranspose2d(3, 4, 3, dilation=3, output_padding=2)", inputs=["2 3 5 4"])
layer("ConvTranspose2d(16, 16, 3, stride=2, groups=16)", inputs=["2 16 5 4"])
layer("ConvTranspose2d(32, 3, 5, stride=(3, 1), padding=(0, 2))", inputs=["2 32 5 4"])
layer("ConvTranspose2d(3, 4, 3)", inputs=["3 5 5"], zero_batch=False)
layer("ConvTranspose3d(2, 4, 3, stride=2)", inputs=["1 2 3 4 3"])
layer(
    "ConvTranspose3d(4, 2, 2, stride=(1, 2, 2), output_padding=(0, 1, 0), groups=2)",
    inputs=["1 4 3 3 3"],
)
layer("ConvTranspose3d(2, 3, 2)", inputs=["2 3 4 3"], zero_batch=False)

# Functions: keyword arguments.
function(
    "conv1d", "F.conv1d(x, w, b, stride=2, padding=1, dilation=2)", x="2 3 12", w="4 3 3", b="4"
)
function("conv2d", "F.conv2d(x, w, stride=2, groups=2)", x="2 4 9 9", w="6 2 3 3")
function("conv2d", "F.conv2d(x, w, b, padding='same')", x="2 4 9 9", w="6 4 3 3", b="6")
function(
    "conv2d", "F.conv2d(input=x, weight=w, bias=b, stride=(2, 1))", x="2 4 9 9", w="6 4 3 3", b="6"
)
function("conv2d", "F.conv2d(x, w)", x="float64 2 4 9 9", w="float64 6 4 3 3")
function("conv2d", "F.conv2d(x, w)", x="4 9 9", w="6 4 3 3")
function("conv2d", "F.conv2d(x, w).mul(2).flatten(1)", x="2 4 9 9", w="6 4 3 3")
function("conv2d", "F.conv2d(x, w)[:, 1:3, ::2]", x="2 4 9 9", w="6 4 3 3")
function("conv3d", "F.conv3d(x, w, padding=(1, 0, 2))", x="1 2 4 5 6", w="3 2 2 3 3")
function("conv_transpose1d", "F.conv_transpose1d(x, w, stride=2)", x="2 4 5", w="4 3 3")
function(
    "conv_transpose2d",
    "F.conv_transpose2d(x, w, b, stride=2, padding=1, output_padding=1)",
    x="2 4 5 5",
    w="4 3 3 3",
    b="3",
)
function(
    "conv_transpose2d", "F.conv_transpose2d(x, w, groups=2, dilation=2)", x="2 4 5 5", w="4 3 3 3"
)
function("conv_transpose3d", "F.conv_transpose3d(x, w)", x="1 2 3 3 3", w="2 3 2 2 2")

# Sliding windows.
layer("Unfold(3)", inputs=["2 3 6 7"])
layer("Unfold((2, 3), dilation=2, padding=1, stride=2)", inputs=["2 3 8 9"])
layer("Fold((4, 5), 2)", inputs=["2 12 12"])
layer("Fold((4, 5), (2, 2), padding=(1, 2))", inputs=["2 12 40"])
function("unfold", "F.unfold(x, 3, padding=1)", x="2 3 5 5")
function("fold", "F.fold(x, output_size=(4, 5), kernel_size=2)", x="12 12")

refused("F.conv2d(x, w)", x="2 3 9 9", w="6 2 3 3")
refused("F.conv2d(x, w, groups=2)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, groups=0)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, stride=0)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, padding=-1)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, dilation=0)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, padding='same', stride=2)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, padding='full')", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w, stride=1.5)", x="2 3 9 9", w="6 3 3 3")
refused("F.conv2d(x, w)", x="2 3 9 9", w="6 3 11 11")
refused("F.conv2d(x, w)", x="3 9", w="6 3 3 3")
refused("F.conv2d(x, w)", x="2 3 9 9", w="6 3 3")
refused("F.conv2d(x, w, b)", x="2 3 9 9", w="6 3 3 3", b="5")
refused("F.conv2d(x, w)", x="2 3 9 9", w="float64 6 3 3 3")
refused("F.conv2d(x, w)", x="bool 2 3 9 9", w="bool 6 3 3 3")
refused("F.conv_transpose2d(x, w, output_padding=1)", x="2 3 9 9", w="3 4 3 3")
refused("F.conv_transpose2d(x, w)", x="2 3 9 9", w="4 3 3 3")
refused("F.unfold(x, 10)", x="2 3 9 9")
refused("F.fold(x, (9, 9), 3)", x="2 26 49")
refused("nn.Conv2d(3, 4, 3, groups=2)")
refused("nn.Conv2d(4, 3, 3, groups=2)")
refused("nn.Conv2d(4, 4, 3, groups=0)")
refused("nn.Conv2d(4, 4, 3, padding='full')")
refused("nn.Conv2d(4, 4, 3, padding='same', stride=2)")
refused("nn.Conv2d(4, 4, 3, padding_mode='mirror')")
refused("nn.ConvTranspose2d(4, 4, 3, padding_mode='reflect')")
