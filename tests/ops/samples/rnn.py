"""Samples of recurrent networks, against step-by-step NumPy."""

import numpy as np

from tests.ops.dtypes import FLOATING
from tests.ops.registry import call, errors, samples

# Gates are rounded to 16 bits here and there by PyTorch; ours stay in float32 through all steps.
_ROUGH = {"float16": (2e-2, 1e-2), "bfloat16": (5e-2, 5e-2)}
# Gates have meaning for real numbers only. Ours are contiguous where PyTorch transposes its result.
_JUDGED = {"tolerance": _ROUGH, "dtypes": tuple(FLOATING), "strides": False}


def _sigmoid(x):
    return 1 / (1 + np.exp(-x))


def _cell(mode, x, h, c, w_ih, w_hh, b_ih, b_hh):
    """One step: the new state and cell."""
    of_input = x @ w_ih.T + (0 if b_ih is None else b_ih)
    of_state = h @ w_hh.T + (0 if b_hh is None else b_hh)
    if mode == "lstm":
        i, f, g, o = np.split(of_input + of_state, 4, axis=-1)
        c = _sigmoid(f) * c + _sigmoid(i) * np.tanh(g)
        return _sigmoid(o) * np.tanh(c), c
    if mode == "gru":
        (r, z, n), (hr, hz, hn) = (np.split(a, 3, axis=-1) for a in (of_input, of_state))
        z = _sigmoid(z + hz)
        return (1 - z) * np.tanh(n + _sigmoid(r + hr) * hn) + z * h, None
    gates = of_input + of_state
    return (np.tanh(gates) if mode == "rnn_tanh" else np.maximum(gates, 0)), None


def _direction(mode, steps, h, c, weights, has_biases, reverse):
    """Runs over steps, of which later ones may have fewer samples; h and c are updated."""
    biases = weights[2:4] if has_biases else (None, None)
    projection = weights[-1] if len(weights) % 2 else None
    outputs = []
    for x in reversed(steps) if reverse else steps:
        n = len(x)
        fresh, cells = _cell(mode, x, h[:n], None if c is None else c[:n], *weights[:2], *biases)
        h[:n] = fresh if projection is None else fresh @ projection.T
        if c is not None:
            c[:n] = cells
        outputs.append(h[:n].copy())
    return outputs[::-1] if reverse else outputs


def _network(mode, steps, hx, params, has_biases, num_layers, bidirectional):
    h, c = (np.array(hx[0]), np.array(hx[1])) if mode == "lstm" else (np.array(hx), None)
    directions = 2 if bidirectional else 1
    each = len(params) // (num_layers * directions)
    for layer in range(num_layers):
        results = []
        for d in range(directions):
            k = layer * directions + d
            weights = params[k * each : (k + 1) * each]
            state = None if c is None else c[k]
            results.append(_direction(mode, steps, h[k], state, weights, has_biases, d == 1))
        steps = [np.concatenate(parts, axis=-1) for parts in zip(*results, strict=True)]
    return steps, (h,) if c is None else (h, c)


def _reference(mode):
    def reference(data, *args):
        if data.ndim == 3:
            hx, params, has_biases, layers, _, _, bidirectional, batch_first = args
            turned = np.swapaxes(data, 0, 1) if batch_first else data
            steps, states = _network(
                mode, list(turned), hx, params, has_biases, layers, bidirectional
            )
            output = np.stack(steps)
            return (np.swapaxes(output, 0, 1) if batch_first else output, *states)
        batch_sizes, hx, params, has_biases, layers, _, _, bidirectional = args
        steps = np.split(data, np.cumsum(batch_sizes)[:-1])
        steps, states = _network(mode, steps, hx, params, has_biases, layers, bidirectional)
        return (np.concatenate(steps), *states)

    return reference


def _arguments(make, mode, gates, inputs, hidden, batch, **options):
    """State and parameters of a network."""
    layers, directions = options.get("layers", 1), options.get("directions", 1)
    outputs = options.get("proj", 0) or hidden
    low, high = options.get("low", -0.98), options.get("high", 0.98)

    def weight(*sizes):
        return make(*sizes, low=low, high=high)

    params = []
    for layer in range(layers):
        for _ in range(directions):
            features = inputs if layer == 0 else directions * outputs
            params += [weight(gates * hidden, features), weight(gates * hidden, outputs)]
            if options.get("bias", True):
                params += [weight(gates * hidden), weight(gates * hidden)]
            if outputs != hidden:
                params.append(weight(outputs, hidden))
    h = make.unit(layers * directions, batch, outputs)
    if mode != "lstm":
        return h, params
    return [h, make.unit(layers * directions, batch, hidden)], params


