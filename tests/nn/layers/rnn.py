"""Configurations of recurrent layers."""

from tests.nn.layers.registry import layer, refused

for kind in ("RNN", "LSTM", "GRU"):
    layer(f"{kind}(4, 5)", inputs=["7 3 4"], zero_batch=1)
    layer(f"{kind}(4, 5, 2)", inputs=["7 3 4"], zero_batch=1)
    layer(f"{kind}(4, 5, bias=False)", inputs=["3 2 4"], zero_batch=1)
    layer(f"{kind}(4, 5, batch_first=True)", inputs=["3 7 4"])
    layer(f"{kind}(4, 5, bidirectional=True)", inputs=["6 3 4"], zero_batch=1)
    layer(f"{kind}(4, 5, 3, bidirectional=True, batch_first=True)", inputs=["3 6 4"])
    layer(f"{kind}(1, 1)", inputs=["1 1 1"], zero_batch=1)
    layer(f"{kind}(17, 33)", inputs=["5 9 17"], zero_batch=1)
    layer(f"{kind}(4, 5, 2, dropout=0.5)", inputs=["7 3 4"], zero_batch=1)
    layer(f"{kind}(4, 5, 3, dropout=0.3, batch_first=True)", inputs=["3 7 4"])
    layer(f"{kind}(4, 5)", inputs=["7 4"], zero_batch=False)  # a single sequence
    layer(f"{kind}(4, 5, batch_first=True)", inputs=["7 4"], zero_batch=False)
for kind in ("RNN", "GRU"):
    layer(f"{kind}(4, 5)", inputs=["7 3 4", "1 3 5"], zero_batch=False)
    layer(f"{kind}(4, 5, 2, bidirectional=True)", inputs=["7 3 4", "4 3 5"], zero_batch=False)
layer("LSTM(4, 5)", inputs=["7 3 4", "1 3 5", "1 3 5"], call="m(a, (b, c))", zero_batch=False)
layer(
    "LSTM(4, 5, 2, bidirectional=True, proj_size=2)",
    inputs=["7 3 4", "4 3 2", "4 3 5"],
    call="m(a, (b, c))",
    zero_batch=False,
)
layer("RNN(4, 5, nonlinearity='relu')", inputs=["7 3 4"], zero_batch=1)
layer("RNN(4, 5, 2, 'relu', False)", inputs=["7 3 4"], zero_batch=1)
layer("LSTM(4, 5, proj_size=2)", inputs=["7 3 4"], zero_batch=1)
layer("LSTM(4, 5, 2, proj_size=3, bidirectional=True, batch_first=True)", inputs=["3 7 4"])

for kind in ("RNNCell", "LSTMCell", "GRUCell"):
    layer(f"{kind}(4, 5)", inputs=["3 4"])
    layer(f"{kind}(4, 5, bias=False)", inputs=["3 4"])
    layer(f"{kind}(33, 17)", inputs=["18 33"])
    layer(f"{kind}(4, 5)", inputs=["4"], zero_batch=False)  # a single sample
for kind in ("RNNCell", "GRUCell"):
    layer(f"{kind}(4, 5)", inputs=["3 4", "3 5"], zero_batch=False)
    layer(f"{kind}(4, 5)", inputs=["4", "5"], zero_batch=False)
layer("LSTMCell(4, 5)", inputs=["3 4", "3 5", "3 5"], call="m(a, (b, c))", zero_batch=False)
layer("LSTMCell(4, 5)", inputs=["4", "5", "5"], call="m(a, (b, c))", zero_batch=False)
layer("RNNCell(4, 5, nonlinearity='relu')", inputs=["3 4"])

for kind in ("RNN", "LSTM", "GRU"):
    refused(f"nn.{kind}(4, 5)(x)", x="7 3 6")
    refused(f"nn.{kind}(4, 5)(x)", x="7 3 4 1")
    refused(f"nn.{kind}(4, 5)(x)", x="4")
    refused(f"nn.{kind}(4, 5)(x)", x="0 3 4")
    refused(f"nn.{kind}(4, 5)(x)", x="float64 7 3 4")
    refused(f"nn.{kind}(4, 5)(x)", x="int64[0:3] 7 3 4")
    refused(f"nn.{kind}(4, 5, dropout=2)(x)", x="7 3 4")
    refused(f"nn.{kind}(4, 0)(x)", x="7 3 4")
    refused(f"nn.{kind}(4, 5.0)(x)", x="7 3 4")
for kind in ("RNN", "GRU"):
    refused(f"nn.{kind}(4, 5)(x, h)", x="7 3 4", h="2 3 5")
    refused(f"nn.{kind}(4, 5)(x, h)", x="7 3 4", h="3 5")
    refused(f"nn.{kind}(4, 5, proj_size=2)(x)", x="7 3 4")
refused("nn.LSTM(4, 5)(x, (h, c))", x="7 3 4", h="1 3 5", c="1 2 5")
refused("nn.LSTM(4, 5)(x, h)", x="7 3 4", h="1 3 5")
refused("nn.LSTM(4, 5, proj_size=5)(x)", x="7 3 4")
refused("nn.RNN(4, 5, nonlinearity='sin')(x)", x="7 3 4")
for kind in ("RNNCell", "LSTMCell", "GRUCell"):
    refused(f"nn.{kind}(4, 5)(x)", x="3 6")
    refused(f"nn.{kind}(4, 5)(x)", x="2 3 4")
for kind in ("RNNCell", "GRUCell"):
    refused(f"nn.{kind}(4, 5)(x, h)", x="3 4", h="2 5")
    refused(f"nn.{kind}(4, 5)(x, h)", x="3 4", h="3 6")
refused("nn.LSTMCell(4, 5)(x, h)", x="3 4", h="3 5")
