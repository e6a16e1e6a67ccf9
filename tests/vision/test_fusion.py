"""Adjacent transforms in a Compose that change only values: one pass, with the same results."""

import numpy as np
import pytest

import flambeau as fb
from flambeau import nn
from flambeau.vision import transforms as T
from flambeau.vision import tv_tensors
from flambeau.vision.transforms import _values, v2

Image = pytest.importorskip("PIL.Image")

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
PIXELS = np.random.default_rng(0).integers(0, 256, (9, 13, 3), dtype=np.uint8)


def picture():
    return Image.fromarray(PIXELS)


def planes():
    return fb.from_numpy(PIXELS).permute(2, 0, 1)


def one_by_one(transforms, img):
    for transform in transforms:
        img = transform(img)
    return img


@pytest.fixture
def passes(monkeypatch):
    """How many images went through a table."""
    counted = []

    def counting(image, *steps, real=_values.look_up):
        counted.append(len(steps))
        return real(image, *steps)

    monkeypatch.setattr(_values, "look_up", counting)
    return counted


CASES = {
    "ToTensor": (lambda: [T.ToTensor(), T.Normalize(MEAN, STD)], picture),
    "one mean": (lambda: [T.ToTensor(), T.Normalize(0.5, 0.25)], picture),
    "arrays": (lambda: [T.ToTensor(), T.Normalize(np.array(MEAN), np.array(STD))], picture),
    "tensors": (lambda: [T.ToTensor(), T.Normalize(fb.tensor(MEAN), fb.tensor(STD))], picture),
    "in place": (lambda: [T.ToTensor(), T.Normalize(MEAN, STD, inplace=True)], picture),
    "twice": (lambda: [T.ToTensor(), T.Normalize(MEAN, STD), T.Normalize(STD, MEAN)], picture),
    "grey": (lambda: [T.ToTensor(), T.Normalize([0.5], [0.1])], lambda: picture().convert("L")),
    "convert": (lambda: [T.ConvertImageDtype(fb.float32), T.Normalize(MEAN, STD)], planes),
    "double": (lambda: [T.ConvertImageDtype(fb.float64), T.Normalize(MEAN, STD)], planes),
    "half": (lambda: [T.ConvertImageDtype(fb.float16), T.Normalize(MEAN, STD)], planes),
    "v2": (lambda: [v2.ToDtype(fb.float32, scale=True), v2.Normalize(MEAN, STD)], planes),
    "v2 not scaled": (lambda: [v2.ToDtype(fb.float32), v2.Normalize(MEAN, STD)], planes),
    "v2 convert": (lambda: [v2.ConvertImageDtype(fb.float32), v2.Normalize(MEAN, STD)], planes),
    "batch": (
        lambda: [T.ConvertImageDtype(fb.float32), T.Normalize(MEAN, STD)],
        lambda: planes().expand(2, 4, 3, 9, 13),
    ),
    "crop": (
        lambda: [T.CenterCrop((4, 5)), T.ConvertImageDtype(fb.float32), T.Normalize(MEAN, STD)],
        planes,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_same_bits(name, passes):
    transforms, image = CASES[name][0](), CASES[name][1]()
    compose = (v2 if name.startswith("v2") else T).Compose(transforms)
    result, expected = compose(image), one_by_one(transforms, image)
    assert len(passes) == 1
    assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
    assert fb.equal(result, expected)
    assert fb.equal(compose(image), result)


def test_image_tensors_stay_so(passes):
    compose = v2.Compose([v2.ToDtype(fb.float32, scale=True), v2.Normalize(MEAN, STD)])
    result = compose(tv_tensors.Image(planes()))
    assert type(result) is tv_tensors.Image
    assert passes == [2]


NOT_FUSED = {
    "a float tensor": lambda: (
        [T.ConvertImageDtype(fb.float32), T.Normalize(MEAN, STD)],
        planes() / 255,
    ),
    "an array": lambda: ([T.ToTensor(), T.Normalize(MEAN, STD)], PIXELS),
    "floats in a picture": lambda: ([T.ToTensor(), T.Normalize(0.5, 0.5)], Image.new("F", (4, 3))),
    "three means of one channel": lambda: (
        [T.ToTensor(), T.Normalize(MEAN, STD)],
        picture().convert("L"),
    ),
    "a sample": lambda: (
        [v2.ToDtype(fb.float32, scale=True), v2.Normalize(MEAN, STD)],
        {"image": planes(), "label": 3},
    ),
    "a type for each kind": lambda: (
        [v2.ToDtype({fb.Tensor: fb.float32, "others": None}, scale=True), v2.Normalize(MEAN, STD)],
        planes(),
    ),
}


@pytest.mark.parametrize("name", NOT_FUSED)
def test_what_a_table_cannot_do(name):
    transforms, image = NOT_FUSED[name]()
    compose = (v2 if isinstance(transforms[0], v2.Transform) else T).Compose(transforms)
    result, expected = compose(image), one_by_one(transforms, image)
    if isinstance(result, dict):
        assert result["label"] == 3
        result, expected = result["image"], expected["image"]
    assert fb.equal(result, expected)


@pytest.mark.parametrize(
    "second",
    [
        T.Normalize(MEAN[:2], STD[:2]),
        T.Normalize(MEAN, [0.1, 0.0, 0.1]),
        T.Normalize(["a"], [1.0]),
        T.Normalize(None, [1.0]),
    ],
)
def test_same_errors(second):
    transforms = [T.ToTensor(), second]
    with pytest.raises(Exception) as alone:  # noqa: PT011  whatever it is
        one_by_one(transforms, picture())
    with pytest.raises(type(alone.value)) as together:
        T.Compose(transforms)(picture())
    assert str(together.value) == str(alone.value)


def test_subclasses_are_called():
    class Doubled(T.Normalize):
        def forward(self, tensor):
            return super().forward(tensor) * 2

    class Inverted(T.ToTensor):
        def __call__(self, pic):
            return 1 - super().__call__(pic)

    plain = one_by_one([T.ToTensor(), T.Normalize(MEAN, STD)], picture())
    doubled = T.Compose([T.ToTensor(), Doubled(MEAN, STD)])(picture())
    assert fb.equal(doubled, plain * 2)
    inverted = T.Compose([Inverted(), T.Normalize(MEAN, STD)])(picture())
    assert not fb.equal(inverted, plain)


def test_hooks_are_called():
    normalize = T.Normalize(MEAN, STD)
    compose = T.Compose([T.ToTensor(), normalize])
    seen = []
    handle = normalize.register_forward_hook(lambda *_: seen.append("after"))
    compose(picture())
    handle.remove()
    handle = normalize.register_forward_pre_hook(lambda *_: seen.append("before"))
    compose(picture())
    handle.remove()
    handle = nn.modules.module.register_module_forward_hook(lambda *_: seen.append("any"))
    compose(picture())
    handle.remove()
    normalize.forward = lambda tensor: seen.append("own")
    compose(picture())
    assert seen == ["after", "before", "any", "own"]


def test_changes_are_seen():
    normalize = T.Normalize([0.5] * 3, [0.5] * 3)
    compose = T.Compose([T.ToTensor(), normalize])
    first = compose(picture())
    normalize.mean = [0.0] * 3
    assert fb.allclose(compose(picture()), first + 1, atol=1e-6)
    compose.transforms.append(T.Lambda(lambda image: image.sum()))
    assert compose(picture()).ndim == 0


def test_means_that_are_learned():
    mean = fb.tensor(MEAN, requires_grad=True)
    T.Compose([T.ToTensor(), T.Normalize(mean, STD)])(picture()).sum().backward()
    assert fb.allclose(mean.grad, -9 * 13 / fb.tensor(STD))


def test_results_are_not_shared():
    compose = T.Compose([T.ToTensor(), T.Normalize(MEAN, STD)])
    image = picture()
    compose(image).zero_()
    assert compose(image).abs().sum() > 0


def test_other_sequences_of_transforms():
    modules = nn.ModuleList([T.ConvertImageDtype(fb.float32), T.Normalize(MEAN, STD)])
    assert fb.equal(T.Compose(modules)(planes()), one_by_one(modules, planes()))
    assert T.Compose([])(3) == 3
