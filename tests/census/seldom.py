"""Examples of names that few programs use (operands: see ``__init__.py``)."""

from __future__ import annotations

_SAVED = (
    "type('Double', (t.autograd.Function,), {"
    "'forward': staticmethod(lambda ctx, a: (ctx.save_for_backward(a), a * 2)[1]),"
    " 'backward': staticmethod(lambda ctx, g: g * ctx.saved_tensors[0])})"
    ".apply(x.requires_grad_()).sum().backward()"
)
_POLICIES = "MUST_SAVE PREFER_RECOMPUTE MUST_RECOMPUTE MUST_CPU_OFFLOAD"
# Attributes that the objects of a class have, and how an object is made.
_LAYERS = {
    "nn.Conv1d(2, 4, 3, stride=2)": "kernel_size stride dilation out_channels",
    "nn.Conv2d(2, 4, 3)": "in_channels padding_mode",
    "nn.Conv3d(2, 4, 3)": "stride kernel_size dilation out_channels",
    "nn.ConvTranspose1d(2, 4, 3)": "kernel_size stride",
    "nn.ConvTranspose2d(2, 4, 3)": (
        "out_channels groups in_channels output_padding stride kernel_size"
    ),
    "nn.MaxPool2d(3, 2)": "kernel_size stride ceil_mode dilation padding",
    "nn.AvgPool2d(3)": "ceil_mode count_include_pad",
    "nn.AdaptiveAvgPool2d(3)": "output_size",
    "nn.GroupNorm(2, 4)": "affine",
    "nn.LayerNorm(4)": "elementwise_affine",
    "nn.Unfold(3)": "dilation kernel_size padding stride",
}
_RECURRENT = "hidden_size input_size num_layers"

