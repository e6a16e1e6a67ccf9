"""What `SummaryWriter` writes, read back."""

import math
import struct
import sys
import wave
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

import flambeau as fb
from flambeau.utils.tensorboard import FileWriter, SummaryWriter, summary
from flambeau.utils.tensorboard._messages import (
    HParamsPluginData,
    Layout,
    MeshPluginData,
    PrCurvePluginData,
    SessionLog,
)
from flambeau.utils.tensorboard._numbers import default_bins
from flambeau.utils.tensorboard._utils import encode_png

from .events import decode, events, files, plugin_of, values


@pytest.fixture
def writer(tmp_path):
    with SummaryWriter(tmp_path) as writer:
        yield writer


def written(writer):
    writer.flush()
    return values(writer_path(writer))


def writer_path(writer):
    return Path(writer.log_dir)


def pixels(image):
    """The bytes of a picture, in the order (height, width, channels)."""
    found = np.asarray(Image.open(BytesIO(image.encoded_image_string)))
    found = found.reshape(*found.shape[:2], -1)
    assert found.shape[:2] == (image.height, image.width)
    return found


@pytest.mark.parametrize(
    "value", [1.5, 2, True, fb.tensor(0.25), fb.ones(1, 1), np.float64(3), np.array(7)]
)
def test_scalar(writer, value):
    writer.add_scalar("loss", value, 3)
    (found,) = written(writer)["loss"]
    assert found.simple_value == float(value)


def test_arrays_of_one_number(writer):
    writer.add_scalar("x", np.array([[7]]))
    assert written(writer)["x"][0].simple_value == 7


def test_scalar_of_a_gradient(writer):
    writer.add_scalar("loss", fb.ones((), requires_grad=True) * 2)
    assert written(writer)["loss"][0].simple_value == 2


def test_extreme_scalars(writer):
    for value in (math.inf, -math.inf, math.nan, 1e300, -1e300, 0):
        writer.add_scalar("x", value)
    found = [each.simple_value for each in written(writer)["x"]]
    assert found[:2] == [math.inf, -math.inf]
    assert math.isnan(found[2])
    assert found[3:] == [math.inf, -math.inf, 0]


def test_new_style_scalars(writer):
    writer.add_scalar("single", 0.1, new_style=True)
    writer.add_scalar("double", 0.1, new_style=True, double_precision=True)
    found = written(writer)
    assert plugin_of(found["single"][0])[0] == "scalars"
    assert found["single"][0].tensor.float_val == [pytest.approx(0.1)]
    assert found["double"][0].tensor.double_val == [0.1]


def test_steps_and_times(writer):
    writer.add_scalar("x", 1, 7, walltime=12.5)
    writer.add_scalar("x", 1, fb.tensor(8), walltime=13.5)
    writer.add_scalar("x", 1, np.int64(-1), walltime=14.5)
    writer.flush()
    found = [(event.step, event.wall_time) for event in events(writer_path(writer))]
    assert found == [(7, 12.5), (8, 13.5), (-1, 14.5)]


def test_scalars_of_one_chart(writer):
    writer.add_scalars("train/losses", {"a": 1, "b": fb.tensor(2.0)}, 5)
    writer.flush()
    for tag, value in (("a", 1), ("b", 2)):
        found = values(writer_path(writer) / f"train_losses_{tag}")
        assert [each.simple_value for each in found["train/losses"]] == [value]


@pytest.mark.parametrize(
    ("value", "error", "message"),
    [
        (fb.ones(2), AssertionError, "one number; got 2"),
        ([1.0], NotImplementedError, "list"),
        (None, NotImplementedError, "NoneType"),
        ("abc", ValueError, "abc"),
    ],
)
def test_what_is_not_a_scalar(writer, value, error, message):
    with pytest.raises(error, match=message):
        writer.add_scalar("x", value)


def test_histogram(writer):
    data = fb.tensor([-2.0, 0.0, 0.5, 0.5, 3.0])
    writer.add_histogram("h", data)
    histo = written(writer)["h"][0].histo
    assert (histo.min, histo.max, histo.num, histo.sum) == (-2, 3, 5, 2)
    assert histo.sum_squares == 13.5
    assert sum(histo.bucket) == 5
    assert len(histo.bucket) == len(histo.bucket_limit)
    ends = np.repeat(histo.bucket_limit, np.array(histo.bucket, int))
    assert (ends > [-2, 0, 0.5, 0.5, 3]).all()


