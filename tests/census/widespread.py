"""Examples of names that many repositories use, though seldom (operands: see ``__init__.py``)."""

from __future__ import annotations

_UNARY = "square log10 log1p log2 neg atan acos tan clone logical_not"
_BINARY = "minimum atan2 fmod lt ge ne remainder floor_divide multiply logical_or"
_METHODS = "neg ceil sign logical_not conj short"
_INPLACE = "sqrt_ abs_ neg_ exp_ floor_"
_SIGNAL = "t.linspace(0, 3, 40).sin()"
_NORMALISED = "nn.BatchNorm1d(3)"
_ATTRIBUTES = "weight bias running_mean"
_BACKENDS = "FLASH_ATTENTION MATH EFFICIENT_ATTENTION"

WIDESPREAD: dict[str, list[str]] = {
    **{name: [f"t.{name}(u)"] for name in _UNARY.split(" ")},
    **{name: [f"t.{name}(x, y)"] for name in _BINARY.split(" ")},
    **{f"Tensor.{name}": [f"x.{name}()"] for name in _METHODS.split(" ")},
    **{f"Tensor.{name}": [f"u.{name}()"] for name in _INPLACE.split(" ")},
    **{f"nn.BatchNorm1d.{name}": [f"{_NORMALISED}.{name}"] for name in _ATTRIBUTES.split(" ")},
    **{
        f"nn.attention.SDPBackend.{name}": [f"t.nn.attention.SDPBackend.{name}.name"]
        for name in _BACKENDS.split(" ")
    },
    # types and settings
    "complex64": ["t.complex64", "t.ones(2, dtype=t.complex64)"],
    "complex128": ["t.complex128", "t.ones(2, dtype=t.complex128)"],
    "BoolTensor": ["t.BoolTensor([True, False])", "isinstance(m, t.BoolTensor)"],
    "Size.numel": ["x.shape.numel()"],
    "finfo.tiny": ["t.finfo(t.float32).tiny"],
    "OutOfMemoryError": ["issubclass(t.OutOfMemoryError, RuntimeError)"],
    "set_printoptions": [
        (
            "[t.set_printoptions(precision=2, threshold=5, linewidth=60, sci_mode=True), repr(x),"
            " t.set_printoptions(profile='default'), repr(x)]"
        ),
    ],
    "set_default_device": ["[t.set_default_device('cpu'), t.ones(1), t.set_default_device(None)]"],
    "set_default_tensor_type": [
        (
            "[t.set_default_tensor_type(t.DoubleTensor), t.ones(1),"
            " t.set_default_tensor_type('torch.FloatTensor'), t.ones(1)]"
        ),
    ],
    # creation and random numbers
    "frombuffer": ["t.frombuffer(bytearray(12), dtype=t.int32, offset=4)"],
    "complex": ["t.complex(x, y)"],
    "polar": ["t.polar(u, x)"],
    "randint_like": ["t.randint_like(x, low=2, high=9, dtype=t.int64)", "t.randint_like(n, 5)"],
    "bernoulli": [
        "t.bernoulli(u, generator=t.Generator().manual_seed(1))",
        "t.bernoulli(x, p=0.5)",
    ],
    "Tensor.random_": [
        "n.random_(generator=t.Generator().manual_seed(1))",
        "n.random_(0, 9)",
    ],
    "Tensor.exponential_": ["x.exponential_(generator=t.Generator().manual_seed(1))"],
    # arithmetic
    "dot": ["t.dot(v, v)"],
    "addmm": ["t.addmm(x, x, s, beta=0.5, alpha=2)", "t.addmm(x, x, s, out=t.empty(2, 3))"],
    "baddbmm": ["t.baddbmm(b, b, b, beta=0.5, alpha=2)"],
    "clamp_min": ["t.clamp_min(x, 0.25)"],
    "nan_to_num": ["t.nan_to_num(w, nan=1.0, posinf=2.0, neginf=3.0)"],
    "Tensor.sub": ["x.sub(y)", "x.sub(1)"],
    "Tensor.lt": ["x.lt(y)", "n.lt(2)"],
    "Tensor.le": ["x.le(y)", "n.le(2)"],
    "Tensor.pow_": ["u.pow_(2)"],
    "Tensor.addcmul_": ["x.addcmul_(y, u, value=2)"],
    "Tensor.bmm": ["b.bmm(b)"],
    "Tensor.mv": ["s.mv(v[:3])"],
    "real": ["t.real(c)"],
    # reduction, order, counting
    "argmin": ["t.argmin(x)", "t.argmin(x, dim=1)"],
    "median": ["t.median(x)", "t.median(x, dim=1, keepdim=True)"],
    "bincount": ["t.bincount(k, minlength=5)"],
    "histc": ["t.histc(x, bins=4, min=-1, max=2)"],
    "count_nonzero": ["t.count_nonzero(n)", "t.count_nonzero(n, dim=1)"],
    "bucketize": ["t.bucketize(x, boundaries=t.tensor([-1.0, 0.5, 2.0]), right=True)"],
    "searchsorted": [
        "t.searchsorted(t.tensor([-1.0, 0.5, 2.0]), x, right=True)",
        "t.searchsorted(t.tensor([-1.0, 0.5, 2.0]), x, side='left')",
    ],
    "unique_consecutive": [
        "t.unique_consecutive(n, return_inverse=True, return_counts=True)",
        "t.unique_consecutive(n, dim=0)",
    ],
    "Tensor.argmin": ["x.argmin()", "x.argmin(dim=0)"],
    "Tensor.amin": ["x.amin(dim=1, keepdim=True)"],
    "Tensor.log_softmax": ["x.log_softmax(dim=1)"],
    # shape and place
    "numel": ["t.numel(x)"],
    "permute": ["t.permute(b, (2, 0, 1))"],
    "tile": ["t.tile(x, (2, 1))"],
    "diagonal": ["t.diagonal(b, dim1=1, dim2=2)"],
    "broadcast_tensors": ["t.broadcast_tensors(x, v[:3])"],
    "tensor_split": ["t.tensor_split(x, indices=[1, 2], dim=1)", "t.tensor_split(v, 3)"],
    "Tensor.triu": ["s.triu(diagonal=1)"],
    "Tensor.triu_": ["s.triu_(diagonal=1)"],
    "Tensor.roll": ["x.roll(shifts=1, dims=0)"],
    "Tensor.broadcast_to": ["v.broadcast_to((2, 4))"],
    "Tensor.swapaxes": ["x.swapaxes(0, 1)"],
    "Tensor.squeeze_": ["x[:, :1].squeeze_(1)"],
    "Tensor.as_strided": ["x.as_strided(size=(2, 2), stride=(1, 2))"],
    "Tensor.scatter_add": ["x.scatter_add(dim=1, index=kk, src=y)"],
    "Tensor.index_fill_": ["x.index_fill_(1, k, 7.0)"],
    # linear algebra and spectra
    "inverse": ["t.inverse(s)"],
    "Tensor.inverse": ["s.inverse()"],
    "linalg.solve": ["t.linalg.solve(s, v[:3])"],
    "linalg.svd": [
        "t.linalg.svd(s, full_matrices=False).S",
        "t.linalg.svd(s, driver=None)[1]",
    ],
    "linalg.qr": ["[part.abs() for part in t.linalg.qr(s, mode='complete')]"],
    "linalg.eigh": ["t.linalg.eigh(s, UPLO='U').eigenvalues"],
    "fft.fft": ["t.fft.fft(x, dim=0)", "t.fft.fft(x, axis=1)"],
    "stft": [
        (
            f"t.stft({_SIGNAL}, n_fft=8, hop_length=4, win_length=8, window=t.hann_window(8),"
            " center=True, pad_mode='reflect', normalized=True, return_complex=True)"
        ),
    ],
    # modules
    "nn.MaxPool1d": [
        "nn.MaxPool1d(kernel_size=2, stride=1, padding=1, ceil_mode=True)(x)",
        "nn.MaxPool1d(2, return_indices=True)(x)",
    ],
    "nn.MaxPool3d": [
        "nn.MaxPool3d(kernel_size=2, stride=2, padding=1, ceil_mode=True)(image)",
    ],
    "nn.Unfold": ["nn.Unfold(kernel_size=2, dilation=1, padding=1, stride=2)(image)"],
    "nn.SELU": ["nn.SELU(inplace=False)(x)"],
    "nn.SmoothL1Loss": [
        "nn.SmoothL1Loss(reduction='sum', beta=0.5)(x, y)",
        "nn.SmoothL1Loss(size_average=False, reduce=True)(x, y)",
    ],
    "nn.KLDivLoss": [
        "nn.KLDivLoss(reduction='batchmean', log_target=True)(x, y)",
        "nn.KLDivLoss(size_average=False, reduce=True)(x, u)",
    ],
    "nn.TransformerEncoder": [
        (
            "nn.TransformerEncoder(encoder_layer=nn.TransformerEncoderLayer(3, 1, 4, 0.0),"
            " num_layers=2)(b)"
        ),
    ],
    "nn.utils.spectral_norm": ["nn.utils.spectral_norm(nn.Linear(3, 2)).weight_orig"],
    "nn.RNNBase.flatten_parameters": ["nn.LSTM(3, 2).flatten_parameters()"],
    "nn.ConvTranspose2d.weight": ["nn.ConvTranspose2d(3, 2, 3).weight"],
    "nn.ParameterList.append": ["len(nn.ParameterList().append(nn.Parameter(x)))"],
    "nn.Module.double": ["nn.Linear(3, 2).double().weight"],
    "nn.Module.type": ["nn.Linear(3, 2).type(t.float64).weight"],
    "nn.Module.register_backward_hook": [
        "nn.Linear(3, 2).register_backward_hook(lambda *each: None).remove()"
    ],
}
