"""Configurations of the Transformer and its parts."""

from tests.nn.layers.registry import layer, refused

CAUSAL = "nn.Transformer.generate_square_subsequent_mask(5)"
PADDING = "torch.tensor([[False] * 5, [False] * 3 + [True] * 2])"

for options in (
    "",
    ", activation='gelu'",
    ", norm_first=True",
    ", bias=False",
    ", dropout=0.0, activation=torch.tanh",
    ", layer_norm_eps=0.1, activation=nn.SiLU()",
):
    layer(f"TransformerEncoderLayer(8, 2, 16{options})", ["5 2 8"], zero_batch=1)
    layer(f"TransformerDecoderLayer(8, 2, 16{options})", ["5 2 8", "6 2 8"], zero_batch=1)
    layer(f"TransformerEncoderLayer(8, 2, 16, batch_first=True{options})", ["2 5 8"])

layer("TransformerEncoderLayer(8, 2, 16)", ["5 8"], zero_batch=False)
layer("TransformerDecoderLayer(8, 2, 16)", ["5 8", "6 8"], zero_batch=False)

for masks in (
    f"src_mask={CAUSAL}",
    f"src_mask={CAUSAL}, is_causal=True",
    f"src_key_padding_mask={PADDING}",
    f"src_mask={CAUSAL} != 0, src_key_padding_mask={PADDING}",
):
    layer(
        "TransformerEncoderLayer(8, 2, 16, batch_first=True)",
        ["2 5 8"],
        call=f"m(a, {masks})",
        zero_batch=False,
        double=False,
    )

ENCODER = "TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), 2"
for end in (")", ", norm=nn.LayerNorm(8))", ", enable_nested_tensor=False)", ", mask_check=False)"):
    for call in (
        "m(a)",
        f"m(a, mask={CAUSAL})",
        f"m(a, {CAUSAL}, is_causal=True)",
        f"m(a, src_key_padding_mask={PADDING})",
    ):
        layer(ENCODER + end, ["2 5 8"], call=call, zero_batch=False, double=False)

DECODER = "TransformerDecoder(nn.TransformerDecoderLayer(8, 2, 16, batch_first=True), 2"
for end in (")", ", norm=nn.LayerNorm(8))"):
    for call in (
        "m(a, b)",
        f"m(a, b, tgt_mask={CAUSAL})",
        f"m(a, b, tgt_mask={CAUSAL}, tgt_is_causal=True, memory_key_padding_mask={PADDING})",
        f"m(a, b, tgt_key_padding_mask={PADDING}, memory_mask={CAUSAL} != 0)",
    ):
        layer(DECODER + end, ["2 5 8", "2 5 8"], call=call, zero_batch=False, double=False)

WHOLE = "Transformer(8, 2, 2, 2, 16"
layer(f"{WHOLE})", ["5 2 8", "6 2 8"], zero_batch=1)
layer(f"{WHOLE})", ["5 8", "6 8"], zero_batch=False)
layer(f"{WHOLE}, batch_first=True, norm_first=True)", ["2 5 8", "2 6 8"])
layer(f"{WHOLE}, dropout=0.0, activation='gelu', bias=False)", ["5 2 8", "6 2 8"], zero_batch=1)
layer(
    f"{WHOLE}, batch_first=True)",
    ["2 5 8", "2 5 8"],
    call=f"m(a, b, src_mask={CAUSAL}, tgt_mask={CAUSAL}, memory_mask={CAUSAL}, tgt_is_causal=True)",
    zero_batch=False,
)
layer(
    f"{WHOLE}, batch_first=True)",
    ["2 5 8", "2 5 8"],
    call=f"m(a, b, tgt_mask={CAUSAL} != 0, src_key_padding_mask={PADDING},"
    f" tgt_key_padding_mask={PADDING}, memory_key_padding_mask={PADDING})",
    zero_batch=False,
)

refused("nn.TransformerEncoderLayer(8, 2, activation='x')")
refused("nn.TransformerEncoderLayer(7, 2)")
refused("nn.Transformer(8, 2, 1, 1, 16)(x, y)", x="5 2 8", y="5 3 8")
refused("nn.Transformer(8, 2, 1, 1, 16)(x, y)", x="5 2 6", y="5 2 8")
