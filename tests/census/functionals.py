"""Examples of nn.functional (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_SEQUENCE = "t.arange(30.0).reshape(5, 2, 3).log_softmax(2)"

# `F` stands for t.nn.functional.
FUNCTIONALS: dict[str, list[str]] = {
    "pad": [
        "F.pad(input=x, pad=(1, 2), mode='constant', value=0.5)",
        "F.pad(image, (1, 1, 2, 0), mode='reflect')",
    ],
    "dropout": ["F.dropout(x, p=0.5, training=True, inplace=False)", "F.dropout(x, 0.3, False)"],
    "softmax": ["F.softmax(x, dim=-1, dtype=t.float64)", "F.softmax(image, dim=1)"],
    "interpolate": [
        "F.interpolate(input=image, size=(7, 5), mode='bilinear', align_corners=False)",
        "F.interpolate(image, scale_factor=2.0, mode='nearest', recompute_scale_factor=True)",
        "F.interpolate(image, size=(3, 2), mode='bicubic', antialias=True, align_corners=False)",
    ],
    "relu": ["F.relu(x)", "F.relu(x.clone(), inplace=True)"],
    "linear": ["F.linear(input=x, weight=s, bias=t.ones(3))", "F.linear(x, s)"],
    "mse_loss": [
        "F.mse_loss(input=x, target=y, reduction='sum')",
        "F.mse_loss(x, y, weight=u)",
        "F.mse_loss(x, y, size_average=False, reduce=True)",
    ],
    "log_softmax": ["F.log_softmax(x, dim=1, dtype=t.float64)"],
    "cross_entropy": [
        "F.cross_entropy(input=x, target=k, weight=t.ones(3), reduction='none')",
        "F.cross_entropy(x, k, ignore_index=0, label_smoothing=0.1)",
        "F.cross_entropy(x, k, reduce=False)",
        "F.cross_entropy(x, u)",
    ],
    "one_hot": ["F.one_hot(kk, num_classes=4)", "F.one_hot(k)"],
    "normalize": ["F.normalize(x, p=2.0, dim=1, eps=1e-6)", "F.normalize(x, out=t.empty(2, 3))"],
    "softplus": ["F.softplus(x)"],
    "silu": ["F.silu(x, inplace=False)"],
    "scaled_dot_product_attention": [
        "F.scaled_dot_product_attention(query=b, key=b, value=b, attn_mask=s, dropout_p=0.0)",
        "F.scaled_dot_product_attention(b, b, b, is_causal=True, scale=0.5)",
        "F.scaled_dot_product_attention(b[None], b[None, :1], b[None, :1], enable_gqa=True)",
    ],
    "nll_loss": [
        "F.nll_loss(x, k, weight=t.ones(3), ignore_index=5, reduction='sum')",
        "F.nll_loss(x, k, size_average=False)",
    ],
    "max_pool2d": [
        "F.max_pool2d(input=image, kernel_size=2, stride=1, padding=1, ceil_mode=True)",
        "F.max_pool2d(image, 2)",
    ],
    "conv2d": [
        (
            "F.conv2d(input=image, weight=t.ones(3, 1, 2, 2), bias=t.ones(3), stride=2, padding=1,"
            " dilation=1, groups=3)"
        ),
        "F.conv2d(image, t.ones(2, 3, 3, 3), padding='same')",
    ],
    "gelu": ["F.gelu(x)", "F.gelu(x, approximate='tanh')"],
    "sigmoid": ["F.sigmoid(x)"],
    "grid_sample": [
        (
            "F.grid_sample(input=image, grid=t.linspace(-1, 1, 24).reshape(1, 3, 4, 2),"
            " mode='bilinear', padding_mode='border', align_corners=True)"
        ),
    ],
    "conv1d": [
        (
            "F.conv1d(input=b, weight=t.ones(3, 1, 2), bias=t.ones(3), stride=1, padding=1,"
            " dilation=1,"
            " groups=3)"
        ),
    ],
    "leaky_relu": ["F.leaky_relu(x, negative_slope=0.2, inplace=False)"],
    "layer_norm": ["F.layer_norm(x, (3,), weight=t.ones(3), bias=t.zeros(3), eps=1e-3)"],
    "binary_cross_entropy_with_logits": [
        "F.binary_cross_entropy_with_logits(x, u, weight=u, reduction='none')",
        "F.binary_cross_entropy_with_logits(x, u, pos_weight=t.ones(3), size_average=True)",
    ],
    "avg_pool2d": [
        (
            "F.avg_pool2d(input=image, kernel_size=2, stride=2, padding=1, ceil_mode=True,"
            " count_include_pad=False)"
        ),
    ],
    "logsigmoid": ["F.logsigmoid(x)"],
    "l1_loss": ["F.l1_loss(input=x, target=y, reduction='sum')", "F.l1_loss(x, y, reduce=True)"],
    "elu": ["F.elu(x)"],
    "adaptive_avg_pool2d": ["F.adaptive_avg_pool2d(image, output_size=(3, 2))"],
    "embedding": ["F.embedding(k, x)"],
    "kl_div": ["F.kl_div(x, u, reduction='batchmean', log_target=True)"],
    "conv3d": [
        (
            "F.conv3d(image.reshape(1, 3, 4, 2, 2), t.ones(3, 1, 2, 1, 1), stride=1, padding=1,"
            " dilation=1, groups=3)"
        ),
    ],
    "glu": ["F.glu(v, dim=0)"],
    "affine_grid": ["F.affine_grid(theta=y[None], size=(1, 1, 2, 3), align_corners=False)"],
    "binary_cross_entropy": [
        "F.binary_cross_entropy(u, u, reduction='sum')",
        "F.binary_cross_entropy(u, u, size_average=True)",
    ],
    "unfold": ["F.unfold(image, kernel_size=2, dilation=1, padding=1, stride=2)"],
    "tanh": ["F.tanh(x)"],
    "ctc_loss": [
        (
            f"F.ctc_loss({_SEQUENCE}, t.tensor([[1], [2]]), (5, 4), (1, 1), blank=0,"
            " reduction='sum',"
            " zero_infinity=True)"
        ),
    ],
    "conv_transpose2d": [
        (
            "F.conv_transpose2d(input=image, weight=t.ones(3, 1, 2, 2), bias=t.ones(3), stride=2,"
            " padding=1, output_padding=1, groups=3, dilation=1)"
        ),
    ],
    "cosine_similarity": ["F.cosine_similarity(x, y, dim=1, eps=1e-6)"],
    "batch_norm": [
        (
            "F.batch_norm(x, running_mean=t.zeros(3), running_var=t.ones(3), weight=t.ones(3),"
            " training=True, momentum=0.2, eps=1e-3)"
        ),
    ],
    "smooth_l1_loss": ["F.smooth_l1_loss(x, y, reduction='sum', beta=0.5)"],
    "conv_transpose3d": [
        (
            "F.conv_transpose3d(image.reshape(1, 3, 4, 2, 2), t.ones(3, 1, 2, 1, 1), stride=2,"
            " groups=3)"
        ),
    ],
    "conv_transpose1d": [
        "F.conv_transpose1d(b, t.ones(3, 1, 2), stride=2, padding=1, groups=3)",
    ],
    "gumbel_softmax": ["F.gumbel_softmax(x, tau=0.5, hard=True, dim=-1)"],
    "group_norm": ["F.group_norm(image, 3, eps=1e-3)"],
    "instance_norm": [
        (
            "F.instance_norm(image, running_mean=t.zeros(3), running_var=t.ones(3),"
            " weight=t.ones(3),"
            " bias=t.zeros(3), use_input_stats=True, momentum=0.2, eps=1e-3)"
        ),
    ],
    "fold": [
        (
            "F.fold(input=t.arange(36.0).reshape(1, 4, 9), output_size=(4, 4), kernel_size=2,"
            " stride=2,"
            " padding=1)"
        ),
    ],
    "rms_norm": ["F.rms_norm(x, normalized_shape=(3,), weight=t.ones(3), eps=1e-3)"],
    "max_pool1d": ["F.max_pool1d(b, kernel_size=2, stride=1)"],
    "relu6": ["F.relu6(x, inplace=False)"],
    "adaptive_max_pool2d": ["F.adaptive_max_pool2d(image, output_size=2)"],
}
