"""Examples of modules and what is around them (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_LINEAR = "nn.Linear(3, 2)"
_NET = "nn.Sequential(nn.Linear(3, 4), nn.BatchNorm1d(4))"
_MODULE = "type('Net', (nn.Module,), {'forward': lambda self, x: x + 1})()"

LAYERS: dict[str, list[str]] = {
    "Linear": [
        "nn.Linear(in_features=3, out_features=2, bias=False, device='cpu', dtype=t.float32)(x)",
        "nn.Linear(3, 2)(x)",
    ],
    "Conv2d": [
        (
            "nn.Conv2d(in_channels=3, out_channels=6, kernel_size=3, stride=2, padding=1,"
            " dilation=1,"
            " groups=3, bias=False)(image)"
        ),
        "nn.Conv2d(3, 2, (1, 3), padding='same')(image)",
    ],
    "LayerNorm": [
        (
            "nn.LayerNorm(normalized_shape=3, eps=1e-3, elementwise_affine=True, bias=False,"
            " device='cpu', dtype=t.float32)(x)"
        ),
    ],
    "Dropout": ["nn.Dropout(p=0.5, inplace=False)(x)", "nn.Dropout(0.1).eval()(x)"],
    "ReLU": ["nn.ReLU()(x)", "nn.ReLU(inplace=True)(x.clone())"],
    "Embedding": [
        (
            "nn.Embedding(num_embeddings=5, embedding_dim=3, padding_idx=0, max_norm=1.0,"
            " sparse=False,"
            " device='cpu', dtype=t.float32)(kk)"
        ),
    ],
    "Identity": ["nn.Identity(5, unused=True)(x)"],
    "BatchNorm2d": [
        (
            "nn.BatchNorm2d(num_features=3, eps=1e-3, momentum=0.2, affine=True,"
            " track_running_stats=True)(image)"
        ),
    ],
    "CrossEntropyLoss": [
        (
            "nn.CrossEntropyLoss(weight=t.ones(3), ignore_index=0, reduction='sum',"
            " label_smoothing=0.1)(x, k)"
        ),
        "nn.CrossEntropyLoss(size_average=False, reduce=True)(x, k)",
    ],
    "Conv1d": [
        (
            "nn.Conv1d(in_channels=3, out_channels=6, kernel_size=2, stride=1, padding=1,"
            " dilation=1,"
            " groups=3, bias=False)(b)"
        ),
    ],
    "GELU": ["nn.GELU(approximate='tanh')(x)"],
    "MaxPool2d": ["nn.MaxPool2d(kernel_size=2, stride=1, padding=1, ceil_mode=True)(image)"],
    "SiLU": ["nn.SiLU(inplace=False)(x)"],
    "GroupNorm": ["nn.GroupNorm(num_groups=3, num_channels=3, eps=1e-3, affine=True)(image)"],
    "BatchNorm1d": [
        (
            "nn.BatchNorm1d(3, eps=1e-3, momentum=0.2, affine=False, track_running_stats=True,"
            " device='cpu')(x)"
        ),
    ],
    "LeakyReLU": ["nn.LeakyReLU(negative_slope=0.2, inplace=False)(x)"],
    "MSELoss": [
        "nn.MSELoss(reduction='sum')(x, y)",
        "nn.MSELoss(size_average=True, reduce=True)(x, y)",
    ],
    "ConvTranspose2d": [
        (
            "nn.ConvTranspose2d(in_channels=3, out_channels=3, kernel_size=2, stride=2, padding=1,"
            " output_padding=1, groups=3, bias=False)(image)"
        ),
    ],
    "Tanh": ["nn.Tanh()(x)"],
    "BCEWithLogitsLoss": ["nn.BCEWithLogitsLoss(reduction='sum', pos_weight=t.ones(3))(x, u)"],
    "Conv3d": [
        (
            "nn.Conv3d(in_channels=3, out_channels=3, kernel_size=(2, 1, 1), stride=1, padding=1,"
            " dilation=1, groups=3, bias=False)(image.reshape(1, 3, 4, 2, 2))"
        ),
    ],
    "Flatten": ["nn.Flatten(start_dim=0, end_dim=1)(image)"],
    "Sigmoid": ["nn.Sigmoid()(x)"],
    "Softmax": ["nn.Softmax(dim=1)(x)"],
    "AvgPool2d": [
        (
            "nn.AvgPool2d(kernel_size=2, stride=1, padding=1, ceil_mode=True,"
            " count_include_pad=False)(image)"
        ),
    ],
    "AdaptiveAvgPool2d": ["nn.AdaptiveAvgPool2d(output_size=(3, None))(image)"],
    "RMSNorm": ["nn.RMSNorm(3, eps=1e-3, elementwise_affine=True, dtype=t.float32)(x)"],
    "LSTM": [
        (
            "nn.LSTM(input_size=3, hidden_size=2, num_layers=2, bias=True, batch_first=True,"
            " dropout=0.0, bidirectional=True)(b)"
        ),
    ],
    "Upsample": [
        "nn.Upsample(scale_factor=2, mode='bilinear', align_corners=True)(image)",
        "nn.Upsample(size=(5, 6))(image)",
    ],
    "InstanceNorm2d": ["nn.InstanceNorm2d(3, affine=True, track_running_stats=True)(image)"],
    "PReLU": ["nn.PReLU(num_parameters=3)(image)"],
    "Dropout2d": ["nn.Dropout2d(p=0.5, inplace=False)(image)"],
    "GRU": [
        (
            "nn.GRU(input_size=3, hidden_size=2, num_layers=2, bias=True, batch_first=True,"
            " dropout=0.0, bidirectional=True)(b)"
        ),
    ],
    "ConvTranspose1d": [
        (
            "nn.ConvTranspose1d(in_channels=3, out_channels=3, kernel_size=2, stride=2, padding=1,"
            " output_padding=1, groups=3, bias=False)(b)"
        ),
    ],
    "L1Loss": [
        "nn.L1Loss(reduction='none')(x, y)",
        "nn.L1Loss(size_average=True, reduce=False)(x, y)",
    ],
    "MultiheadAttention": [
        (
            "nn.MultiheadAttention(embed_dim=4, num_heads=2, dropout=0.0, bias=True,"
            " add_bias_kv=True,"
            " batch_first=True, device='cpu', dtype=t.float32)(*[image[0]] * 3)"
        ),
    ],
    "BCELoss": [
        "nn.BCELoss(weight=u, reduction='sum')(u, u)",
        "nn.BCELoss(size_average=True, reduce=True)(u, u)",
    ],
    "RNN": [
        (
            "nn.RNN(input_size=3, hidden_size=2, num_layers=2, nonlinearity='relu', bias=True,"
            " batch_first=True, dropout=0.0, bidirectional=True)(b)"
        ),
    ],
    "NLLLoss": [
        "nn.NLLLoss(weight=t.ones(3), reduction='sum')(x, k)",
        "nn.NLLLoss(size_average=True, reduce=True)(x, k)",
    ],
    "Hardswish": ["nn.Hardswish(inplace=False)(x)"],
    "PixelShuffle": ["nn.PixelShuffle(upscale_factor=2)(t.arange(16.0).reshape(1, 4, 2, 2))"],
    "ELU": ["nn.ELU(inplace=False)(x)"],
    "LogSoftmax": ["nn.LogSoftmax(dim=1)(x)"],
    "BatchNorm3d": ["nn.BatchNorm3d(3)(image.reshape(1, 3, 4, 2, 2))"],
    "ReLU6": ["nn.ReLU6(inplace=False)(x)"],
    "ZeroPad2d": ["nn.ZeroPad2d(padding=(1, 0, 2, 1))(image)"],
    "AdaptiveMaxPool2d": ["nn.AdaptiveMaxPool2d((2, 3))(image)"],
    "GLU": ["nn.GLU(dim=0)(x)"],
    "LSTMCell": ["nn.LSTMCell(input_size=3, hidden_size=2, bias=True)(x)"],
    "ReflectionPad2d": ["nn.ReflectionPad2d(padding=1)(image)"],
    "AvgPool1d": ["nn.AvgPool1d(kernel_size=2, stride=1, padding=1, ceil_mode=True)(b)"],
    "Softplus": ["nn.Softplus()(x)"],
    "TransformerEncoderLayer": [
        (
            "nn.TransformerEncoderLayer(d_model=4, nhead=2, dim_feedforward=8, dropout=0.0,"
            " activation='gelu', batch_first=True, norm_first=True)(image[0])"
        ),
    ],
    "AdaptiveAvgPool1d": ["nn.AdaptiveAvgPool1d(2)(b)"],
    "GRUCell": ["nn.GRUCell(input_size=3, hidden_size=2, bias=True)(x)"],
}

MODULES: dict[str, list[str]] = {
    **LAYERS,
    # containers and what they hold
    "Module": [f"{_MODULE}(x)", f"str({_MODULE})"],
    "ModuleList": ["nn.ModuleList([nn.Linear(3, 3), nn.ReLU()])[0](x)"],
    "ModuleList.append": ["str(nn.ModuleList([nn.ReLU()]).append(nn.Tanh()))"],
    "ModuleList.extend": ["str(nn.ModuleList([nn.ReLU()]).extend([nn.Tanh()]))"],
    "ModuleList.insert": ["[(m := nn.ModuleList([nn.ReLU()])).insert(0, nn.Tanh()), str(m)][1]"],
    "ModuleDict": ["nn.ModuleDict({'a': nn.Linear(3, 3)})['a'](x)"],
    "ModuleDict.items": ["[k for k, _ in nn.ModuleDict({'a': nn.ReLU()}).items()]"],
    "ModuleDict.values": ["[str(m) for m in nn.ModuleDict({'a': nn.ReLU()}).values()]"],
    "Sequential": [f"{_NET}(x)", "nn.Sequential(nn.ReLU(), nn.Linear(3, 2))[1](x)"],
    "ParameterList": ["nn.ParameterList([nn.Parameter(x)])[0]"],
    "ParameterDict": ["nn.ParameterDict({'a': nn.Parameter(x)})['a']"],
    "Parameter": ["nn.Parameter(data=x, requires_grad=False)", "nn.Parameter(x)"],
    "UninitializedParameter": [
        "isinstance(nn.UninitializedParameter(device='cpu', dtype=t.float32), nn.Parameter)"
    ],
    "Buffer": ["nn.Buffer(x, persistent=False)"],
    # what every module can do
    "Module.to": [
        f"{_LINEAR}.to(device='cpu', dtype=t.float64, non_blocking=True)(x.double())",
        "nn.Conv2d(3, 2, 3).to(memory_format=t.channels_last).weight",
    ],
    "Module.eval": [f"{_NET}.eval()(x)"],
    "Module.parameters": [f"list({_NET}.parameters(recurse=True))"],
    "Module.training": [f"{_LINEAR}.eval().training"],
    "Module.train": [f"{_NET}.train(mode=False)(x)", f"{_NET}.train()(x)"],
    "Module.register_buffer": [
        f"[(m := {_LINEAR}).register_buffer('b', tensor=x, persistent=False), m.b][1]"
    ],
    "Module.named_parameters": [
        f"list({_NET}.named_parameters(prefix='p', recurse=True, remove_duplicate=True))"
    ],
    "Module.add_module": [f"[(m := {_NET}).add_module(name='z', module=nn.ReLU()), str(m)][1]"],
    "Module.modules": [f"[str(m) for m in {_NET}.modules()]"],
    "Module.forward": [f"{_LINEAR}.forward(x)"],
    "Module.requires_grad_": [f"{_LINEAR}.requires_grad_(False).weight.requires_grad"],
    "Module.named_modules": [
        f"[n for n, _ in {_NET}.named_modules(prefix='p', remove_duplicate=False)]"
    ],
    "Module.children": [f"[str(m) for m in {_NET}.children()]"],
    "Module.apply": [f"{_NET}.apply(lambda m: m.eval()).training"],
    "Module.register_parameter": [
        f"[(m := {_LINEAR}).register_parameter(name='p', param=nn.Parameter(x)), m.p][1]"
    ],
    "Module.named_children": [f"[n for n, _ in {_NET}.named_children()]"],
    "Module.zero_grad": [
        f"[(m := {_LINEAR})(x).sum().backward(), m.zero_grad(set_to_none=False), m.weight.grad][2]"
    ],
    "Module.half": [f"{_LINEAR}.half().weight"],
    "Module.cuda": [f"callable({_LINEAR}.cuda)"],
    "Module.float": [f"{_LINEAR}.float()(x)"],
    "Module.compile": [f"callable({_LINEAR}.compile)"],
    "Module.cpu": [f"{_LINEAR}.cpu()(x)"],
    "Module.register_forward_hook": [
        (
            f"[(m := {_LINEAR}).register_forward_hook(lambda m, a, k, y: y + 1, with_kwargs=True,"
            " always_call=True), m(x)][1]"
        )
    ],
    "Module.register_forward_pre_hook": [
        f"[(m := {_LINEAR}).register_forward_pre_hook(lambda m, a: (a[0] + 1,)), m(x)][1]"
    ],
    "Module.named_buffers": [
        f"list({_NET}.named_buffers(prefix='p', recurse=True, remove_duplicate=True))"
    ],
    "Module.buffers": [f"list({_NET}.buffers(recurse=True))"],
    "Module.get_submodule": [f"str({_NET}.get_submodule('1'))"],
    "Module.get_buffer": [f"{_NET}.get_buffer('1.running_mean')"],
    "Module.to_empty": [f"{_LINEAR}.to_empty(device='cpu', recurse=True).weight.shape"],
    # attributes of layers
    "Linear.weight": [f"{_LINEAR}.weight"],
    "Linear.bias": [f"{_LINEAR}.bias", "nn.Linear(3, 2, bias=False).bias"],
    "Linear.in_features": [f"{_LINEAR}.in_features"],
    "Linear.reset_parameters": [f"[(m := {_LINEAR}).reset_parameters(), m.weight][1]"],
    "Embedding.weight": ["nn.Embedding(5, 3).weight"],
    "Embedding.num_embeddings": ["nn.Embedding(5, 3).num_embeddings"],
    "Embedding.padding_idx": ["nn.Embedding(5, 3, padding_idx=-1).padding_idx"],
    "Embedding.from_pretrained": ["nn.Embedding.from_pretrained(x, freeze=False)(k)"],
    **{
        f"Conv2d.{name}": [f"nn.Conv2d(4, 6, (3, 2), 2, padding=1, groups=2).{name}"]
        for name in [
            "weight",
            "bias",
            "stride",
            "padding",
            "kernel_size",
            "dilation",
            "out_channels",
            "groups",
        ]
    },
    "Conv1d.weight": ["nn.Conv1d(3, 2, 2).weight"],
    "Conv1d.bias": ["nn.Conv1d(3, 2, 2).bias"],
    "Conv3d.weight": ["nn.Conv3d(3, 2, 2).weight"],
    **{
        f"BatchNorm2d.{name}": [f"nn.BatchNorm2d(3).{name}"]
        for name in ["weight", "bias", "running_mean", "running_var"]
    },
    **{
        f"LayerNorm.{name}": [f"nn.LayerNorm(3).{name}"]
        for name in ["weight", "bias", "eps", "normalized_shape"]
    },
    "LayerNorm.reset_parameters": ["[(m := nn.LayerNorm(3)).reset_parameters(), m.weight][1]"],
    **{
        f"GroupNorm.{name}": [f"nn.GroupNorm(3, 6).{name}"]
        for name in ["weight", "bias", "eps", "num_groups"]
    },
    "Dropout.p": ["nn.Dropout(0.25).p"],
    # initialisation
    "init.constant_": ["nn.init.constant_(x, val=2.0)"],
    "init.zeros_": ["nn.init.zeros_(x)"],
    "init.ones_": ["nn.init.ones_(x)"],
    "init.normal_": ["nn.init.normal_(x, mean=1.0, std=0.5)"],
    "init.uniform_": ["nn.init.uniform_(x, a=-1.0, b=2.0)"],
    "init.xavier_uniform_": ["nn.init.xavier_uniform_(x, gain=2.0)"],
    "init.xavier_normal_": ["nn.init.xavier_normal_(x, gain=2.0)"],
    "init.kaiming_normal_": [
        "nn.init.kaiming_normal_(x, a=0.1, mode='fan_out', nonlinearity='leaky_relu')"
    ],
    "init.kaiming_uniform_": [
        "nn.init.kaiming_uniform_(x, a=0.1, mode='fan_in', nonlinearity='relu')"
    ],
    "init.trunc_normal_": ["nn.init.trunc_normal_(x, mean=0.1, std=0.5, a=-1.0, b=1.0)"],
    "init.orthogonal_": ["nn.init.orthogonal_(x, gain=2.0)"],
    "init.calculate_gain": ["nn.init.calculate_gain('relu')"],
    # utilities
    "utils.clip_grad_norm_": [
        (
            f"[(m := {_LINEAR})(x).sum().backward(), nn.utils.clip_grad_norm_(m.parameters(),"
            " max_norm=0.5, norm_type=2.0, error_if_nonfinite=True), m.weight.grad][1:]"
        )
    ],
    "utils.weight_norm": [f"nn.utils.weight_norm({_LINEAR}, name='weight', dim=0)(x)"],
    "utils.remove_weight_norm": [
        f"nn.utils.remove_weight_norm(nn.utils.weight_norm({_LINEAR}), name='weight')(x)"
    ],
    "utils.parametrizations.weight_norm": [
        f"nn.utils.parametrizations.weight_norm({_LINEAR}, name='weight', dim=0)(x)"
    ],
    "utils.rnn.pad_sequence": [
        (
            "nn.utils.rnn.pad_sequence(sequences=[v, v[:2]], batch_first=True, padding_value=9.0,"
            " padding_side='right')"
        )
    ],
    "utils.rnn.pack_padded_sequence": [
        (
            "nn.utils.rnn.pack_padded_sequence(b, lengths=[3, 2], batch_first=True,"
            " enforce_sorted=False).data"
        )
    ],
    "utils.rnn.pad_packed_sequence": [
        (
            "nn.utils.rnn.pad_packed_sequence(nn.utils.rnn.pack_padded_sequence(b, [3, 2], True),"
            " batch_first=True, padding_value=9.0, total_length=4)"
        )
    ],
    # attention
    "attention.sdpa_kernel": [
        (
            "nn.attention.sdpa_kernel([nn.attention.SDPBackend.MATH], set_priority=True)("
            "lambda: F.scaled_dot_product_attention(b, b, b))()"
        )
    ],
    "attention.flex_attention.create_block_mask": [
        (
            "nn.attention.flex_attention.create_block_mask(mask_mod=lambda b, h, q, k: q >= k,"
            " B=None,"
            " H=None, Q_LEN=128, KV_LEN=128, device='cpu', _compile=False).shape"
        ),
    ],
    "attention.flex_attention.flex_attention": [
        (
            "nn.attention.flex_attention.flex_attention(image, image, image, block_mask=None,"
            " enable_gqa=False)"
        )
    ],
    "attention.flex_attention.BlockMask": [
        (
            "nn.attention.flex_attention.BlockMask(seq_lengths=(128, 128),"
            " kv_num_blocks=t.ones(1, 1, 1, dtype=t.int32), kv_indices=t.zeros(1, 1, 1, 1,"
            " dtype=t.int32),"
            " full_kv_num_blocks=None, full_kv_indices=None, q_num_blocks=t.ones(1, 1, 1,"
            " dtype=t.int32),"
            " q_indices=t.zeros(1, 1, 1, 1, dtype=t.int32), full_q_num_blocks=None,"
            " full_q_indices=None, BLOCK_SIZE=(128, 128),"
            " mask_mod=lambda b, h, q, k: q >= k).shape"
        ),
    ],
}
