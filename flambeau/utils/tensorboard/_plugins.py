"""Summaries that plugins of TensorBoard show: hyperparameters, text, meshes, layouts of charts."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from flambeau import Tensor
from flambeau.utils.tensorboard._convert_np import make_np
from flambeau.utils.tensorboard._messages import (
    ELEMENT_TYPES,
    Category,
    Chart,
    Experiment,
    HParamInfo,
    HParamsPluginData,
    Layout,
    ListValue,
    MarginChartContent,
    MeshPluginData,
    MetricInfo,
    MetricName,
    MultilineChartContent,
    SessionEndInfo,
    SessionStartInfo,
    Summary,
    TensorProto,
    TensorShapeProto,
    TextPluginData,
    Value,
)
from flambeau.utils.tensorboard._numbers import plugin

__all__ = ["custom_scalars", "hparams", "mesh", "text"]


def hparams(
    hparam_dict: Mapping[str, Any] | None = None,
    metric_dict: Mapping[str, Any] | None = None,
    hparam_domain_discrete: Mapping[str, Sequence[Any]] | None = None,
) -> tuple[Summary, Summary, Summary]:
    """The hyperparameters of a run and the names of its metrics, in three summaries.

    They are what all runs have in common, how this run began and how it ended. The values of the
    metrics are scalars under the names given here.
    """
    given: dict[str, Any] = {
        "hparam_dict": hparam_dict,
        "metric_dict": metric_dict,
        "hparam_domain_discrete": hparam_domain_discrete or {},
    }
    for name, value in given.items():
        if not isinstance(value, Mapping):
            raise TypeError(f"hparams: {name} must be a dictionary, not {type(value).__name__}")
    values = {
        key: _plain(key, value) for key, value in given["hparam_dict"].items() if value is not None
    }
    domains = given["hparam_domain_discrete"]
    for key, allowed in domains.items():
        _check_domain(key, values, allowed)
    metrics = [MetricInfo(name=MetricName(tag=name)) for name in given["metric_dict"]]
    experiment = Experiment(
        hparam_infos=[_info(key, value, domains.get(key)) for key, value in values.items()],
        metric_infos=metrics,
    )
    start = SessionStartInfo(hparams={key: _value(value) for key, value in values.items()})
    end = SessionEndInfo(status=SessionEndInfo.STATUS_SUCCESS)
    return (
        _of_hparams("experiment", experiment=experiment),
        _of_hparams("session_start_info", session_start_info=start),
        _of_hparams("session_end_info", session_end_info=end),
    )


def _plain(key: str, value: Any) -> float | str:
    """What TensorBoard can show of a hyperparameter; switches are the numbers 0 and 1."""
    if isinstance(value, str):
        return value
    if isinstance(value, (int, float)):
        return float(value)
    if isinstance(value, Tensor) and value.numel() == 1:
        return float(value.item())
    raise ValueError(
        f"hparams: {key} must be an int, float, str, bool or a tensor of one element, "
        f"not {type(value).__name__}"
    )


def _check_domain(key: str, values: Mapping[str, Any], allowed: Any) -> None:
    kind = str if isinstance(values.get(key), str) else (int, float)
    is_fitting = isinstance(allowed, list) and all(isinstance(each, kind) for each in allowed)
    if key not in values or not is_fitting:
        raise TypeError(
            f"hparams: hparam_domain_discrete[{key!r}] must be a list of values of the type of "
            f"hparam_dict[{key!r}]"
        )


def _info(key: str, value: float | str, domain: Sequence[Any] | None) -> HParamInfo:
    is_text = isinstance(value, str)
    kind = HParamInfo.DATA_TYPE_STRING if is_text else HParamInfo.DATA_TYPE_FLOAT64
    info = HParamInfo(name=key, type=kind)
    if domain is not None:
        info.domain_discrete = ListValue(values=[_value(each) for each in domain])
    return info


def _value(value: float | str) -> Value:
    return Value(string_value=value) if isinstance(value, str) else Value(number_value=value)


def _of_hparams(kind: str, **data: Any) -> Summary:
    metadata = plugin("hparams", HParamsPluginData(**data).SerializeToString())
    return Summary(value=[Summary.Value(tag=f"_hparams_/{kind}", metadata=metadata)])


def text(tag: str, text: str) -> Summary:
    """A text in Markdown."""
    if not isinstance(text, str):
        raise TypeError(f"text: expected a str, not {type(text).__name__}")
    content = TensorProto(
        dtype=ELEMENT_TYPES["string"],
        tensor_shape=TensorShapeProto.of((1,)),
        string_val=[text.encode()],
    )
    metadata = plugin("text", TextPluginData().SerializeToString())
    value = Summary.Value(tag=f"{tag}/text_summary", tensor=content, metadata=metadata)
    return Summary(value=[value])


def custom_scalars(layout: Mapping[str, Mapping[str, Sequence[Any]]]) -> Summary:
    """Which scalars share a chart: ``{category: {title: ["Multiline", [tag, ...]]}}``.

    ``["Margin", [value, lower, upper]]`` draws one of them between two others.
    """
    categories = [
        Category(title=category, chart=[_chart(title, *what) for title, what in charts.items()])
        for category, charts in layout.items()
    ]
    content = TensorProto(
        dtype=ELEMENT_TYPES["string"],
        tensor_shape=TensorShapeProto(),
        string_val=[Layout(category=categories).SerializeToString()],
    )
    value = Summary.Value(
        tag="custom_scalars__config__", tensor=content, metadata=plugin("custom_scalars")
    )
    return Summary(value=[value])


def _chart(title: str, kind: str, tags: Sequence[str]) -> Chart:
    if kind != "Margin":
        return Chart(title=title, multiline=MultilineChartContent(tag=list(tags)))
    if len(tags) != 3:
        raise AssertionError(
            f"a margin chart needs three tags, the value and its limits; {title!r} has {len(tags)}"
        )
    value, lower, upper = tags
    series = MarginChartContent.Series(value=value, lower=lower, upper=upper)
    return Chart(title=title, margin=MarginChartContent(series=[series]))


def mesh(
    tag: str,
    vertices: Any,
    colors: Any,
    faces: Any,
    config_dict: Mapping[str, Any] | None,
    display_name: str | None = None,
    description: str | None = None,
) -> Summary:
    """Points or surfaces in space, each an array ``(batch, count, 3)``."""
    config = json.dumps(config_dict or {}, sort_keys=True)
    given = {
        kind: make_np(values)
        for kind, values in (("VERTEX", vertices), ("FACE", faces), ("COLOR", colors))
        if values is not None
    }
    kinds = [getattr(MeshPluginData, kind) for kind in given]
    summary = Summary()
    for (name, values), kind in zip(given.items(), kinds, strict=True):
        data = MeshPluginData(
            name=tag,
            content_type=kind,
            json_config=config,
            shape=list(values.shape),
            components=sum(1 << each for each in kinds),
        )
        content = TensorProto(
            dtype=ELEMENT_TYPES["float32"],
            tensor_shape=TensorShapeProto.of(values.shape),
            float_val=values.ravel(),
        )
        metadata = plugin("mesh", data.SerializeToString())
        metadata.display_name = display_name
        metadata.summary_description = description
        value = Summary.Value(tag=f"{tag}_{name}", tensor=content, metadata=metadata)
        summary.value.append(value)
    return summary
