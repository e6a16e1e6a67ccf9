"""Samples of dropout. The generic tests seed before every call: masks are PyTorch's."""

from tests.ops.registry import call, errors, samples


@samples("dropout", "alpha_dropout")
def dropout(make):
    yield make(40), 0.5, True
    yield make(3, 50), 0.3, True
    yield make(3, 4, 2, 2).channels_last(), 0.3, True
    yield make(3, 4).transposed(), 0.3, True
    yield make(3, 4), 0.3, False
    yield make(3, 4), 0.0, True
    yield make(3, 4), 1.0, True
    yield make(0, 4), 0.5, True
    yield make(30, 100), 0.1, True


@samples("feature_dropout", "feature_alpha_dropout", strides=False)
def feature_dropout(make):
    yield make(5, 8), 0.5, True
    yield make(5, 8, 2, 2), 0.3, True
    yield make(5, 8, 2, 2).channels_last(), 0.3, True
    yield make(5, 8, 2), 1.0, True
    yield make(5, 8, 2), 0.5, False


@errors("dropout", "feature_dropout", "alpha_dropout", "feature_alpha_dropout")
def dropout_errors(make):
    message = "dropout probability has to be between 0 and 1, got"
    yield (make(3, 4), 1.5, True), RuntimeError, message
    yield (make(3, 4), -0.5, True), RuntimeError, message


@samples("dropout_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_")
def dropout_(make):
    yield make(3, 40, 2), 0.3, True
    yield make(3, 4), 0.3, False
    yield make(3, 4), 1.0, True


@samples("native_dropout")
def native_dropout(make):
    yield make(3, 40), 0.3, True
    yield make(3, 4), 0.3, False
    yield make(3, 4), 1.0, True
    yield make(3, 4), 0.5, None


@samples("nn.functional.dropout", "nn.functional.alpha_dropout")
def functional_dropout(make):
    yield call(make(3, 50), 0.3, training=True)
    yield make(40)
    yield call(make(3, 50), p=0.3, training=False)
    yield call(make(3, 50), 0.3, True, True)
    yield call(make(3, 4, 2, 2).channels_last(), 0.3, True, inplace=True)


@samples("nn.functional.dropout1d")
def dropout1d(make):
    yield call(make(5, 8, 3), 0.3, training=True)
    yield call(make(8, 3), 0.3, training=True)
    yield call(make(8, 3), 0.3, training=True, inplace=True)


@samples("nn.functional.dropout2d")
def dropout2d(make):
    yield call(make(5, 8, 3, 2), 0.3, training=True)
    yield call(make(5, 8, 3, 2).channels_last(), 0.3, inplace=True)


@samples("nn.functional.dropout3d")
def dropout3d(make):
    yield call(make(5, 8, 3, 2, 2), 0.3, training=True)
    yield call(make(8, 3, 2, 2), 0.3, training=True)


@samples("nn.functional.feature_alpha_dropout")
def functional_feature_alpha_dropout(make):
    yield call(make(5, 8, 3, 2), 0.3, training=True)
    yield call(make(5, 8, 3, 2), 0.3, True, inplace=True)
    yield call(make(5, 8, 3, 2))


@errors(
    "nn.functional.dropout",
    "nn.functional.dropout2d",
    "nn.functional.alpha_dropout",
    "nn.functional.feature_alpha_dropout",
)
def functional_errors(make):
    message = "dropout probability has to be between 0 and 1, got 1.5"
    yield (make(3, 4), 1.5), ValueError, message


@errors("nn.functional.dropout1d")
def dropout1d_errors(make):
    yield (make(3, 4, 2, 2), 0.5), RuntimeError, "dropout1d: expected an input of 2 or 3 dimensions"