def test_default_bins():
    """Counting by logarithms finds the bins that a search finds, at their limits too."""
    limits = default_bins()
    assert len(limits) == 1549
    rng = np.random.default_rng(0)
    wide = rng.standard_normal(5000) * 10.0 ** rng.integers(-15, 19, 5000)
    inner = limits[1:-1]
    values = np.concatenate([wide, inner, np.nextafter(inner, -1), np.nextafter(inner, 1), [-0.0]])
    expected = np.histogram(values, limits)[0]
    made = summary.make_histogram(values, limits)
    first = np.flatnonzero(expected)[0]
    assert made.bucket[1:].tolist() == expected[first : first + len(made.bucket) - 1].tolist()
    assert made.bucket.sum() == len(values)


def test_histogram_beyond_the_bins():
    made = summary.make_histogram(np.array([1.0, 1e30]), default_bins())
    assert made.max == 1e30
    assert made.bucket.sum() == 1


def test_histogram_of_given_bins(writer):
    writer.add_histogram("limits", np.array([1, 2, 3]), bins=[0, 1, 2, 3, 4])
    writer.add_histogram("merged", fb.arange(50.0), bins=10, max_bins=3)
    writer.add_histogram("auto", fb.arange(5), bins="auto")
    found = {tag: each[0].histo for tag, each in written(writer).items()}
    assert found["limits"].bucket_limit == [1, 2, 3, 4]
    assert found["limits"].bucket == [0, 1, 1, 1]
    assert found["merged"].bucket == [0, 15, 15, 15, 5]
    assert sum(found["auto"].bucket) == 5


def test_histogram_raw(writer):
    writer.add_histogram_raw("h", 0, 3, 4, 5, 6.0, [1, 2], [1, 3], 9)
    assert written(writer)["h"][0].histo.bucket == [1, 3]
    with pytest.raises(ValueError, match="bucket_limits"):
        writer.add_histogram_raw("h", 0, 3, 4, 5, 6.0, [1, 2], [1])


def test_histogram_of_nothing(writer):
    with pytest.raises(ValueError, match="no element"):
        writer.add_histogram("h", fb.zeros(0))


@pytest.mark.parametrize("dataformats", ["CHW", "HWC", "HCW", "NCHW", "NHWC", "chw"])
def test_image_orders(writer, dataformats):
    picture = fb.rand(3, 4, 5)
    letters = dataformats.upper().replace("N", "")
    ordered = picture.permute(*("CHW".index(letter) for letter in letters))
    given = ordered[None] if dataformats[0] == "N" else ordered
    writer.add_image("x", given, dataformats=dataformats)
    expected = (picture.permute(1, 2, 0).numpy() * np.float32(255)).astype(np.uint8)
    assert (pixels(written(writer)["x"][0].image) == expected).all()


def test_grey_images(writer):
    writer.add_image("hw", fb.tensor([[0.0, 0.5], [1.0, 2.0]]), dataformats="HW")
    image = written(writer)["hw"][0].image
    assert image.colorspace == 3
    assert pixels(image)[:, :, 1].tolist() == [[0, 127], [255, 255]]


def test_images_of_bytes(writer):
    picture = fb.arange(24, dtype=fb.uint8).reshape(4, 2, 3)
    writer.add_image("x", picture)
    image = written(writer)["x"][0].image
    assert image.colorspace == 4
    assert (pixels(image) == picture.permute(1, 2, 0).numpy()).all()


def test_grid_of_images(writer):
    pictures = fb.rand(10, 3, 2, 3)
    writer.add_images("grid", pictures)
    image = written(writer)["grid"][0].image
    assert (image.height, image.width) == (4, 24)
    last = (pictures[9].permute(1, 2, 0).numpy() * np.float32(255)).astype(np.uint8)
    assert (pixels(image)[2:, 3:6] == last).all()
    assert (pixels(image)[2:, 6:] == 0).all()


