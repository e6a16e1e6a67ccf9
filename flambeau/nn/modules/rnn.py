"""Recurrent networks over whole sequences."""

from __future__ import annotations

import numbers
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

import flambeau
from flambeau import _C, Tensor, dtype
from flambeau.nn.modules._rnn_cells import (
    GRUCell,
    LSTMCell,
    RNNCell,
    RNNCellBase,
    fill_uniformly,
)
from flambeau.nn.modules.module import Module
from flambeau.nn.parameter import Parameter

if TYPE_CHECKING:
    from flambeau._C import DeviceLike
    from flambeau.nn.utils.rnn import PackedSequence

__all__ = ["GRU", "LSTM", "RNN", "GRUCell", "LSTMCell", "RNNBase", "RNNCell", "RNNCellBase"]

_GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}


class RNNBase(Module):
    """Base class of `nn.RNN`, `nn.GRU` and `nn.LSTM`: parameters, checks and calls.

    Args:
        mode: `"LSTM"`, `"GRU"`, `"RNN_TANH"` or `"RNN_RELU"`.
        input_size and the following: As of `nn.LSTM`.
    """

    # The operator that computes it, for padded and for packed sequences.
    _fb_network: Callable[..., tuple[Tensor, ...]]

    def __init__(
        self,
        mode: str,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        _check_sizes(input_size, hidden_size, num_layers)
        _check_dropout(dropout, num_layers)
        if mode not in _GATES:
            raise ValueError(f"Unrecognized RNN mode: {mode}")
        if proj_size < 0:
            raise ValueError(
                "proj_size should be a positive integer or zero to disable projections"
            )
        if proj_size >= hidden_size:
            raise ValueError("proj_size has to be smaller than hidden_size")
        self.mode = mode
        self.input_size = input_size
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bias = bias
        self.batch_first = batch_first
        self.dropout: float = float(dropout)
        self.bidirectional = bidirectional
        self.proj_size = proj_size
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse") if bidirectional else ("",):
                self._fb_add_direction(layer, suffix, device, dtype)
        self._flat_weights_names = [name for names in self._all_weights for name in names]
        self.reset_parameters()

    @property
    def _fb_directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def _fb_outputs(self) -> int:
        """The size of the state, and of one direction's output."""
        return self.proj_size or self.hidden_size

    def _fb_add_direction(
        self, layer: int, suffix: str, device: DeviceLike | None, dtype: dtype | None
    ) -> None:
        gates = _GATES[self.mode] * self.hidden_size
        inputs = self.input_size if layer == 0 else self._fb_directions * self._fb_outputs
        sizes: dict[str, tuple[int, ...]] = {
            "weight_ih": (gates, inputs),
            "weight_hh": (gates, self._fb_outputs),
        }
        if self.bias:
            sizes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        if self.proj_size:
            sizes["weight_hr"] = (self.proj_size, self.hidden_size)
        names = []
        for kind, size in sizes.items():
            names.append(f"{kind}_l{layer}{suffix}")
            values = flambeau.empty(size, device=device, dtype=dtype)
            self.register_parameter(names[-1], Parameter(values))
        self._all_weights.append(names)

    @property
    def _flat_weights(self) -> list[Tensor]:
        try:
            return [self._parameters[name] for name in self._flat_weights_names]  # type: ignore[misc]
        except KeyError:  # some are computed from others, as by weight_norm
            return [getattr(self, name) for name in self._flat_weights_names]

    @property
    def all_weights(self) -> list[list[Parameter]]:
        """The parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def flatten_parameters(self) -> None:
        """Do nothing: the weights need not lie side by side."""

    def reset_parameters(self) -> None:
        """Draw new values for all parameters."""
        fill_uniformly(self, self.hidden_size)

    # --- checks, under the names that subclasses elsewhere may override

    def check_input(self, input: Tensor, batch_sizes: Tensor | None) -> None:
        """Refuse an input whose type, dimensions or features do not fit."""
        weight = self._flat_weights[0]
        if input.dtype != weight.dtype and not _C._autocast.is_any_on():
            raise ValueError(
                f"{type(self).__name__} input dtype ({input.dtype}) does not match weight dtype "
                f"({weight.dtype}). Convert input: input.to({weight.dtype}), or convert model: "
                f"model.to({input.dtype})"
            )
        expected = 3 if batch_sizes is None else 2
        if input.dim() != expected:
            raise RuntimeError(f"input must have {expected} dimensions, got {input.dim()}")
        if input.size(-1) != self.input_size:
            raise RuntimeError(
                f"{type(self).__name__}: input.size(-1) must be equal to input_size. "
                f"Expected {self.input_size}, got {input.size(-1)}"
            )

    def _fb_expected_states(
        self, input: Tensor, batch_sizes: Tensor | None, size: int
    ) -> tuple[int, int, int]:
        if batch_sizes is not None:
            batch = int(batch_sizes[0])
        else:
            batch = input.size(0 if self.batch_first else 1)
        return self.num_layers * self._fb_directions, batch, size

    def get_expected_hidden_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape that the states of such an input have."""
        return self._fb_expected_states(input, batch_sizes, self._fb_outputs)

    def check_hidden_size(
        self,
        hx: Tensor,
        expected_hidden_size: tuple[int, int, int],
        msg: str = "Expected hidden size {}, got {}",
    ) -> None:
        """Refuse states of another shape."""
        if hx.shape != expected_hidden_size:
            raise RuntimeError(msg.format(expected_hidden_size, list(hx.shape)))

    def check_forward_args(self, input: Tensor, hidden: Any, batch_sizes: Tensor | None) -> None:
        """Refuse an input or states that do not fit the network."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(hidden, self.get_expected_hidden_size(input, batch_sizes))

    def permute_hidden(self, hx: Any, permutation: Tensor | None) -> Any:
        """Return the states with their samples in another order."""
        return hx if permutation is None else hx.index_select(1, permutation)

    # --- states: a tensor, or for the LSTM two

    def _fb_first_states(self, input: Tensor, batch: int) -> Any:
        sizes = (self.num_layers * self._fb_directions, batch, self._fb_outputs)
        return flambeau.zeros(sizes, dtype=input.dtype, device=input.device)

    def _fb_check_state_dims(self, hx: Any, is_batched: bool) -> None:
        expected = 3 if is_batched else 2
        if hx.dim() != expected:
            raise RuntimeError(
                f"For {'' if is_batched else 'un'}batched {expected}-D input, hx should also be "
                f"{expected}-D but got {hx.dim()}-D tensor"
            )

    def _fb_with_batch(self, hx: Any) -> Any:
        return hx.unsqueeze(1)

    def _fb_without_batch(self, hx: Any) -> Any:
        return hx.squeeze(1)

    def _fb_split(self, results: tuple[Tensor, ...]) -> tuple[Tensor, Any]:
        """Divide what the operator returns into output and states."""
        return results[0], results[1]

    # --- calls

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Run over the sequences; return the last layer's outputs, and all layers' last states."""
        if isinstance(input, tuple):  # a PackedSequence
            return self._fb_forward_packed(input, hx)
        dims = input.dim()
        if dims == 3:
            return self._fb_forward_batch(input, hx)
        if dims != 2:
            raise ValueError(
                f"{type(self).__name__}: Expected input to be 2D or 3D, got {dims}D instead"
            )
        if hx is not None:
            self._fb_check_state_dims(hx, False)
            hx = self._fb_with_batch(hx)
        batch_dim = 0 if self.batch_first else 1
        output, states = self._fb_forward_batch(input.unsqueeze(batch_dim), hx)
        return output.squeeze(batch_dim), self._fb_without_batch(states)

    def _fb_forward_batch(self, input: Tensor, hx: Any) -> tuple[Tensor, Any]:
        if hx is None:
            hx = self._fb_first_states(input, input.size(0 if self.batch_first else 1))
        else:
            self._fb_check_state_dims(hx, True)
        self.check_forward_args(input, hx, None)
        if input.size(1 if self.batch_first else 0) == 0:
            raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
        return self._fb_split(
            self._fb_network(input, hx, *self._fb_network_arguments(), self.batch_first)
        )

    def _fb_forward_packed(self, input: Any, hx: Any) -> tuple[PackedSequence, Any]:
        data, batch_sizes, sorted_indices, unsorted_indices = input
        if hx is None:
            hx = self._fb_first_states(data, int(batch_sizes[0]))
        else:
            hx = self.permute_hidden(hx, sorted_indices)
        self.check_forward_args(data, hx, batch_sizes)
        output, states = self._fb_split(
            self._fb_network(data, batch_sizes, hx, *self._fb_network_arguments())
        )
        packed = type(input)(output, batch_sizes, sorted_indices, unsorted_indices)
        return packed, self.permute_hidden(states, unsorted_indices)

    def _fb_network_arguments(self) -> tuple[Any, ...]:
        return (
            self._flat_weights,
            self.bias,
            self.num_layers,
            self.dropout,
            self.training,
            self.bidirectional,
        )

    # --- how it is shown and restored

    def extra_repr(self) -> str:
        """Return the sizes, and what differs from the defaults."""
        parts = [f"{self.input_size}, {self.hidden_size}"]
        defaults = {
            "proj_size": 0,
            "num_layers": 1,
            "bias": True,
            "batch_first": False,
            "dropout": 0,
            "bidirectional": False,
        }
        for name, default in defaults.items():
            value = getattr(self, name)
            if value != default:
                parts.append(f"{name}={value}")
        return ", ".join(parts)

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Modules pickled long ago know no projections, or not their weights' names in a row.
        self.__dict__.setdefault("proj_size", 0)
        names = [name for direction in self._all_weights for name in direction]
        self.__dict__.setdefault("_flat_weights_names", names)


def _check_sizes(input_size: int, hidden_size: int, num_layers: int) -> None:
    for name, size in (("input_size", input_size), ("hidden_size", hidden_size)):
        if not isinstance(size, int):
            raise TypeError(f"{name} should be of type int, got: {type(size).__name__}")
    if hidden_size <= 0:
        raise ValueError("hidden_size must be greater than zero")
    if num_layers <= 0:
        raise ValueError("num_layers must be greater than zero")


def _check_dropout(dropout: float, num_layers: int) -> None:
    is_number = isinstance(dropout, numbers.Number) and not isinstance(dropout, bool)
    if not is_number or not 0 <= dropout <= 1:
        raise ValueError(
            "dropout should be a number in range [0, 1] "
            "representing the probability of an element being zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout "
            f"expects num_layers greater than 1, but got dropout={dropout} and "
            f"num_layers={num_layers}",
            stacklevel=4,
        )


def _refuse_projection(proj_size: int | None) -> None:
    if proj_size is not None:
        raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")


class RNN(RNNBase):
    """Recurrent network with one nonlinearity (Elman network).

    h_t = tanh(W_ih x_t + b_ih + W_hh h_(t-1) + b_hh)

    Args:
        input_size: Number of features of the input.
        hidden_size: Number of features of the state h.
        num_layers: Number of layers; each runs over the outputs of the one before. Default: 1.
        nonlinearity: `"tanh"` (the default) or `"relu"`.
        bias: Whether to add the vectors b. Default: True.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features); states are not concerned. Default: False.
        dropout: Probability of dropout between two layers. Default: 0.
        bidirectional: Whether to run backwards over the sequence too. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        proj_size: Refused; only `nn.LSTM` has projections.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Parameters of the first layer;
            `_l1` and so on those of the others, `_reverse` those of the other direction. Weights
            have shape (hidden_size, input size) and (hidden_size, hidden_size).

    All start uniform on (-k, k) with k = 1 / sqrt(hidden_size).

    Shape (L: length, N: batch, D: 2 if bidirectional, else 1):
        - Input: (L, N, input_size) or (L, input_size), (N, L, input_size) if `batch_first`; or a
          `PackedSequence`.
        - First state, optional: (D num_layers, N, hidden_size), without N if the input has
          none. Default: zeros.
        - Output: (L, N, D hidden_size), the states of the last layer at every step, in the form
          of the input.
        - Last state: the shape of the first one.

    Example:
        >>> rnn = nn.RNN(4, 6, num_layers=2)
        >>> output, h = rnn(torch.randn(7, 3, 4))
        >>> output.shape, h.shape
        (torch.Size([7, 3, 6]), torch.Size([2, 3, 6]))

    See also:
        `nn.LSTM`, `nn.GRU`, `nn.RNNCell`, `nn.utils.rnn.pack_padded_sequence`.
    """

    _fb_networks: ClassVar = {"RNN_TANH": flambeau.rnn_tanh, "RNN_RELU": flambeau.rnn_relu}

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        nonlinearity: str = "tanh",
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
        *,
        proj_size: int | None = None,
    ) -> None:
        _refuse_projection(proj_size)
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(
                f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'."
            )
        self.nonlinearity = nonlinearity
        super().__init__(
            f"RNN_{nonlinearity.upper()}",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )

    @property
    def _fb_network(self) -> Callable[..., tuple[Tensor, ...]]:  # type: ignore[override]
        return self._fb_networks[self.mode]


