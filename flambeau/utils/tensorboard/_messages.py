"""The messages that TensorBoard reads, with the fields that are written here.

`Event`, `Summary` and what they hold are those of TensorFlow's event files; the others are the
data of TensorBoard's plugins.
"""

from __future__ import annotations

from flambeau.utils.tensorboard._wire import (
    BOOL,
    BYTES,
    DOUBLE,
    FLOAT,
    INT,
    STRING,
    Field,
    Message,
)

__all__ = [
    "ELEMENT_TYPES",
    "AttrValue",
    "Category",
    "Chart",
    "Event",
    "Experiment",
    "GraphDef",
    "HParamInfo",
    "HParamsPluginData",
    "HistogramProto",
    "Layout",
    "ListValue",
    "MarginChartContent",
    "MeshPluginData",
    "MetricInfo",
    "MetricName",
    "MultilineChartContent",
    "NodeDef",
    "PluginData",
    "PrCurvePluginData",
    "RunMetadata",
    "SessionEndInfo",
    "SessionLog",
    "SessionStartInfo",
    "SourceMetadata",
    "StepStats",
    "Summary",
    "SummaryMetadata",
    "TaggedRunMetadata",
    "TensorProto",
    "TensorShapeProto",
    "TextPluginData",
    "Value",
    "VersionDef",
]

# The numbers of element types in `TensorProto.dtype`.
ELEMENT_TYPES = {
    "float32": 1,
    "float64": 2,
    "int32": 3,
    "uint8": 4,
    "int16": 5,
    "int8": 6,
    "string": 7,
    "complex64": 8,
    "int64": 9,
    "bool": 10,
    "bfloat16": 14,
    "complex128": 18,
    "float16": 19,
}


class TensorShapeProto(Message):
    class Dim(Message):
        size = Field(1, INT)
        name = Field(2, STRING)

    dim = Field(2, Dim, repeated=True)
    unknown_rank = Field(3, BOOL)

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> TensorShapeProto:
        return cls(dim=[cls.Dim(size=size) for size in shape])


class TensorProto(Message):
    dtype = Field(1, INT)
    tensor_shape = Field(2, TensorShapeProto)
    tensor_content = Field(4, BYTES)
    float_val = Field(5, FLOAT, repeated=True)
    double_val = Field(6, DOUBLE, repeated=True)
    int_val = Field(7, INT, repeated=True)
    string_val = Field(8, BYTES, repeated=True)
    scomplex_val = Field(9, FLOAT, repeated=True)
    int64_val = Field(10, INT, repeated=True)
    bool_val = Field(11, BOOL, repeated=True)
    dcomplex_val = Field(12, DOUBLE, repeated=True)
    half_val = Field(13, INT, repeated=True)


class HistogramProto(Message):
    min: Field = Field(1, DOUBLE)
    max: Field = Field(2, DOUBLE)
    num: Field = Field(3, DOUBLE)
    sum: Field = Field(4, DOUBLE)
    sum_squares: Field = Field(5, DOUBLE)
    bucket_limit: Field = Field(6, DOUBLE, repeated=True)
    bucket: Field = Field(7, DOUBLE, repeated=True)


class PluginData(Message):
    plugin_name = Field(1, STRING)
    content = Field(2, BYTES)


class SummaryMetadata(Message):
    PluginData = PluginData

    plugin_data = Field(1, PluginData)
    display_name = Field(2, STRING)
    summary_description = Field(3, STRING)
    data_class = Field(4, INT)


class _Image(Message):
    height: Field = Field(1, INT)
    width: Field = Field(2, INT)
    colorspace: Field = Field(3, INT)
    encoded_image_string: Field = Field(4, BYTES)


class _Audio(Message):
    sample_rate: Field = Field(1, FLOAT)
    num_channels: Field = Field(2, INT)
    length_frames: Field = Field(3, INT)
    encoded_audio_string: Field = Field(4, BYTES)
    content_type: Field = Field(5, STRING)


class _SummaryValue(Message):
    tag: Field = Field(1, STRING)
    simple_value: Field = Field(2, FLOAT)
    image: Field = Field(4, _Image)
    histo: Field = Field(5, HistogramProto)
    audio: Field = Field(6, _Audio)
    node_name: Field = Field(7, STRING)
    tensor: Field = Field(8, TensorProto)
    metadata: Field = Field(9, SummaryMetadata)


class Summary(Message):
    Audio = _Audio
    Image = _Image
    Value = _SummaryValue

    value: Field = Field(1, _SummaryValue, repeated=True)


class SessionLog(Message):
    START = 1

    status = Field(1, INT)
    checkpoint_path = Field(2, STRING)
    msg = Field(3, STRING)