def _long(mode, gates):
    def yielded(make):
        def network(inputs, hidden, batch, **options):
            return _arguments(make, mode, gates, inputs, hidden, batch, **options)

        hx, params = network(2, 3, 2)
        yield make(3, 2, 2), hx, params, True, 1, 0.0, False, False, False
        yield make(2, 3, 2), hx, params, True, 1, 0.0, True, False, True
        yield make(2, 2, 2).transposed(), hx, params, True, 1, 0.0, True, False, False
        hx, params = network(2, 3, 2, layers=2, directions=2, bias=False)
        yield make(3, 2, 2), hx, params, False, 2, 0.0, True, True, False
        hx, params = network(3, 2, 3, directions=2)
        sizes = make.of([3, 2, 2, 1], dtype="int64")
        yield make(8, 3), sizes, hx, params, True, 1, 0.0, True, True
        if mode == "lstm":
            hx, params = network(2, 3, 2, layers=2, proj=2)
            yield make(3, 2, 2), hx, params, True, 2, 0.0, True, False, False
        if make.dtype in ("float32", "float64"):
            hx, params = network(20, 37, 19, low=-0.2, high=0.2)
            yield make.unit(5, 19, 20), hx, params, True, 1, 0.0, True, False, False

    return yielded


for _mode, _gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    samples(_mode, reference=_reference(_mode), **_JUDGED)(_long(_mode, _gates))


def _cell_reference(mode):
    def reference(x, hx, w_ih, w_hh, b_ih=None, b_hh=None):
        h, c = hx if mode == "lstm" else (hx, None)
        h, c = _cell(mode, x, h, c, w_ih, w_hh, b_ih, b_hh)
        return h if c is None else (h, c)

    return reference


def _step(mode, gates):
    def yielded(make):
        def states(*sizes):
            h = make.unit(*sizes)
            return [h, make.unit(*sizes)] if mode == "lstm" else h

        w_ih, w_hh = make.unit(3 * gates, 2), make.unit(3 * gates, 3)
        b_ih, b_hh = make.unit(3 * gates), make.unit(3 * gates)
        yield make(2, 2), states(2, 3), w_ih, w_hh, b_ih, b_hh
        yield make(1, 2), states(1, 3), w_ih, w_hh
        yield make(2, 2), states(2, 3), w_ih, w_hh, b_ih
        yield call(make(2, 2), states(2, 3), w_ih, w_hh, b_hh=b_hh)
        yield call(make(3, 2).transposed(), states(3, 3), w_ih, w_hh, b_hh=b_hh, b_ih=b_ih)
        if make.dtype in ("float32", "float64"):
            wide = make.unit(21 * gates, 19), make.unit(21 * gates, 21)
            yield make.unit(7, 19), states(7, 21), *wide
            yield make.unit(19, 19), states(19, 21), *wide

    return yielded


for _mode, _gates in (("lstm", 4), ("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
    samples(f"{_mode}_cell", reference=_cell_reference(_mode), **_JUDGED)(_step(_mode, _gates))


@errors("lstm")
def lstm_errors(make):
    hx, params = _arguments(make, "lstm", 4, 2, 3, 2)
    rest = True, 1, 0.0, False, False, False
    yield (make(3, 2, 2), hx[:1], params, *rest), RuntimeError, "lstm: expected two hidden states"


@errors("gru")
def gru_errors(make):
    hx, params = _arguments(make, "gru", 3, 2, 3, 2)
    rest = True, 1, 0.0, False, False, False
    yield (make(3, 2, 5), hx, params, *rest), RuntimeError, "gru: input has 5 features"


@errors("gru_cell")
def gru_cell_errors(make):
    w_ih, w_hh = make(9, 2), make(9, 3)
    yield (make(2, 5), make(2, 3), w_ih, w_hh), RuntimeError, "gru_cell: input (2, 5) has 5"
    yield (make(2, 2), make(4, 3), w_ih, w_hh), RuntimeError, "gru_cell: input has batch size 2"
