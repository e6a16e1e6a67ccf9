"""Recurrent networks: whole ones, single steps, and the layers they are made of."""

from opgen.model import composite, floating, native, not_implemented, op

_NETWORK = (
    "params: list[Tensor], has_biases: bool, num_layers: int, dropout: float, train: bool,"
    " bidirectional: bool"
)
_LONG_DOC = "over sequences: the outputs of the last layer, and {} after the last step."

op(
    f"lstm.packed(data: Tensor, batch_sizes: Tensor, hx: list[Tensor], {_NETWORK})"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    cpp="lstm_packed",
    grad=composite,
    random=True,
    doc="A long short-term memory " + _LONG_DOC.format("its states and cells"),
    autocast="own",
)
op(
    f"lstm(input: Tensor, hx: list[Tensor], {_NETWORK}, batch_first: bool)"
    " -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    random=True,
    doc="A long short-term memory " + _LONG_DOC.format("its states and cells"),
    autocast="own",
)
for name, what, rule in (
    ("gru", "A gated recurrent unit ", "own"),
    ("rnn_tanh", "A recurrent network with tanh ", "lower"),
    ("rnn_relu", "A recurrent network with relu ", "lower"),
):
    op(
        f"{name}.packed(data: Tensor, batch_sizes: Tensor, hx: Tensor, {_NETWORK})"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=floating,
        forms="function",
        cpp=f"{name}_packed",
        grad=composite,
        random=True,
        doc=what + _LONG_DOC.format("its states"),
        autocast=rule,
    )
    op(
        f"{name}(input: Tensor, hx: Tensor, {_NETWORK}, batch_first: bool)"
        " -> tuple[Tensor, Tensor]",
        kind=native,
        dtypes=floating,
        forms="function",
        grad=composite,
        random=True,
        doc=what + _LONG_DOC.format("its states"),
        autocast=rule,
    )

_CELL = "w_ih: Tensor, w_hh: Tensor, b_ih: Tensor | None = None, b_hh: Tensor | None = None"

op(
    f"lstm_cell(input: Tensor, hx: list[Tensor], {_CELL}) -> tuple[Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="function",
    grad=composite,
    doc="One step of a long short-term memory: the new state and cell.",
    autocast="own",
)
for name, what, rule in (
    ("gru_cell", "a gated recurrent unit", "own"),
    ("rnn_tanh_cell", "a recurrent network with tanh", "lower"),
    ("rnn_relu_cell", "a recurrent network with relu", "lower"),
):
    op(
        f"{name}(input: Tensor, hx: Tensor, {_CELL}) -> Tensor",
        kind=native,
        dtypes=floating,
        forms="function",
        grad=composite,
        doc=f"One step of {what}: the new state.",
        autocast=rule,
    )

# --- one layer and one cell, each with its backward as one kernel

op(
    "_rnn_layer(mode: str, input: Tensor, hx: Tensor, cx: Tensor | None, params: list[Tensor],"
    " batch_sizes: Ints | None, batch_first: bool, records: bool)"
    " -> tuple[Tensor, Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="rnn_layer",
    grad={
        "input hx cx params": "rnn_layer_gradients(given_grads[0], given_grads[1], given_grads[2],"
        " mode, input, hx, cx, params, results[3], batch_sizes, batch_first, needed)"
    },
    doc="All directions of a layer: outputs, states, cells, and what backward needs, if it records.",
)
op(
    "_rnn_layer_backward(mode: str, d_output: Tensor | None, d_h: Tensor | None, d_c: Tensor | None,"
    " input: Tensor, hx: Tensor, cx: Tensor | None, params: list[Tensor], rows: Tensor,"
    " batch_sizes: Ints | None, batch_first: bool, wants_input: bool, wants_params: bool)"
    " -> tuple[Tensor, ...]",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="rnn_layer_backward",
    grad=not_implemented,
    doc="Gradients of _rnn_layer's input, states, cells and parameters.",
)
op(
    "_rnn_cell(mode: str, input: Tensor, hx: Tensor, cx: Tensor | None, w_ih: Tensor,"
    " w_hh: Tensor, b_ih: Tensor | None, b_hh: Tensor | None) -> tuple[Tensor, Tensor, Tensor]",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="rnn_cell",
    grad={
        "input hx cx w_ih w_hh b_ih b_hh": "rnn_cell_gradients(given_grads[0], given_grads[1], mode,"
        " input, hx, cx, w_ih, w_hh, b_ih, b_hh, results[2], needed)"
    },
    doc="One step of a cell: its new state and cell, and the gates.",
)
op(
    "_rnn_cell_backward(mode: str, d_h: Tensor | None, d_c: Tensor | None, input: Tensor,"
    " hx: Tensor, cx: Tensor | None, w_ih: Tensor, w_hh: Tensor, gates: Tensor, wanted: Ints)"
    " -> tuple[Tensor, ...]",
    kind=native,
    dtypes=floating,
    forms="inner",
    cpp="rnn_cell_backward",
    grad=not_implemented,
    doc="Gradients of _rnn_cell's inputs, those that wanted says.",
)

# --- batches of sequences of different lengths

op(
    "_pack_padded_sequence(input: Tensor, lengths: Tensor, batch_first: bool)"
    " -> tuple[Tensor, Tensor]",
    kind=native,
    forms="function",
    cpp="pack_padded_sequence",
    grad=composite,
    doc="The elements of padded sequences step by step, without the padding; samples in each step.",
)
op(
    "_pad_packed_sequence(data: Tensor, batch_sizes: Tensor, batch_first: bool,"
    " padding_value: Number, total_length: int) -> tuple[Tensor, Tensor]",
    kind=native,
    forms="function",
    cpp="pad_packed_sequence",
    grad=composite,
    doc="Packed sequences padded to one length, and their lengths.",
)
op(
    "_pad_sequence(sequences: list[Tensor], batch_first: bool, padding_value: Number,"
    " padding_side: str) -> Tensor",
    kind=native,
    forms="function",
    cpp="pad_sequence",
    grad=composite,
    doc="Sequences side by side, padded to the longest.",
)