@pytest.mark.parametrize(
    ("shape", "dataformats", "message"),
    [((3, 3), "CHW", "tensor shape"), ((3, 3, 3), "CHH", "'CHH'"), ((3, 3, 3), "CHX", "'CHX'")],
)
def test_bad_images(writer, shape, dataformats, message):
    with pytest.raises(AssertionError, match=message):
        writer.add_image("x", fb.zeros(shape), dataformats=dataformats)


def test_boxes(writer):
    writer.add_image_with_boxes("x", fb.zeros(3, 20, 30), fb.tensor([[2.0, 3.0, 12.0, 13.0]]))
    picture = pixels(written(writer)["x"][0].image)
    assert picture[3, 2:13].tolist() == [[255, 0, 0]] * 11
    assert picture[5, 5].tolist() == [0, 0, 0]
    writer.add_image_with_boxes(
        "large", fb.zeros(3, 20, 30), fb.tensor([[0, 0, 99, 99]]), rescale=2
    )
    image = written(writer)["large"][0].image
    assert (image.height, image.width) == (40, 60)


def test_missing_packages(writer, monkeypatch):
    for name in ("PIL", "PIL.Image", "matplotlib", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError, match="pip install Pillow"):
        writer.add_video("x", fb.rand(1, 2, 3, 4, 4))
    with pytest.raises(ImportError, match="pip install matplotlib"):
        writer.add_figure("x", object())


def test_bad_video(writer):
    with pytest.raises(AssertionError, match="N, T, C, H, W"):
        writer.add_video("x", fb.rand(2, 3, 4, 4))


def test_onnx_is_refused(writer):
    with pytest.raises(NotImplementedError, match="add_graph"):
        writer.add_onnx_graph("model.onnx")


def test_audio(writer):
    samples = fb.linspace(-1, 1, 100)
    writer.add_audio("a", samples[None], sample_rate=8000)
    audio = written(writer)["a"][0].audio
    assert (audio.num_channels, audio.length_frames, audio.content_type) == (1, 100, "audio/wav")
    with wave.open(BytesIO(audio.encoded_audio_string)) as sound:
        assert sound.getframerate() == 8000
        heard = np.frombuffer(sound.readframes(100), "<i2")
    assert abs(heard / 32767 - samples.numpy()).max() < 1e-4


def test_loud_audio(writer):
    with pytest.warns(UserWarning, match="cut off"):
        writer.add_audio("a", fb.tensor([0.0, 3.0]))
    with pytest.raises(AssertionError, match="one dimension"):
        writer.add_audio("a", fb.zeros(2, 5))


def test_text(writer):
    writer.add_text("note", "größer **than**", 2)
    (value,) = written(writer)["note/text_summary"]
    assert value.tensor.string_val == ["größer **than**".encode()]
    assert plugin_of(value)[0] == "text"
    with pytest.raises(TypeError, match="expected a str, not int"):
        writer.add_text("note", 3)


def test_hparams(writer):
    writer.add_hparams(
        {"lr": 0.1, "layers": 2, "name": "x", "flag": True, "left_out": None, "t": fb.tensor(3.0)},
        {"accuracy": 0.5},
        hparam_domain_discrete={"layers": [1, 2]},
        run_name="first",
        global_step=4,
    )
    found = values(writer_path(writer) / "first")
    kinds = ("experiment", "session_start_info", "session_end_info")
    contents = [plugin_of(found[f"_hparams_/{kind}"][0])[1] for kind in kinds]
    experiment, start, end = (decode(HParamsPluginData, content) for content in contents)
    infos = {info.name: info for info in experiment.experiment.hparam_infos}
    assert list(infos) == ["lr", "layers", "name", "flag", "t"]
    assert [each.number_value for each in infos["layers"].domain_discrete.values] == [1, 2]
    assert [info.name.tag for info in experiment.experiment.metric_infos] == ["accuracy"]
    assert start.session_start_info.hparams["lr"].number_value == 0.1
    assert start.session_start_info.hparams["name"].string_value == "x"
    assert start.session_start_info.hparams["flag"].number_value == 1
    assert end.session_end_info.status == 1
    assert found["accuracy"][0].simple_value == 0.5