SELDOM: dict[str, list[str]] = {
    **{
        f"{layer.partition('(')[0]}.{name}": [f"{layer}.{name}"]
        for layer, names in _LAYERS.items()
        for name in names.split(" ")
    },
    **{f"nn.RNNBase.{name}": [f"nn.LSTM(2, 3).{name}"] for name in _RECURRENT.split(" ")},
    "nn.RNNCellBase.weight_hh": ["nn.GRUCell(2, 3).weight_hh.shape"],
    "nn.PReLU.weight": ["nn.PReLU().weight"],
    "nn.MultiheadAttention.out_proj": ["nn.MultiheadAttention(4, 2).out_proj.weight.shape"],
    "nn.Transformer.encoder": [
        ("nn.Transformer(4, 2, 1, 1, 8).eval().encoder(t.ones(3, 1, 4), mask=t.zeros(3, 3)).shape")
    ],
    "nn.Transformer.decoder": ["len(nn.Transformer(4, 2, 1, 2, 8).decoder.layers)"],
    # the graph
    "autograd.function.FunctionCtx.saved_tensors": [_SAVED],
    "autograd.Function.saved_tensors": [_SAVED],
    **{
        f"utils.checkpoint.CheckpointPolicy.{name}": [
            f"t.utils.checkpoint.CheckpointPolicy.{name}.value"
        ]
        for name in _POLICIES.split(" ")
    },
    "utils.checkpoint.create_selective_checkpoint_contexts": [
        "len(t.utils.checkpoint.create_selective_checkpoint_contexts(lambda ctx, op, *args: None))"
    ],
    # datasets
    **{
        f"utils.data.{name}": [call]
        for name, call in {
            "IterDataPipe": "isinstance(t.utils.data.datapipes.iter.IterableWrapper([1]),"
            " t.utils.data.IterDataPipe)",
            "functional_datapipe": "callable(t.utils.data.functional_datapipe('name'))",
            "datapipes.iter": "t.utils.data.datapipes.iter.__name__.endswith('iter')",
            "datapipes.iter.IterableWrapper": (
                "list(t.utils.data.datapipes.iter.IterableWrapper(range(4)).map(lambda i: i * 2))"
            ),
            "datapipes.iter.Batcher": (
                "[list(b) for b in t.utils.data.datapipes.iter.Batcher("
                "t.utils.data.datapipes.iter.IterableWrapper(range(4)), 3)]"
            ),
            "datapipes.iter.FileLister": (
                "list(t.utils.data.datapipes.iter.FileLister('.', masks='*.none', recursive=True))"
            ),
            "datapipes.iter.FileOpener": (
                "list(t.utils.data.datapipes.iter.FileOpener("
                "t.utils.data.datapipes.iter.IterableWrapper([]), mode='rb'))"
            ),
        }.items()
    },
    "nn.functional.grouped_mm": [
        "F.grouped_mm(t.ones(6, 8), t.ones(2, 8, 16), offs=t.tensor([2, 6], dtype=t.int32))"
    ],
    "sparse.FloatTensor": [
        "t.sparse.FloatTensor(t.tensor([[0, 1], [1, 0]]), v[:2], (2, 2)).to_dense()"
    ],
    "sparse.LongTensor": ["t.sparse.LongTensor(2, 3).to_dense()"],
    # masks
    "masked.mean": ["t.masked.mean(x, mask=m, dim=0, keepdim=True, dtype=t.float64)"],
    "masked.var": ["t.masked.var(x, mask=m, dim=1, keepdim=True, unbiased=False)"],
    # hooks and masks of attention
    "utils.hooks.RemovableHandle.id": [
        "isinstance(nn.ReLU().register_forward_hook(lambda *a: None).id, int)"
    ],
    **{
        f"nn.attention.flex_attention.BlockMask.{name}": [
            (
                "str(nn.attention.flex_attention.create_block_mask(lambda b, h, q, k: q >= k,"
                f" None, None, 128, 128, device='cpu').{name} is not None)"
            )
        ]
        for name in ("mask_mod", "BLOCK_SIZE", "kv_num_blocks")
    },
    # numbers that are known later
    "SymInt": ["isinstance(x.shape[0], t.SymInt)"],
    "SymBool": ["isinstance(True, t.SymBool)"],
    "SymFloat": ["isinstance(2.5, t.SymFloat)"],
    "sym_float": ["t.sym_float(3)"],
    "sym_int": ["t.sym_int(2.75)"],
    "sym_ite": ["t.sym_ite(True, 1, 2)"],
    "sym_max": ["t.sym_max(3, 2.0)"],
    "sym_min": ["t.sym_min(3, 2)"],
    "sym_not": ["t.sym_not(False)"],
    "sym_sum": ["t.sym_sum([1, 2, 3])"],
    # tensors and storages
    "Tensor.resize": ["x.resize(3, 2)"],
    "Tensor.dequantize": ["x.dequantize()"],
    "clamp_": ["t.clamp_(x.clone(), min=0.5)"],
    "nan_to_num_": ["t.nan_to_num_(w.clone(), nan=3.0)"],
    "detach_copy": ["t.detach_copy(x)"],
    "expand_copy": ["t.expand_copy(k, (2, 2))"],
    "spmm": ["t.spmm(s.to_sparse(), s)"],
    "jagged": ["str(t.jagged)"],
    "return_types": ["isinstance(x.max(0), t.return_types.max)"],
    "return_types.cummax": ["isinstance(x.cummax(0), t.return_types.cummax)"],
    "return_types.cummin": ["isinstance(x.cummin(0), t.return_types.cummin)"],
    "return_types.topk": ["isinstance(x.topk(1), t.return_types.topk)"],
    "utils.swap_tensors": ["t.utils.swap_tensors(x, t.ones(2))"],
    "range": ["t.range(0, 1, 0.25)"],
    "functional": ["t.functional.split(x, 2)"],
    "pca_lowrank": ["t.pca_lowrank(x, q=2)[1]"],
    "storage": ["isinstance(x.storage(), t.storage.TypedStorage)"],
    "TypedStorage.from_buffer": ["t.IntStorage.from_buffer(b'abcd', 'little').tolist()"],
    "testing.assert_allclose": ["t.testing.assert_allclose(x, x + 1e-7, rtol=1e-4, atol=1e-5)"],
    "utils.deterministic.fill_uninitialized_memory": [
        "t.utils.deterministic.fill_uninitialized_memory"
    ],
}
