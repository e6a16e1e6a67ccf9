"""Recurrent networks step by step."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

import flambeau
from flambeau import Tensor, dtype
from flambeau._C import gru_cell, lstm_cell, rnn_relu_cell, rnn_tanh_cell
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

if TYPE_CHECKING:
    from flambeau._C import DeviceLike

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


def fill_uniformly(module: Module, hidden_size: int) -> None:
    """Draw all parameters from the interval of 1 / sqrt(hidden_size) around 0."""
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    with flambeau.no_grad():
        for weight in module.parameters():
            weight.uniform_(-bound, bound)


class RNNCellBase(Module):
    """Base class of `nn.RNNCell`, `nn.GRUCell` and `nn.LSTMCell`: the parameters of one step."""

    bias_ih: Tensor | None
    bias_hh: Tensor | None

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool,
        num_chunks: int,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.bias = bias
        gates = num_chunks * hidden_size

        def empty(*sizes: int) -> Tensor:
            return flambeau.empty(sizes, device=device, dtype=dtype)

        self.weight_ih: Parameter = Parameter(empty(gates, input_size))
        self.weight_hh: Parameter = Parameter(empty(gates, hidden_size))
        self.register_parameter("bias_ih", Parameter(empty(gates)) if bias else None)
        self.register_parameter("bias_hh", Parameter(empty(gates)) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw new values for all parameters."""
        fill_uniformly(self, self.hidden_size)

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the defaults."""
        text = f"{self.input_size}, {self.hidden_size}"
        if not self.bias:
            text += f", bias={self.bias}"
        nonlinearity = self.__dict__.get("nonlinearity", "tanh")
        return text if nonlinearity == "tanh" else f"{text}, nonlinearity={nonlinearity}"

    def _fb_weights(self) -> tuple[Tensor, Tensor, Tensor | None, Tensor | None]:
        return self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh

    def _fb_check_dims(self, name: str, value: Tensor) -> None:
        if value.dim() not in (1, 2):
            raise ValueError(
                f"{type(self).__name__}: Expected {name} to be 1D or 2D, got {value.dim()}D instead"
            )

    def _fb_zeros(self, input: Tensor) -> Tensor:
        return flambeau.zeros(
            input.size(0), self.hidden_size, dtype=input.dtype, device=input.device
        )

    def _fb_one_state(
        self, step: Callable[..., Tensor], input: Tensor, hx: Tensor | None
    ) -> Tensor:
        """Apply a step to a batch, or to a single sample."""
        if hx is not None and input.dim() == hx.dim() == 2:
            return step(input, hx, *self._fb_weights())
        self._fb_check_dims("input", input)
        if hx is not None:
            self._fb_check_dims("hidden", hx)
        if input.dim() == 2:
            return step(input, self._fb_zeros(input) if hx is None else hx, *self._fb_weights())
        sample = input.unsqueeze(0)
        state = self._fb_zeros(sample) if hx is None else hx.unsqueeze(0)
        return step(sample, state, *self._fb_weights()).squeeze(0)


class RNNCell(RNNCellBase):
    """One step of `nn.RNN`.

    h' = tanh(W_ih x + b_ih + W_hh h + b_hh)

    Args:
        input_size: Number of features of the input.
        hidden_size: Number of features of the state.
        bias: Whether to add the vectors b. Default: True.
        nonlinearity: `"tanh"` (the default) or `"relu"`.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight_ih, weight_hh: Matrices of shape (hidden_size, input_size) and
            (hidden_size, hidden_size).
        bias_ih, bias_hh: Vectors of shape (hidden_size,), or None.

    Shape:
        - Input: (N, input_size) or (input_size,).
        - State, optional: (N, hidden_size) or (hidden_size,). Default: zeros.
        - Output: the new state.

    Example:
        >>> cell = nn.RNNCell(4, 6)
        >>> h = torch.zeros(3, 6)
        >>> for x in torch.randn(7, 3, 4):
        ...     h = cell(x, h)
        >>> h.shape
        torch.Size([3, 6])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: str = "tanh",
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the state after this input; before it, ``hx`` or zeros."""
        if self.nonlinearity == "tanh":
            return self._fb_one_state(rnn_tanh_cell, input, hx)
        if self.nonlinearity == "relu":
            return self._fb_one_state(rnn_relu_cell, input, hx)
        raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")


class GRUCell(RNNCellBase):
    """One step of `nn.GRU`, whose formulas it has.

    Args:
        input_size: Number of features of the input.
        hidden_size: Number of features of the state.
        bias: Whether to add the vectors b. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight_ih, weight_hh: Matrices of shape (3 hidden_size, input_size) and
            (3 hidden_size, hidden_size).
        bias_ih, bias_hh: Vectors of shape (3 hidden_size,), or None.

    Shape:
        - Input: (N, input_size) or (input_size,).
        - State, optional: (N, hidden_size) or (hidden_size,). Default: zeros.
        - Output: the new state.

    Example:
        >>> cell = nn.GRUCell(4, 6)
        >>> cell(torch.randn(3, 4)).shape
        torch.Size([3, 6])
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Tensor, hx: Tensor | None = None) -> Tensor:
        """Return the state after this input; before it, ``hx`` or zeros."""
        return self._fb_one_state(gru_cell, input, hx)


class LSTMCell(RNNCellBase):
    """One step of `nn.LSTM`, whose formulas it has.

    Args:
        input_size: Number of features of the input.
        hidden_size: Number of features of the state.
        bias: Whether to add the vectors b. Default: True.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight_ih, weight_hh: Matrices of shape (4 hidden_size, input_size) and
            (4 hidden_size, hidden_size).
        bias_ih, bias_hh: Vectors of shape (4 hidden_size,), or None.

    Shape:
        - Input: (N, input_size) or (input_size,).
        - States (h, c), optional: (N, hidden_size) or (hidden_size,). Default: zeros.
        - Output: the new states (h, c).

    Example:
        >>> cell = nn.LSTMCell(4, 6)
        >>> h, c = cell(torch.randn(3, 4))
        >>> h, c = cell(torch.randn(3, 4), (h, c))
        >>> h.shape, c.shape
        (torch.Size([3, 6]), torch.Size([3, 6]))
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(
        self, input: Tensor, hx: tuple[Tensor, Tensor] | None = None
    ) -> tuple[Tensor, Tensor]:
        """Return state and cell after this input; before it, ``hx`` or zeros."""
        if hx is not None and input.dim() == hx[0].dim() == hx[1].dim() == 2:
            return lstm_cell(input, hx, *self._fb_weights())
        self._fb_check_dims("input", input)
        if hx is not None:
            for i, state in enumerate(hx):
                self._fb_check_dims(f"hx[{i}]", state)
        is_batched = input.dim() == 2
        batch = input if is_batched else input.unsqueeze(0)
        if hx is None:
            zeros = self._fb_zeros(batch)
            hx = (zeros, zeros)
        elif not is_batched:
            hx = (hx[0].unsqueeze(0), hx[1].unsqueeze(0))
        h, c = lstm_cell(batch, hx, *self._fb_weights())
        return (h, c) if is_batched else (h.squeeze(0), c.squeeze(0))