def test_hparams_in_the_run_itself(tmp_path):
    """By a subclass that many programs share."""

    class Writer(SummaryWriter):
        def add_hparams(self, hparam_dict, metric_dict):
            fb._C._log_api_usage_once("tensorboard.logging.add_hparams")
            for made in summary.hparams(hparam_dict, metric_dict):
                self.file_writer.add_summary(made)
            for name, value in metric_dict.items():
                self.add_scalar(name, value)

    with Writer(tmp_path) as writer:
        writer.add_hparams({"lr": 0.1}, {"loss": 2})
    found = values(tmp_path)
    assert "_hparams_/experiment" in found
    assert found["loss"][0].simple_value == 2


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ((3, {}), TypeError),
        (({}, 3), TypeError),
        (({"a": 1}, {}, [1]), TypeError),
        (({"a": 1}, {}, {"a": ["x"]}), TypeError),
        (({"a": 1}, {}, {"b": [1]}), TypeError),
        (({"a": [1]}, {}), ValueError),
    ],
)
def test_bad_hparams(arguments, error):
    with pytest.raises(error, match=r"hparam|metric_dict"):
        summary.hparams(*arguments)


def test_precision_and_recall(writer):
    labels, predictions = fb.tensor([1, 0, 1, 1]), fb.tensor([0.9, 0.1, 0.4, 0.6])
    writer.add_pr_curve("pr", labels, predictions, num_thresholds=5)
    (value,) = written(writer)["pr"]
    rows = np.array(value.tensor.float_val).reshape(6, 5)
    assert rows[0].tolist() == [3, 3, 2, 1, 0]  # right when the threshold is 0, 1/4, ...
    assert rows[1].tolist() == [1, 0, 0, 0, 0]
    assert rows[4] == pytest.approx([0.75, 1, 1, 1, 0])
    assert rows[5] == pytest.approx([1, 1, 2 / 3, 1 / 3, 0])
    name, content = plugin_of(value)
    assert name == "pr_curves"
    assert decode(PrCurvePluginData, content).num_thresholds == 5
    writer.add_pr_curve_raw("raw", *rows, num_thresholds=5)
    assert written(writer)["raw"][0].tensor == value.tensor


def test_weighted_precision():
    curve = summary.compute_curve(
        np.array([1, 0, 1, 1]), np.array([0.9, 0.1, 0.4, 0.6]), 5, np.array([1, 2, 3, 0.5])
    )
    assert curve[0].tolist() == [4.5, 4.5, 1.5, 1, 0]
    assert curve[1].tolist() == [2, 0, 0, 0, 0]


def test_mesh(writer):
    vertices, faces = fb.rand(1, 4, 3), fb.tensor([[[0, 1, 2]]])
    writer.add_mesh("m", vertices, faces=faces, config_dict={"camera": {"cls": "x"}})
    found = written(writer)
    assert sorted(found) == ["m_FACE", "m_VERTEX"]
    assert found["m_VERTEX"][0].tensor.float_val == vertices.flatten().tolist()
    data = decode(MeshPluginData, plugin_of(found["m_FACE"][0])[1])
    assert (data.name, data.content_type, data.shape) == ("m", 2, [1, 1, 3])
    assert data.components == 0b110
    assert data.json_config == '{"camera": {"cls": "x"}}'


def test_custom_scalars(writer):
    layout = {"all": {"lines": ["Multiline", ["a", "b"]], "band": ["Margin", ["a", "b", "c"]]}}
    writer.add_custom_scalars(layout)
    (value,) = written(writer)["custom_scalars__config__"]
    (category,) = decode(Layout, value.tensor.string_val[0]).category
    lines, band = category.chart
    assert lines.multiline.tag == ["a", "b"]
    assert band.margin.series[0].upper == "c"
    with pytest.raises(AssertionError, match="three tags"):
        writer.add_custom_scalars_marginchart(["a"])


@pytest.mark.parametrize(
    ("dtype", "field"),
    [
        ("float32", "float_val"),
        ("float64", "double_val"),
        ("int8", "int_val"),
        ("int64", "int64_val"),
        ("bool", "bool_val"),
    ],
)
def test_tensor(writer, dtype, field):
    data = fb.tensor([[1, 0, 1]]).to(getattr(fb, dtype))
    writer.add_tensor("t", data)
    tensor = written(writer)["t"][0].tensor
    assert [each.size for each in tensor.tensor_shape.dim] == [1, 3]
    assert getattr(tensor, field) == data.flatten().tolist()


