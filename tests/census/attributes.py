"""Examples of constants, types and classes (operands: see ``tests/census/__init__.py``)."""

from __future__ import annotations

_DTYPES = (
    "float32 long float16 bfloat16 float float64 int64 bool uint8 int32 int double int8 int16 half "
    "cfloat"
)
_NAMED_DTYPES = "float8_e4m3fn uint16 qint8 float8_e8m0fnu float8_e5m2 quint8 complex32 qint32"

ATTRIBUTES: dict[str, list[str]] = {
    **{name: [f"t.{name}", f"t.ones(2, dtype=t.{name})"] for name in _DTYPES.split(" ")},
    **{name: [f"x.dtype == t.{name}", f"t.{name}.itemsize"] for name in _NAMED_DTYPES.split(" ")},
    "Tensor": [
        "t.Tensor([1, 2.5], device='cpu')",
        "t.Tensor(2, 3).shape",
        "isinstance(x, t.Tensor)",
    ],
    "device": ["t.device('cpu')", "t.device(type='cpu', index=0)", "t.device('cuda', 1)"],
    "device.type": ["t.device('cuda:1').type"],
    "device.index": ["t.device('cuda:1').index", "t.device('cpu').index"],
    "Size": ["t.Size([2, 3])", "t.Size([2, 3]).numel()", "x.shape == t.Size((2, 3))"],
    "Generator": ["t.Generator(device='cpu').device", "t.Generator().initial_seed()"],
    "Generator.manual_seed": ["t.rand(3, generator=t.Generator().manual_seed(7))"],
    "LongTensor": ["t.LongTensor([1, 2])", "t.LongTensor(2, 3).shape"],
    "FloatTensor": ["t.FloatTensor([1, 2], device='cpu')", "t.FloatTensor(2, 3).shape"],
    "IntTensor": ["t.IntTensor([1, 2])", "t.IntTensor(2).dtype"],
    "ByteTensor": ["t.ByteTensor([1, 2])", "isinstance(x, t.ByteTensor)"],
    "finfo": ["repr(t.finfo(t.float16))", "t.finfo().bits"],
    "finfo.min": ["t.finfo(t.bfloat16).min"],
    "finfo.max": ["t.finfo(t.float16).max"],
    "finfo.eps": ["t.finfo(t.float32).eps"],
    "contiguous_format": ["t.contiguous_format"],
    "preserve_format": ["t.preserve_format"],
    "channels_last": ["image.to(memory_format=t.channels_last).stride()"],
    "inf": ["t.inf"],
    "pi": ["t.pi"],
    "dtype": ["isinstance(t.float32, t.dtype)", "t.float16.itemsize"],
}