class GRU(RNNBase):
    """Gated recurrent unit.

    r = sigmoid(W_ir x + b_ir + W_hr h + b_hr)      reset gate
    z = sigmoid(W_iz x + b_iz + W_hz h + b_hz)      update gate
    n = tanh(W_in x + b_in + r (W_hn h + b_hn))     new state
    h = (1 - z) n + z h

    Args:
        input_size: Number of features of the input.
        hidden_size: Number of features of the state h.
        num_layers: Number of layers; each runs over the outputs of the one before. Default: 1.
        bias: Whether to add the vectors b. Default: True.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features); states are not concerned. Default: False.
        dropout: Probability of dropout between two layers. Default: 0.
        bidirectional: Whether to run backwards over the sequence too. Default: False.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.
        proj_size: Refused; only `nn.LSTM` has projections.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Parameters of the first layer;
            `_l1` and so on those of the others, `_reverse` those of the other direction. Weights
            have shape (3 hidden_size, input size) and (3 hidden_size, hidden_size),
            with the gates in the order r, z, n.

    All start uniform on (-k, k) with k = 1 / sqrt(hidden_size).

    Shape (L: length, N: batch, D: 2 if bidirectional, else 1):
        - Input: (L, N, input_size) or (L, input_size), (N, L, input_size) if `batch_first`; or a
          `PackedSequence`.
        - First state, optional: (D num_layers, N, hidden_size), without N if the input has
          none. Default: zeros.
        - Output: (L, N, D hidden_size), the states of the last layer at every step, in the form
          of the input.
        - Last state: the shape of the first one.

    Example:
        >>> rnn = nn.GRU(4, 6, bidirectional=True, batch_first=True)
        >>> output, h = rnn(torch.randn(3, 7, 4))
        >>> output.shape, h.shape
        (torch.Size([3, 7, 12]), torch.Size([2, 3, 6]))

    See also:
        `nn.LSTM`, `nn.RNN`, `nn.GRUCell`, `nn.utils.rnn.pack_padded_sequence`.
    """

    _fb_network = staticmethod(flambeau.gru)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
        *,
        proj_size: int | None = None,
    ) -> None:
        _refuse_projection(proj_size)
        super().__init__(
            "GRU",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            device=device,
            dtype=dtype,
        )