def test_tensors_of_other_types(writer):
    writer.add_tensor("half", fb.tensor([1.0, -2.0], dtype=fb.float16))
    writer.add_tensor("brain", fb.tensor([1.0], dtype=fb.bfloat16))
    writer.add_tensor("complex", fb.tensor([1 + 2j]).conj())
    found = {tag: each[0].tensor for tag, each in written(writer).items()}
    assert found["half"].half_val == [0x3C00, 0xC000]
    assert found["brain"].half_val == [0x3F80]
    assert found["complex"].scomplex_val == [1, -2]


def test_embedding(writer):
    folder = writer_path(writer)
    vectors = fb.rand(5, 3)
    writer.add_embedding(vectors, ["a", "b", "c", "d", "é"], fb.rand(5, 1, 2, 4), 7, tag="my/tag")
    place = folder / "00007" / "my%2ftag"
    rows = (place / "tensors.tsv").read_text().splitlines()
    assert [[float(x) for x in row.split("\t")] for row in rows] == vectors.tolist()
    assert (place / "metadata.tsv").read_text().split() == ["a", "b", "c", "d", "é"]
    assert struct.unpack(">II", (place / "sprite.png").read_bytes()[16:24]) == (12, 12)
    config = (folder / "projector_config.pbtxt").read_text()
    assert 'sprite {\n    image_path: "00007/my%2ftag/sprite.png"' in config
    assert "single_image_dim: 4\n    single_image_dim: 2\n" in config
    writer.add_embedding(vectors, [[i, i * i] for i in range(5)], metadata_header=["n", "n2"])
    assert (folder / "00000/default/metadata.tsv").read_text().startswith("n\tn2\n0\t0\n1\t1\n")
    assert (folder / "projector_config.pbtxt").read_text().count("embeddings {") == 2


def test_bad_embeddings(writer):
    with pytest.raises(AssertionError, match=r"#labels \(2\)"):
        writer.add_embedding(fb.rand(3, 2), metadata=["a", "b"])
    with pytest.raises(AssertionError, match="matrix"):
        writer.add_embedding(fb.rand(3))
    with pytest.raises(AssertionError, match="metadata_header"):
        writer.add_embedding(fb.rand(1, 2), metadata=[["a"]], metadata_header=["a", "b"])
    writer.add_embedding(fb.rand(3, 2))
    with pytest.warns(UserWarning, match="global_step"):
        writer.add_embedding(fb.rand(3, 2))


def test_purge_step(tmp_path):
    with SummaryWriter(tmp_path, purge_step=5):
        pass
    version, session = events(tmp_path)
    assert (version.step, version.file_version) == (5, "brain.Event:2")
    assert (session.step, session.session_log.status) == (5, SessionLog.START)


def test_default_directory(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with SummaryWriter(comment="_lr0.1") as writer:
        assert writer.log_dir.startswith("runs/")
        assert writer.log_dir.endswith("_lr0.1")
        assert writer.get_logdir() == writer.log_dir
    assert len(list((tmp_path / "runs").glob("*_lr0.1/events.out.tfevents.*"))) == 1


def test_summaries_by_hand(tmp_path):
    writer = FileWriter(tmp_path, filename_suffix=".mine")
    writer.add_summary(summary.scalar("x", 2), 3, 4.0)
    writer.close()
    (file,) = files(tmp_path)
    assert file.name.endswith(".mine")
    (event,) = events(tmp_path)
    assert (event.step, event.wall_time) == (3, 4.0)


def test_messages_print_themselves():
    text = repr(summary.scalar("x", 2))
    assert text == 'value {\n  tag: "x"\n  simple_value: 2.0\n}\n'
    assert summary.scalar("x", 2) == summary.scalar("x", 2.0)
    assert summary.scalar("x", 2) != summary.scalar("x", 3)
    with pytest.raises(ValueError, match="no field tagg"):
        summary.Summary.Value(tagg="x")


def test_pictures_have_one_to_four_channels():
    with pytest.raises(RuntimeError, match="should be 1 to 4, got: 5"):
        encode_png(np.zeros((2, 2, 5), np.uint8))
