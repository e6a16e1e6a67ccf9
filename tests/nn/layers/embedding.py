"""Embeddings in the configurations that the conformance suite compares."""

from tests.nn.layers.registry import function, layer, refused

layer("Embedding(10, 3)", inputs=["int64[0:10] 2 5"])
# Not in double: their gradients are no derivatives, by intent.
layer("Embedding(10, 3, padding_idx=0)", inputs=["int64[0:10] 2 5"], double=False)
layer("Embedding(10, 3, padding_idx=-1)", inputs=["int64[0:10] 20"], double=False)
layer("Embedding(5, 17, scale_grad_by_freq=True)", inputs=["int64[0:5] 4 6"], double=False)
layer("Embedding(10, 3, max_norm=1.0)", inputs=["int64[0:10] 2 5"], double=False)
layer("Embedding(10, 3, max_norm=0.5, norm_type=1.0)", inputs=["int64[0:10] 2 5"], double=False)
layer("Embedding(300, 64)", inputs=["int64[0:300] 16 20"])
for _mode in ("sum", "mean", "max"):
    layer(f"EmbeddingBag(10, 3, mode={_mode!r})", inputs=["int64[0:10] 4 5"])
    layer(f"EmbeddingBag(4, 3, mode={_mode!r}, padding_idx=1)", inputs=["int64[0:4] 4 5"])
layer("EmbeddingBag(10, 3, max_norm=1.0)", inputs=["int64[0:10] 4 5"], double=False)

layer("AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10])", inputs=["9 16", "int64[0:20] 9"])
layer(
    "AdaptiveLogSoftmaxWithLoss(16, 20, [3, 7, 12], div_value=2.0, head_bias=True)",
    inputs=["9 16", "int64[0:20] 9"],
)
layer(
    "AdaptiveLogSoftmaxWithLoss(16, 20, [5, 10])",
    inputs=["9 16"],
    call="(m.log_prob(a), m.predict(a))",
    double=False,
)

function("embedding", "F.embedding(i, w)", i="int64[0:6] 2 5", w="6 3")
function("embedding", "F.embedding(i, w, padding_idx=2)", i="int64[0:6] 2 5", w="6 3")
function(
    "embedding_bag",
    "F.embedding_bag(i, w, mode='sum', per_sample_weights=s)",
    i="int64[0:6] 2 5",
    w="6 3",
    s="2 5",
)

refused("F.embedding(i, w)", i="int64[6:8] 3", w="6 3")
refused("F.embedding(x, w)", x="3", w="6 3")
refused("F.embedding_bag(i, w)", i="int64[0:6] 3", w="6 3")
refused("F.embedding_bag(i, w, mode='median')", i="int64[0:6] 3 2", w="6 3")
refused("nn.Embedding(6, 3, padding_idx=6)(i)", i="int64[0:6] 3")
refused("nn.Embedding.from_pretrained(w)", w="3")