class TaggedRunMetadata(Message):
    tag = Field(1, STRING)
    run_metadata = Field(2, BYTES)


class SourceMetadata(Message):
    writer = Field(1, STRING)


class Event(Message):
    wall_time = Field(1, DOUBLE)
    step = Field(2, INT)
    file_version = Field(3, STRING)
    graph_def = Field(4, BYTES)
    summary = Field(5, Summary)
    session_log = Field(7, SessionLog)
    tagged_run_metadata = Field(8, TaggedRunMetadata)
    source_metadata = Field(10, SourceMetadata)


class AttrValue(Message):
    class ListValue(Message):
        shape = Field(7, TensorShapeProto, repeated=True)

    list = Field(1, ListValue)
    s = Field(2, BYTES)
    i = Field(3, INT)
    f = Field(4, FLOAT)
    b = Field(5, BOOL)
    type = Field(6, INT)
    shape = Field(7, TensorShapeProto)


class NodeDef(Message):
    name = Field(1, STRING)
    op = Field(2, STRING)
    input = Field(3, STRING, repeated=True)
    device = Field(4, STRING)
    attr = Field(5, AttrValue, mapping=True)


class VersionDef(Message):
    producer = Field(1, INT)
    min_consumer = Field(2, INT)


class GraphDef(Message):
    node = Field(1, NodeDef, repeated=True)
    versions = Field(4, VersionDef)


class _DeviceStepStats(Message):
    device = Field(1, STRING)


class StepStats(Message):
    DeviceStepStats = _DeviceStepStats

    dev_stats = Field(1, _DeviceStepStats, repeated=True)


class RunMetadata(Message):
    step_stats = Field(1, StepStats)


class Value(Message):
    number_value = Field(2, DOUBLE)
    string_value = Field(3, STRING)
    bool_value = Field(4, BOOL)


class ListValue(Message):
    values = Field(1, Value, repeated=True)


class HParamInfo(Message):
    DATA_TYPE_STRING = 1
    DATA_TYPE_BOOL = 2
    DATA_TYPE_FLOAT64 = 3

    name = Field(1, STRING)
    display_name = Field(2, STRING)
    description = Field(3, STRING)
    type = Field(4, INT)
    domain_discrete = Field(5, ListValue)


class MetricName(Message):
    group = Field(1, STRING)
    tag = Field(2, STRING)


class MetricInfo(Message):
    name = Field(1, MetricName)
    display_name = Field(3, STRING)
    description = Field(4, STRING)


class Experiment(Message):
    description = Field(1, STRING)
    user = Field(2, STRING)
    time_created_secs = Field(3, DOUBLE)
    hparam_infos = Field(4, HParamInfo, repeated=True)
    metric_infos = Field(5, MetricInfo, repeated=True)
    name = Field(6, STRING)


class SessionStartInfo(Message):
    hparams = Field(1, Value, mapping=True)
    model_uri = Field(2, STRING)
    monitor_url = Field(3, STRING)
    group_name = Field(4, STRING)
    start_time_secs = Field(5, DOUBLE)


class SessionEndInfo(Message):
    STATUS_SUCCESS = 1

    status = Field(1, INT)
    end_time_secs = Field(2, DOUBLE)


class HParamsPluginData(Message):
    version = Field(1, INT)
    experiment = Field(2, Experiment)
    session_start_info = Field(3, SessionStartInfo)
    session_end_info = Field(4, SessionEndInfo)


class PrCurvePluginData(Message):
    version = Field(1, INT)
    num_thresholds = Field(2, INT)


class TextPluginData(Message):
    version = Field(1, INT)


class MeshPluginData(Message):
    VERTEX = 1
    FACE = 2
    COLOR = 3

    version = Field(1, INT)
    name = Field(2, STRING)
    content_type = Field(3, INT)
    json_config = Field(5, STRING)
    shape = Field(6, INT, repeated=True)
    components = Field(7, INT)


class MultilineChartContent(Message):
    tag = Field(1, STRING, repeated=True)


class MarginChartContent(Message):
    class Series(Message):
        value = Field(1, STRING)
        lower = Field(2, STRING)
        upper = Field(3, STRING)

    series = Field(1, Series, repeated=True)


class Chart(Message):
    title = Field(1, STRING)
    multiline = Field(2, MultilineChartContent)
    margin = Field(3, MarginChartContent)


class Category(Message):
    title = Field(1, STRING)
    chart = Field(2, Chart, repeated=True)
    closed = Field(3, BOOL)


class Layout(Message):
    version = Field(1, INT)
    category = Field(2, Category, repeated=True)