class LSTM(RNNBase):
    """Long short-term memory.

    i = sigmoid(W_ii x + b_ii + W_hi h + b_hi)    input gate
    f = sigmoid(W_if x + b_if + W_hf h + b_hf)    forget gate
    g = tanh(W_ig x + b_ig + W_hg h + b_hg)       candidate
    o = sigmoid(W_io x + b_io + W_ho h + b_ho)    output gate
    c = f c + i g
    h = o tanh(c)

    Args:
        input_size: Number of features of the input.
        hidden_size: Number of features of the state h and the cell c.
        num_layers: Number of layers; each runs over the outputs of the one before. Default: 1.
        bias: Whether to add the vectors b. Default: True.
        batch_first: Whether tensors are (batch, length, features) instead of (length, batch,
            features); states are not concerned. Default: False.
        dropout: Probability of dropout between two layers. Default: 0.
        bidirectional: Whether to run backwards over the sequence too. Default: False.
        proj_size: Size that h is projected to by a learned matrix, below `hidden_size`; it then
            takes the place of `hidden_size` in the shapes of h and output. Default: 0, none.
        device: Where the parameters live. Default: the current default device.
        dtype: Their element type. Default: the default floating-point type.

    Attributes:
        weight_ih_l0, weight_hh_l0, bias_ih_l0, bias_hh_l0: Parameters of the first layer;
            `_l1` and so on those of the others, `_reverse` those of the other direction. Weights
            have shape (4 hidden_size, input size) and (4 hidden_size, hidden_size),
            with the gates in the order i, f, g, o.

    All start uniform on (-k, k) with k = 1 / sqrt(hidden_size).

    Shape (L: length, N: batch, D: 2 if bidirectional, else 1):
        - Input: (L, N, input_size) or (L, input_size), (N, L, input_size) if `batch_first`; or a
          `PackedSequence`.
        - First states (h, c), optional: (D num_layers, N, hidden_size), without N if the input has
          none. Default: zeros.
        - Output: (L, N, D hidden_size), the states of the last layer at every step, in the form
          of the input.
        - Last states (h, c): the shape of the first ones (h, c).

    Example:
        >>> rnn = nn.LSTM(4, 6, num_layers=2)
        >>> output, (h, c) = rnn(torch.randn(7, 3, 4))
        >>> output.shape, h.shape, c.shape
        (torch.Size([7, 3, 6]), torch.Size([2, 3, 6]), torch.Size([2, 3, 6]))
        >>> output, (h, c) = rnn(torch.randn(7, 3, 4), (h, c))

    See also:
        `nn.GRU`, `nn.RNN`, `nn.LSTMCell`, `nn.utils.rnn.pack_padded_sequence`.
    """

    _fb_network = staticmethod(flambeau.lstm)

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        num_layers: int = 1,
        bias: bool = True,
        batch_first: bool = False,
        dropout: float = 0.0,
        bidirectional: bool = False,
        proj_size: int = 0,
        device: DeviceLike | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__(
            "LSTM",
            input_size,
            hidden_size,
            num_layers,
            bias,
            batch_first,
            dropout,
            bidirectional,
            proj_size,
            device,
            dtype,
        )

    def get_expected_cell_size(
        self, input: Tensor, batch_sizes: Tensor | None
    ) -> tuple[int, int, int]:
        """Return the shape that the cells of such an input have."""
        return self._fb_expected_states(input, batch_sizes, self.hidden_size)

    def check_forward_args(
        self, input: Tensor, hidden: tuple[Tensor, Tensor], batch_sizes: Tensor | None
    ) -> None:
        """Refuse an input, states or cells that do not fit the network."""
        self.check_input(input, batch_sizes)
        self.check_hidden_size(
            hidden[0],
            self.get_expected_hidden_size(input, batch_sizes),
            "Expected hidden[0] size {}, got {}",
        )
        self.check_hidden_size(
            hidden[1],
            self.get_expected_cell_size(input, batch_sizes),
            "Expected hidden[1] size {}, got {}",
        )

    def permute_hidden(
        self, hx: tuple[Tensor, Tensor], permutation: Tensor | None
    ) -> tuple[Tensor, Tensor]:
        """Return states and cells with their samples in another order."""
        if permutation is None:
            return hx
        return hx[0].index_select(1, permutation), hx[1].index_select(1, permutation)

    def _fb_first_states(self, input: Tensor, batch: int) -> tuple[Tensor, Tensor]:
        h = super()._fb_first_states(input, batch)
        if not self.proj_size:
            return h, h
        sizes = (h.size(0), batch, self.hidden_size)
        return h, flambeau.zeros(sizes, dtype=input.dtype, device=input.device)

    def _fb_check_state_dims(self, hx: tuple[Tensor, Tensor], is_batched: bool) -> None:
        expected = 3 if is_batched else 2
        if hx[0].dim() != expected or hx[1].dim() != expected:
            raise RuntimeError(
                f"For {'' if is_batched else 'un'}batched {expected}-D input, hx and cx should "
                f"also be {expected}-D but got ({hx[0].dim()}-D, {hx[1].dim()}-D) tensors"
            )

    def _fb_with_batch(self, hx: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return hx[0].unsqueeze(1), hx[1].unsqueeze(1)

    def _fb_without_batch(self, hx: tuple[Tensor, Tensor]) -> tuple[Tensor, Tensor]:
        return hx[0].squeeze(1), hx[1].squeeze(1)

    def _fb_split(self, results: tuple[Tensor, ...]) -> tuple[Tensor, tuple[Tensor, Tensor]]:
        return results[0], (results[1], results[2])
