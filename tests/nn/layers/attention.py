"""Configurations of attention."""

from tests.nn.layers.registry import function, layer, refused

for arguments in (
    "",
    ", is_causal=True",
    ", scale=0.3",
    ", attn_mask=m",
    ", attn_mask=b",
    ", attn_mask=p",
    ", dropout_p=0.4",
    ", dropout_p=0.4, is_causal=True",
):
    text = f"F.scaled_dot_product_attention(q, k, v{arguments})"
    name = "scaled_dot_product_attention"
    masks = {"m": "5 7", "b": "bool 2 3 5 7", "p": "bool 2 1 1 7"}
    masks = {key: value for key, value in masks.items() if f"attn_mask={key}" in text}
    function(name, text, q="2 3 5 4", k="2 3 7 4", v="2 3 7 4", **masks)
    function(name, text, q="2 3 5 4", k="2 3 7 4", v="2 3 7 6", **masks)

for text, q, k in (
    ("F.scaled_dot_product_attention(q, k, v)", "5 4", "7 4"),
    ("F.scaled_dot_product_attention(q, k, v)", "3 5 4", "3 7 4"),
    ("F.scaled_dot_product_attention(q, k, v)", "2 2 2 5 4", "2 2 2 7 4"),
    ("F.scaled_dot_product_attention(q, k, v, is_causal=True)", "2 2 130 8", "2 2 130 8"),
    ("F.scaled_dot_product_attention(q, k, v)", "2 2 130 8", "2 2 70 8"),
    ("F.scaled_dot_product_attention(q, k, v)", "1 1 1 1", "1 1 1 1"),
    ("F.scaled_dot_product_attention(q, k, v, enable_gqa=True)", "2 6 5 4", "2 2 7 4"),
    ("F.scaled_dot_product_attention(q, k, v)", "float64 2 2 5 4", "float64 2 2 7 4"),
):
    function("scaled_dot_product_attention", text, q=q, k=k, v=k)

QKV = {"q": "2 3 5 4", "k": "2 3 7 4", "v": "2 3 7 4"}
refused("F.scaled_dot_product_attention(q, k, v)", **QKV | {"k": "2 3 7 5"})
refused("F.scaled_dot_product_attention(q, k, v)", **QKV | {"k": "2 2 7 4", "v": "2 2 7 4"})
refused("F.scaled_dot_product_attention(q, k, v, m)", **QKV, m="3 3")
refused("F.scaled_dot_product_attention(q, k, v, m)", **QKV, m="int64[0:2] 5 7")
refused("F.scaled_dot_product_attention(q, k, v.double())", **QKV)
refused("F.scaled_dot_product_attention(q[0, 0, 0], k, v)", **QKV)

# Several heads.
X = ["5 2 8"]
layer("MultiheadAttention(8, 2)", X, call="m(a, a, a)", zero_batch=1)
layer("MultiheadAttention(8, 2)", ["5 8"], call="m(a, a, a)", zero_batch=False)
layer("MultiheadAttention(8, 2, batch_first=True)", ["2 5 8"], call="m(a, a, a)")
layer(
    "MultiheadAttention(8, 2, batch_first=True)", ["2 5 8"], call="m(a, a, a, need_weights=False)"
)
layer(
    "MultiheadAttention(8, 4, batch_first=True)",
    ["2 5 8"],
    call="m(a, a, a, average_attn_weights=False)",
)
layer("MultiheadAttention(8, 2, dropout=0.3)", X, call="m(a, a, a)", zero_batch=1)
layer("MultiheadAttention(8, 2, bias=False)", X, call="m(a, a, a)", zero_batch=1)
layer(
    "MultiheadAttention(8, 2, dropout=0.3)",
    X,
    call="m(a, a, a, need_weights=False)",
    zero_batch=1,
)
layer("MultiheadAttention(8, 2)", ["5 2 8", "7 2 8"], call="m(a, b, b)", zero_batch=1)
for options in (
    "add_bias_kv=True",
    "add_zero_attn=True",
    "add_bias_kv=True, add_zero_attn=True, bias=False",
    "kdim=6, vdim=3",
    "kdim=6, vdim=3, bias=False, add_bias_kv=True",
    "kdim=6, vdim=3, batch_first=True",
):
    for weights in ("True", "False"):
        separate = "kdim" in options
        first = "batch_first" in options
        layer(
            f"MultiheadAttention(8, 2, {options})",
            [
                "2 5 8" if first else "5 2 8",
                "2 7 6" if first else "7 2 6" if separate else "7 2 8",
                "2 7 3" if first else "7 2 3" if separate else "7 2 8",
            ],
            call=f"m(a, b, c, need_weights={weights})",
            zero_batch=0 if first else 1,
        )
PADDING = "torch.tensor([[False] * 5, [False] * 3 + [True] * 2])"
CAUSAL = "torch.full((5, 5), float('-inf')).triu(1)"
for masks in (
    f"key_padding_mask={PADDING}",
    f"attn_mask={CAUSAL}",
    f"attn_mask={CAUSAL} != 0",
    f"attn_mask={CAUSAL}, is_causal=True",
    f"attn_mask={CAUSAL}.expand(4, 5, 5)",
    f"key_padding_mask={PADDING}, attn_mask={CAUSAL} != 0",
    f"key_padding_mask={PADDING}, attn_mask={CAUSAL} != 0, is_causal=True",
):
    for options in ("", ", add_bias_kv=True, add_zero_attn=True"):
        for weights in ("True", "False"):
            layer(
                f"MultiheadAttention(8, 2, batch_first=True{options})",
                ["2 5 8"],
                call=f"m(a, a, a, {masks}, need_weights={weights})",
                zero_batch=False,
                double=False,
            )

function(
    "multi_head_attention_forward",
    "F.multi_head_attention_forward(q, k, k, 8, 2, w, b, None, None, False, 0.0, o, c)",
    q="5 2 8",
    k="7 2 8",
    w="24 8",
    b="24",
    o="8 8",
    c="8",
)
function(
    "multi_head_attention_forward",
    "F.multi_head_attention_forward(q, k, v, 8, 2, None, b, None, None, True, 0.2, o, None,"
    " use_separate_proj_weight=True, q_proj_weight=wq, k_proj_weight=wk, v_proj_weight=wv,"
    " need_weights=False)",
    q="5 2 8",
    k="7 2 6",
    v="7 2 4",
    wq="8 8",
    wk="8 6",
    wv="8 4",
    b="24",
    o="8 8",
)
function(
    "multi_head_attention_forward",
    "F.multi_head_attention_forward(q, q, q, 8, 2, w, b, None, None, False, 0.0, o, c,"
    " static_k=s, static_v=s)",
    q="5 2 8",
    w="24 8",
    b="24",
    o="8 8",
    c="8",
    s="4 6 4",
)

refused("nn.MultiheadAttention(7, 2)")
refused("nn.MultiheadAttention(8, 0)")
refused("nn.MultiheadAttention(8, 2)(x, x, x)", x="5 2 6")
refused("nn.MultiheadAttention(8, 2)(x, x, y)", x="5 2 8", y="6 2 8")
refused("nn.MultiheadAttention(8, 2)(x, y, y)", x="5 2 8", y="6 8")
refused("nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=m)", x="5 2 8", m="4 4")
refused("nn.MultiheadAttention(8, 2)(x, x, x, attn_mask=m)", x="5 2 8", m="int64[0:2] 5 5")
refused("nn.MultiheadAttention(8, 2)(x, x, x, is_causal=True)", x="5 2 8")
refused("nn.MultiheadAttention(8, 2, kdim=3)(x, x, x)", x="5 2 8")
